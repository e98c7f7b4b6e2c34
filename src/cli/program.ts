/** The program: its commands, which `*-commands.ts` declare, and how one is run. What a command does stands in the file of its name. */
import { Command, CommanderError, Help } from 'commander';
import { didYouMean } from '../config/problems.ts';
import { ConfigError, messageOf, ServiceError, UnavailableError, UsageError } from '../errors.ts';
import { forbiddenText, passingText } from '../redis/trouble.ts';
import { escapeInvisible } from '../text.ts';
import { build, buildText } from '../version.ts';
import { type CommandMaker, configOption, createCommandMaker, HELP, jsonOption } from './command.ts';
import { type CommandContext, EXIT, type ExitCode, escapingContext, type ProgramContext } from './context.ts';
import { operatorCommands } from './operator-commands.ts';
import { receiverCommands, serviceCommands } from './service-commands.ts';
import { startCommands } from './start-commands.ts';

const isTemporary = ({ reason }: ServiceError): boolean =>
  ['limited', 'failed', 'unreachable', 'aborted'].includes(reason);

const endOf = (error: unknown): { code: number; text: string } => {
  // Commander has said why already; its help and version are no failures.
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? EXIT.done : EXIT.mistake, text: '' };
  if (error instanceof ConfigError) return { code: EXIT.mistake, text: error.message };
  const ended = (code: ExitCode, why: string) => ({ code, text: `tocsin: ${why}` });
  if (error instanceof UsageError) return ended(EXIT.mistake, error.message);
  if (error instanceof UnavailableError) return ended(EXIT.temporary, error.message);
  if (error instanceof ServiceError) return ended(isTemporary(error) ? EXIT.temporary : EXIT.mistake, error.message);
  const forbidden = forbiddenText(error);
  if (forbidden !== undefined) return ended(EXIT.mistake, forbidden);
  const passing = passingText(error);
  if (passing !== undefined) return ended(EXIT.temporary, passing);
  return ended(EXIT.mistake, error instanceof Error ? (error.stack ?? error.message) : messageOf(error));
};

/** An error for scripts: one line of JSON, the same for all commands. */
const jsonOf = (error: unknown, exitCode: number, text: string): string => {
  const message = error instanceof CommanderError ? error.message : text;
  const { problems } = error instanceof ConfigError ? error : {};
  return JSON.stringify({ error: { message: message.replace(/^(tocsin|error): /, ''), exitCode, problems } });
};

export const wantsJson = (args: readonly string[]): boolean => args.includes('--json');

/**
 * What an error means for the shell and the operator: the exit code, and the text that says why, made safe to show; empty
 * where that is said already. `isJson`: for scripts.
 */
export const exitCodeOf = (error: unknown, isJson: boolean): { code: number; text: string } => {
  const { code, text } = endOf(error);
  return { code, text: escapeInvisible(isJson && code !== EXIT.done ? jsonOf(error, code, text) : text) };
};

/** Commands are imported when they run: `check` need not wait for the channels' libraries. */
const commands = (make: CommandMaker): Command[] => [
  ...startCommands(make),
  ...operatorCommands(make),
  ...serviceCommands(make),
  ...receiverCommands(make),
  make
    .command('schema', () => import('./schema.ts'), 'schema')
    .description("print the config's JSON Schema")
    .option('--webhook', "print the schema of the webhooks' bodies instead"),
];

/** As the help lists them; what stands in none comes last. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Every day:': ['status', 'trace', 'mute', 'dead', 'watch'],
  'Set up:': ['init', 'check', 'test', 'preview', 'run', 'reload'],
  'Look closer:': ['audit', 'replay', 'backtest', 'destinations', 'cursor', 'daemons'],
  'At the monitoring service:': ['protocols', 'inspections', 'settings', 'notifications'],
};
const OTHERS = 'Try and develop:';

const grouped = (all: readonly Command[]): Command[] => {
  const order = Object.entries(GROUPS).flatMap(([group, names]) => names.map((name) => ({ group, name })));
  const first = order.flatMap(({ group, name }) =>
    all.filter((command) => command.name() === name).map((command) => command.helpGroup(group)),
  );
  return [...first, ...all.filter((command) => !first.includes(command))];
};

/** Where the options end that every command takes. */
const endOfCommon = (args: readonly string[], at = 0): number => {
  const arg = args[at] ?? '';
  if (arg === '-c' || arg === '--config') return endOfCommon(args, at + 2);
  return /^(-c|--config=|--json$)/.test(arg) ? endOfCommon(args, at + 1) : at;
};

/** Options that every command takes may also stand before the command: they are moved behind its words. */
const commandFirst = (args: readonly string[]): string[] => {
  const common = endOfCommon(args);
  const rest = args.slice(common);
  const option = rest.findIndex((arg) => arg.startsWith('-'));
  const behindWords = option < 0 ? rest.length : option;
  return [...rest.slice(0, behindWords), ...args.slice(0, common), ...rest.slice(behindWords)];
};

/** The default command takes no arguments, so a first word that is no command is a typing error. */
const refuseUnknown = (program: Command, first: string | undefined): void => {
  const known = [...program.commands.map((command) => command.name()), 'help'];
  if (first === undefined || first.startsWith('-') || known.includes(first)) return;
  throw new UsageError(`there is no command '${first}'${didYouMean(first, known) || '; tocsin --help lists them'}`);
};

/** On a terminal, nobody starts a daemon by accident: help, what is missing, and the next step. */
const showStart = async (program: Command, args: readonly string[], context: CommandContext): Promise<void> => {
  const { startText } = await import('./check.ts');
  const { config } = program
    .createCommand()
    .addOption(configOption(context))
    .addOption(jsonOption())
    .parse(args, { from: 'user' })
    .opts();
  context.write(`${program.helpInformation()}\n${await startText(config, context.env)}\n`);
};

const HELP_WIDTH = 80;

/** All commands, with their options. `end` is called with the exit code of the one that ran. `isJson`: errors are thrown only. */
export const createProgram = (context: CommandContext, end: (code: ExitCode) => void, isJson = false): Command => {
  const program = new Command('tocsin')
    .description('Forwards alerts from a protocol-monitoring service to e-mail, Telegram, Slack and webhooks.')
    .option('-V, --version', 'say the version and its revision')
    .on('option:version', () => {
      context.write(`${isJson ? JSON.stringify(build()) : buildText(build())}\n`);
      throw new CommanderError(EXIT.done, 'commander.version', '');
    })
    .exitOverride()
    .configureOutput({
      writeOut: context.write,
      writeErr: isJson ? () => {} : context.warn,
      // As all other errors begin.
      outputError: (text, write) => write(text.replace(/^error: /, 'tocsin: ')),
      getOutHelpWidth: () => context.width ?? HELP_WIDTH,
    })
    .configureHelp({
      optionDescription: (option) => `${new Help().optionDescription(option)}${option.mandatory ? ' (required)' : ''}`,
    })
    .showHelpAfterError('(see tocsin --help)');
  const { make, adopt } = createCommandMaker(context, end);
  program.commandsGroup(OTHERS).helpCommand('help [command]', HELP);
  for (const command of grouped(commands(make))) adopt(program, command, { isDefault: command.name() === 'run' });
  const completion = new Command('completion')
    .description('print a script that completes commands and options in bash, zsh or fish')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText('after', '\nbash and zsh: eval "$(tocsin completion bash)"\nfish: tocsin completion fish | source')
    .action(async (shell: string) => {
      const { completionScript } = await import('./completion.ts');
      // A script is run as it is.
      context.raw.write(completionScript(program, shell));
    });
  adopt(program, completion);
  return program;
};

/**
 * Runs the command that `given` names. Where it names none: `run`, as a supervisor starts it, or help on a terminal.
 * Throws what the command throws.
 */
export const runProgram = async (given: readonly string[], outside: ProgramContext): Promise<ExitCode> => {
  const context = escapingContext(outside);
  const args = commandFirst(given);
  let code: ExitCode = EXIT.done;
  const end = (ended: ExitCode): void => {
    code = ended;
  };
  const program = createProgram(context, end, wantsJson(given));
  const isBare = endOfCommon(given) >= given.length;
  if (context.isTty && isBare) {
    await showStart(program, args, context);
    return code;
  }
  refuseUnknown(program, args[0]);
  await program.parseAsync(args, { from: 'user' });
  return code;
};
