/** How a command is declared: its options and arguments for people, and the file that does it, loaded when it runs. */
import { Command, Option } from 'commander';
import type { Action, CommandContext, ExitCode } from './context.ts';

/**
 * `name` may go on with arguments: `trace <id>`, `retry [ids...]`. `load` gives the module that does it, and `action` is the
 * name of its function. What it does for people is its `description`.
 */
type MakeCommand = <Name extends string>(
  name: string,
  load: () => Promise<Record<NoInfer<Name>, Action<never>>>,
  action: Name,
) => Command;

export interface CommandMaker {
  /** It has `--json`. */
  command: MakeCommand;
  /** It prints no data. */
  plain: MakeCommand;
  /** A word with commands of its own: `dead list`, `dead retry`. */
  group(name: string, summary: string, commands: readonly Command[]): Command;
}

export const jsonOption = () => new Option('--json', 'print JSON for scripts');

export const configOption = (context: CommandContext) =>
  new Option('-c, --config <file>', 'the config file').default(
    context.env.TOCSIN_CONFIG ?? 'config/tocsin.yaml',
    '$TOCSIN_CONFIG, else config/tocsin.yaml',
  );

export const HELP = 'explain a command';

const argumentsOf = (command: Command): Record<string, unknown> =>
  Object.fromEntries(command.registeredArguments.map((each, index) => [each.name(), command.processedArgs[index]]));

/** `end` is called with a command's exit code. */
export const createCommandMaker = (context: CommandContext, end: (code: ExitCode) => void) => {
  const printing = new Set<Command>();
  const plain: MakeCommand = (name, load, action) => {
    const [word, ...given] = name.split(' ');
    const command = new Command(word).addOption(configOption(context)).allowExcessArguments(false);
    for (const argument of given) command.argument(argument);
    return command.action(async () => {
      const { [action]: run } = await load();
      const options: Record<string, unknown> = { ...command.opts(), ...argumentsOf(command) };
      // Commander knows them by name only; that they are those that `run` takes is up to the declaration.
      end(await run(options as never, context));
    });
  };
  const make: CommandMaker = {
    plain,
    command: (...declared) => {
      const command = plain(...declared);
      printing.add(command);
      return command;
    },
    group: (name, summary, commands) => {
      const group = new Command(name).description(summary);
      for (const command of commands) group.addCommand(command);
      return group;
    },
  };
  /** Adds a command and its subcommands, each with the program's settings for output and exit, and `--json` as the last option. */
  const adopt = (parent: Command, command: Command, options: { isDefault?: boolean } = {}): void => {
    parent.addCommand(command, options);
    const inherit = (each: Command, from: Command, before: string): void => {
      const words = `${before} ${each.name()}`;
      if (printing.has(each)) each.addOption(jsonOption());
      each.copyInheritedSettings(from).showHelpAfterError(`(see ${words} --help)`);
      // Its own: the one that is inherited stands in a group of the program's.
      if (each.commands.length > 0) each.helpCommand('help [command]', HELP);
      for (const child of each.commands) inherit(child, each, words);
    };
    inherit(command, parent, parent.name());
  };
  return { make, adopt };
};
