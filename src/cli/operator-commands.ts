/** The commands for operators of a daemon: where an alert went, and what to do about it. */
import type { Command } from 'commander';
import { type CommandMaker, jsonOption } from './command.ts';

const withFilters = (command: Command): Command =>
  command
    .option('--protocol <name>', 'only deliveries of this protocol')
    .option('--destination <id>', 'only deliveries to this destination (id or label) or channel kind')
    .option('--reason <word>', 'only deliveries that failed for this reason, like destination-dead');

const deadCommands = ({ command, group }: CommandMaker): Command =>
  group('dead', 'deliveries that failed for good (dead letters)', [
    withFilters(command('list', 'list dead deliveries', async () => (await import('./dead.ts')).listDead)).addOption(
      jsonOption(),
    ),
    command(
      'show <id>',
      'show one: by its id, the beginning of its id, its item or its transaction hash',
      async () => (await import('./dead.ts')).showDead,
    ).addOption(jsonOption()),
    withFilters(
      command(
        'retry [ids...]',
        'send dead deliveries again',
        async () => (await import('./dead-change.ts')).retryDead,
      ).option('--all', 'all dead deliveries'),
    ).addOption(jsonOption()),
    withFilters(
      command(
        'drop [ids...]',
        'delete dead deliveries; they will not be sent any more',
        async () => (await import('./dead-change.ts')).dropDead,
      ).option('--all', 'all dead deliveries'),
    )
      .option('--yes', 'do not ask for confirmation')
      .addOption(jsonOption()),
  ]);

const muteCommands = ({ command, group }: CommandMaker): Command =>
  group('mute', 'mutes (silences): for a time, do not send alerts that match', [
    command(
      'add',
      'mute alerts by protocol, detector and destination; an alert must match every option given',
      async () => (await import('./mute.ts')).addMute,
    )
      .option('--protocol <glob>', "alerts of these protocols; '*' for all")
      .option('--detector <glob>', 'inspections of which every fired detector matches')
      .option('--destination <id>', 'alerts to this destination: its id or label')
      .requiredOption('--for <duration>', 'how long, like 2h; at most mutes.maxLength')
      .requiredOption('--reason <text>', 'why; recipients read it in the report when the mute ends')
      .option('--author <name>', 'who mutes; default: the user and host of this command')
      .addOption(jsonOption()),
    command('list', 'list the mutes that are active now', async () => (await import('./mute.ts')).listMutes)
      .option('--all', 'also mutes that ended in the last seven days')
      .addOption(jsonOption()),
    command(
      'extend <id>',
      'let a mute end later; at most mutes.maxLength from now',
      async () => (await import('./mute.ts')).extendMute,
    )
      .requiredOption('--for <duration>', 'how much later it ends, like 2h')
      .option('--author <name>', 'who extends it; default: the user and host of this command')
      .addOption(jsonOption()),
    command('end <id>', 'end a mute early', async () => (await import('./mute.ts')).endMute).addOption(jsonOption()),
  ]);

const destinationCommands = ({ command, group }: CommandMaker): Command =>
  group('destinations', 'where alerts go; approve or revoke destinations', [
    command(
      'list',
      'list all known destinations and their state',
      async () => (await import('./destinations.ts')).listDestinations,
    ).addOption(jsonOption()),
    command(
      'approve [names...]',
      'allow sending to destinations (id or label) and send the alerts held for them',
      async () => (await import('./destinations.ts')).approveDestinations,
    )
      .option('--all', 'all destinations that nobody has approved or revoked yet')
      .addOption(jsonOption()),
    command(
      'revoke <name>',
      'hold all further alerts for a destination (id or label) until it is approved again by name',
      async () => (await import('./destinations.ts')).revokeDestination,
    )
      .option('--drop', 'also give up the alerts that wait for it: they become dead deliveries')
      .addOption(jsonOption()),
    command(
      'enable <name>',
      'send again to a webhook (id or label) that was disabled because it answered HTTP 410',
      async () => (await import('./destinations.ts')).enableDestination,
    ).addOption(jsonOption()),
  ]);

const withTracks = (command: Command): Command =>
  command
    .option('--source <source>', 'only this source: inspections or notifications')
    .option('--service <name>', 'only this service of the config');

const cursorCommands = ({ command, group }: CommandMaker): Command =>
  group('cursor', 'show or move how far each protocol has been read', [
    withTracks(command('show', 'show the cursors', async () => (await import('./cursor.ts')).showCursors))
      .option('--protocol <name>', 'only this protocol')
      .addOption(jsonOption()),
    withTracks(
      command(
        'set',
        'move a cursor: read again from a point in time',
        async () => (await import('./cursor.ts')).setCursor,
      ),
    )
      .requiredOption('--protocol <name>', 'the protocol')
      .requiredOption('--to <moment>', 'where to read from: a date-time, or a duration back like 24h')
      .option('--yes', 'do not ask for confirmation, even where alerts would be skipped or sent twice')
      .addOption(jsonOption()),
  ]);

const replayCommand = ({ command }: CommandMaker): Command =>
  command('replay', 'send past alerts again, marked as replayed', async () => (await import('./replay.ts')).replay)
    .requiredOption(
      '--since <moment>',
      'alerts that the service wrote since then: a date-time, or a duration back like 24h',
    )
    .option('--until <moment>', 'alerts that it wrote before then, in the same form; default: now')
    .option('--protocol <name>', 'only alerts of this protocol')
    .option('--to <kind:address>', "send only there, instead of to the protocols' own channels")
    .option('--dry-run', 'only show what would be sent where')
    .option('--yes', 'do not ask for confirmation before more than a handful of messages')
    .addOption(jsonOption());

const backtestCommand = ({ command }: CommandMaker): Command =>
  command(
    'backtest',
    'forecast what the present config would have sent for past alerts; sends nothing',
    async () => (await import('./backtest.ts')).backtest,
  )
    .requiredOption(
      '--since <moment>',
      'alerts that the service wrote since then: a date-time, or a duration back like 7d',
    )
    .option('--until <moment>', 'alerts that it wrote before then, in the same form; default: now')
    .option('--protocol <name>', 'only this protocol')
    .addOption(jsonOption());

export const operatorCommands = (make: CommandMaker): Command[] => [
  make
    .command(
      'trace <id>',
      'show where an alert went, with every attempt; <id> is the id of an inspection, notification, alert or message, or a transaction hash, in full or from its first six digits',
      async () => (await import('./trace.ts')).trace,
    )
    .addOption(jsonOption()),
  make
    .command(
      'watch',
      'show what happens now, until Ctrl-C: alerts, deliveries, failures, troubles, and what operators do',
      async () => (await import('./watch.ts')).watch,
    )
    .option('--protocol <name>', 'only alerts of this protocol')
    .option('--for <duration>', 'stop after this long, like 30s; default: at Ctrl-C')
    .addOption(jsonOption()),
  deadCommands(make),
  muteCommands(make),
  destinationCommands(make),
  cursorCommands(make),
  replayCommand(make),
  backtestCommand(make),
];
