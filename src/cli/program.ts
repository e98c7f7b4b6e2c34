/** The commands and their options as people see them; what a command does stands in the file of its name. */
import { Command, CommanderError } from 'commander';
import { didYouMean } from '../config/suggest.ts';
import { ConfigError, messageOf, ServiceError, UnavailableError, UsageError } from '../errors.ts';
import { forbiddenText, passingText } from '../redis/trouble.ts';
import { escapeInvisible } from '../text.ts';
import { version } from '../version.ts';
import { adopt, type CommandMaker, configOption, createCommandMaker, jsonOption } from './command.ts';
import { type CommandContext, EXIT, type ExitCode, escapingContext, type ProgramContext } from './context.ts';
import { operatorCommands } from './operator-commands.ts';
import { receiverCommands } from './receiver-commands.ts';
import { serviceCommands } from './service-commands.ts';

const sandboxCommands = ({ command }: CommandMaker): Command[] => [
  command(
    'demo',
    'try the whole system on this machine, with a fake service and fake receivers',
    async () => (await import('./demo.ts')).demo,
  )
    .option('--for <duration>', 'stop after this long, like 30s; default: at Ctrl-C')
    .option('--seed <number>', 'seed of the random traffic; the same seed gives the same traffic'),
  command(
    'sandbox',
    'run only the fake service and the fake receivers, to develop against',
    async () => (await import('./sandbox.ts')).sandbox,
  )
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--public-host <name>', 'host name in the URLs that it prints; default: --host')
    .option('--port <number>', 'port of the service; the receivers listen on the next ports', '9900')
    .option('--seed <number>', 'seed of the random traffic; the same seed gives the same traffic')
    .option('--quiet', 'start without traffic')
    .addOption(jsonOption()),
];

const daemonCommands = ({ command }: CommandMaker): Command[] => [
  command(
    'test',
    'send a test message through the real queue, and wait until it is delivered',
    async () => (await import('./test.ts')).test,
  )
    .option('--protocol <name>', "send it to this protocol's channels")
    .option('--channel <kind>', 'or to one address, given with --to, of this channel kind')
    .option('--to <address>', 'that address')
    .option('--timeout <duration>', 'how long to wait until it is delivered', '60s')
    .addOption(jsonOption()),
  command(
    'preview',
    'show what people would get, without sending anything: of a sample, or of an item of the service',
    async () => (await import('./preview.ts')).preview,
  )
    .option(
      '--type <type>',
      'the type, like inspection.critical or tocsin.mute.ended, or: digest of 12',
      'inspection.critical',
    )
    .option('--protocol <name>', 'as if it were of this protocol: its prefix, links and templates')
    .option('--id <id>', 'an inspection or a stored notification of the service, with --protocol, instead of a sample')
    .option('--service <name>', 'the service that lists it')
    .option('--kind <kinds...>', 'email, telegram, slack, webhook; default: those that the config sets up')
    .option('--webhook-format <format>', 'what a webhook gets: standard, pagerduty, discord ...', 'standard')
    .option('--format <format>', 'rich, or what is sent after a refusal: plain, minimal', 'rich')
    .option('--html <folder>', 'write a page for each kind into this folder, for a browser')
    .option('--open', 'write the pages and open them')
    .addOption(jsonOption()),
  command(
    'status',
    'show services, protocols, destinations, queues and what needs attention',
    async () => (await import('./status.ts')).status,
  ).addOption(jsonOption()),
  command(
    'reload',
    'have the running daemons read their config again, and say what each made of it',
    async () => (await import('./reload.ts')).reload,
  )
    .option('--timeout <duration>', 'how long to wait for the daemons', '60s')
    .addOption(jsonOption()),
  command(
    'audit',
    'compare what the services list with the ledger of deliveries, and queue again what is missing',
    async () => (await import('./audit.ts')).audit,
  )
    .option(
      '--since <moment>',
      'begin with what the service wrote then: a date-time, or a duration back like 24h',
      '24h',
    )
    .option('--dry-run', 'only report; queue nothing again')
    .addOption(jsonOption()),
];

const initCommand = ({ command }: CommandMaker): Command =>
  command(
    'init',
    'write a small config: asks for a service and a channel, and tries them',
    async () => (await import('./init.ts')).init,
  )
    .option(
      '--service <url>',
      'base URL of the monitoring service; its key is asked for, or taken from $TOCSIN_API_KEY',
    )
    .option('--channel <kind>', 'email, telegram, slack or webhook')
    .option(
      '--to <address>',
      'mailbox, chat, Slack channel id or URL: for tests, and for alerts that reach nobody else',
    )
    .option('--smtp <host:port>', 'mail relay; its password is asked for, or taken from $SMTP_PASSWORD')
    .option('--smtp-user <name>', 'user at the mail relay')
    .option('--smtp-tls <mode>', 'verify (the default), opportunistic or off')
    .option('--from <address>', 'sender of e-mail, like "Tocsin <tocsin@example.com>"')
    .option('--api-url <url>', "Slack's or Telegram's API at another address than usual")
    .option('--allow-private', 'send to this webhook although it is no public https address')
    .option('--no-check', 'ask neither the service nor the channel whether they answer')
    .option('--force', 'replace a config that is there')
    .addHelpText(
      'after',
      '\nThe bot token is asked for, or taken from $SLACK_TOKEN or $TELEGRAM_TOKEN. Secrets are written into a file of\nvariables beside the config, which only you may read; those of the environment stay there. The URL of a webhook may\nstand in $WEBHOOK_URL instead of --to, where other users of the machine do not see it.',
    );

/** Commands are imported when they run: `check` need not wait for the channels' libraries. */
const commands = (make: CommandMaker): Command[] => {
  const { command } = make;
  return [
    command(
      'run',
      'run the daemon in the foreground, with JSON log lines on stdout',
      async () => (await import('./run.ts')).run,
    ),
    initCommand(make),
    command('check', 'print every problem in the config', async () => (await import('./check.ts')).check)
      .option('--online', 'also ask the services, Redis and every channel whether they answer')
      .addOption(jsonOption()),
    ...sandboxCommands(make),
    ...daemonCommands(make),
    ...operatorCommands(make),
    ...serviceCommands(make),
    ...receiverCommands(make),
    command('schema', "print the config's JSON Schema", async () => (await import('./schema.ts')).schema).option(
      '--webhook',
      "print the schema of the webhooks' bodies instead",
    ),
  ];
};

/** Whether nothing but options that every command takes is given. */
const isBare = (args: readonly string[]): boolean => endOfCommon(args) >= args.length;

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
  const { startText } = await import('./start-text.ts');
  const { config } = program
    .createCommand()
    .addOption(configOption(context))
    .addOption(jsonOption())
    .parse(args, { from: 'user' })
    .opts();
  context.write(`${program.helpInformation()}\n${await startText(config, context.env)}\n`);
};

const HELP_WIDTH = 80;

/** All commands, with their options. `end` is called with the exit code of the one that ran. */
export const createProgram = (context: CommandContext, end: (code: ExitCode) => void): Command => {
  const program = new Command('tocsin')
    .description('Forwards alerts from a protocol-monitoring service to e-mail, Telegram, Slack and webhooks.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: context.write,
      writeErr: context.warn,
      // As all other errors begin.
      outputError: (text, write) => write(text.replace(/^error: /, 'tocsin: ')),
      ...(context.width === undefined ? {} : { getOutHelpWidth: () => context.width ?? HELP_WIDTH }),
    })
    .showHelpAfterError('(see tocsin --help)');
  for (const [index, command] of commands(createCommandMaker(context, end)).entries()) {
    adopt(program, command, { isDefault: index === 0 });
  }
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
  const program = createProgram(context, (ended) => {
    code = ended;
  });
  if (context.isTty && isBare(given)) {
    await showStart(program, args, context);
    return code;
  }
  refuseUnknown(program, args[0]);
  await program.parseAsync(args, { from: 'user' });
  return code;
};

/** What an error means for whoever started us: the exit code, and the text that says why, made safe to show. */
export const exitCodeOf = (error: unknown): { code: number; text: string } => {
  const { code, text } = endOf(error);
  return { code, text: escapeInvisible(text) };
};

const endOf = (error: unknown): { code: number; text: string } => {
  // Commander has said why already; its help and version are no failures.
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? EXIT.done : EXIT.mistake, text: '' };
  if (error instanceof ConfigError) return { code: EXIT.mistake, text: error.message };
  if (error instanceof UsageError) return { code: EXIT.mistake, text: `tocsin: ${error.message}` };
  const isPassing = error instanceof UnavailableError || (error instanceof ServiceError && isTemporary(error));
  if (isPassing) return { code: EXIT.temporary, text: `tocsin: ${error.message}` };
  if (error instanceof ServiceError) return { code: EXIT.mistake, text: `tocsin: ${error.message}` };
  const forbidden = forbiddenText(error);
  if (forbidden !== undefined) return { code: EXIT.mistake, text: `tocsin: ${forbidden}` };
  const passing = passingText(error);
  if (passing !== undefined) return { code: EXIT.temporary, text: `tocsin: ${passing}` };
  return {
    code: EXIT.mistake,
    text: `tocsin: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`,
  };
};

const isTemporary = ({ reason }: ServiceError): boolean =>
  ['limited', 'failed', 'unreachable', 'aborted'].includes(reason);
