/** How a command is declared: its options and arguments for people, and the file that does it, loaded when it runs. */
import { Command, Option } from 'commander';
import type { CommandContext, CommonOptions, ExitCode } from './context.ts';

/** What a command does. Its arguments stand among its options, under the names they were declared with. */
export type Run<Options> = (options: Options & CommonOptions, context: CommandContext) => Promise<ExitCode>;

export interface CommandMaker {
  /** `name` may go on with arguments: `trace <id>`, `retry [ids...]`. */
  command<Options>(name: string, summary: string, load: () => Promise<Run<Options>>): Command;
  /** A word with commands of its own: `dead list`, `dead retry`. */
  group(name: string, summary: string, commands: readonly Command[]): Command;
}

export const jsonOption = () => new Option('--json', 'print JSON for scripts');

export const configOption = (context: CommandContext) =>
  new Option('-c, --config <file>', 'the config file').default(
    context.env.TOCSIN_CONFIG ?? 'config/tocsin.yaml',
    '$TOCSIN_CONFIG, else config/tocsin.yaml',
  );

const argumentsOf = (command: Command): Record<string, unknown> =>
  Object.fromEntries(command.registeredArguments.map((each, index) => [each.name(), command.processedArgs[index]]));

/** `end` is called with a command's exit code. */
export const createCommandMaker = (context: CommandContext, end: (code: ExitCode) => void): CommandMaker => ({
  command: (name, summary, load) => {
    const [word, ...given] = name.split(' ');
    const command = new Command(word).description(summary).addOption(configOption(context)).allowExcessArguments(false);
    for (const argument of given) command.argument(argument);
    return command.action(async () => {
      const run = await load();
      // Commander knows the options by name only; that they are those declared for `run` is up to the declaration.
      type Options = Parameters<typeof run>[0];
      end(await run({ ...command.opts(), ...argumentsOf(command) } as Options, context));
    });
  },
  group: (name, summary, commands) => {
    const group = new Command(name).description(summary);
    for (const command of commands) group.addCommand(command);
    return group;
  },
});

/** Adds a command and its subcommands, each with the program's settings for output and exit. */
export const adopt = (parent: Command, command: Command, options: { isDefault?: boolean } = {}): void => {
  parent.addCommand(command, options);
  const inherit = (each: Command, from: Command, before: string): void => {
    const words = `${before} ${each.name()}`;
    each.copyInheritedSettings(from).showHelpAfterError(`(see ${words} --help)`);
    for (const child of each.commands) inherit(child, each, words);
  };
  inherit(command, parent, parent.name());
};
