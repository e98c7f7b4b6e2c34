/** The commands of those who look after a daemon: where an item went, and what to do about it. */
import type { Command } from 'commander';
import { type CommandMaker, jsonOption } from './command.ts';

const withFilters = (command: Command): Command =>
  command
    .option('--protocol <name>', 'only of this protocol')
    .option('--destination <id>', 'only to this one: its id, its label, or a channel kind')
    .option('--reason <word>', 'only those that died of it, like destination-dead');

const deadCommands = ({ command, group }: CommandMaker): Command =>
  group('dead', 'deliveries that failed for good', [
    withFilters(command('list', 'list them', async () => (await import('./dead.ts')).listDead)).addOption(jsonOption()),
    command(
      'show <id>',
      'everything about one, by its id, the beginning of it, its item or its transaction',
      async () => (await import('./dead.ts')).showDead,
    ).addOption(jsonOption()),
    withFilters(
      command('retry [ids...]', 'send them again', async () => (await import('./dead-change.ts')).retryDead).option(
        '--all',
        'all of them',
      ),
    ).addOption(jsonOption()),
    withFilters(
      command('drop [ids...]', 'give them up', async () => (await import('./dead-change.ts')).dropDead).option(
        '--all',
        'all of them',
      ),
    )
      .option('--yes', 'without asking')
      .addOption(jsonOption()),
  ]);

const muteCommands = ({ command, group }: CommandMaker): Command =>
  group('mute', 'what is kept from being sent for a time', [
    command('add', 'mute something', async () => (await import('./mute.ts')).addMute)
      .option('--protocol <glob>', "of these protocols; '*' for all")
      .option('--detector <glob>', 'inspections in which no other detector fired')
      .option('--destination <id>', 'only there: an id or a label')
      .requiredOption('--for <duration>', 'how long, like 2h')
      .requiredOption('--reason <text>', 'why; told to those for whom something was hidden')
      .addOption(jsonOption()),
    command('list', 'what is muted now', async () => (await import('./mute.ts')).listMutes)
      .option('--all', 'also what ended in the last seven days')
      .addOption(jsonOption()),
    command('end <id>', 'end one before its time', async () => (await import('./mute.ts')).endMute).addOption(
      jsonOption(),
    ),
  ]);

const destinationCommands = ({ command, group }: CommandMaker): Command =>
  group('destinations', 'where alerts go, and the approval of new destinations', [
    command('list', 'list them', async () => (await import('./destinations.ts')).listDestinations).addOption(
      jsonOption(),
    ),
    command(
      'approve [names...]',
      'send to them, beginning with what was held: by id or label',
      async () => (await import('./destinations.ts')).approveDestinations,
    )
      .option('--all', 'all that nobody approved or revoked yet')
      .addOption(jsonOption()),
    command(
      'revoke <name>',
      'hold what comes from now on, until it is approved by name: by id or label',
      async () => (await import('./destinations.ts')).revokeDestination,
    )
      .option('--drop', 'also give up what waits: it is dead, and kept')
      .addOption(jsonOption()),
    command(
      'enable <name>',
      'send again to one that had answered that it wants nothing more (HTTP 410): by id or label',
      async () => (await import('./destination-enable.ts')).enableDestination,
    ).addOption(jsonOption()),
  ]);

const withTracks = (command: Command): Command =>
  command
    .option('--source <source>', 'only inspections, or only notifications')
    .option('--service <name>', 'of this service');

const cursorCommands = ({ command, group }: CommandMaker): Command =>
  group('cursor', 'how far each protocol is read', [
    withTracks(command('show', 'show them', async () => (await import('./cursor.ts')).showCursors))
      .option('--protocol <name>', 'only of this protocol')
      .addOption(jsonOption()),
    withTracks(command('set', 'read again from a moment on', async () => (await import('./cursor.ts')).setCursor))
      .requiredOption('--protocol <name>', 'of this protocol')
      .requiredOption('--to <moment>', 'a date-time, or a duration back like 24h')
      .option('--yes', 'without asking, also where something is skipped or sent twice')
      .addOption(jsonOption()),
  ]);

const replayCommand = ({ command }: CommandMaker): Command =>
  command('replay', 'forward history again, marked as replay', async () => (await import('./replay.ts')).replay)
    .requiredOption('--since <moment>', 'what was written from then on: a date-time, or a duration back like 24h')
    .option('--until <moment>', 'and before then')
    .option('--protocol <name>', 'only of this protocol')
    .option('--to <kind:address>', "only there, instead of to the protocols' own channels")
    .option('--dry-run', 'only show what would go where')
    .addOption(jsonOption());

const backtestCommand = ({ command }: CommandMaker): Command =>
  command(
    'backtest',
    'what the present config would have made of history; sends nothing',
    async () => (await import('./backtest.ts')).backtest,
  )
    .requiredOption('--since <moment>', 'from then on: a date-time, or a duration back like 7d')
    .option('--until <moment>', 'and before then')
    .option('--protocol <name>', 'only this protocol')
    .addOption(jsonOption());

export const operatorCommands = (make: CommandMaker): Command[] => [
  make
    .command(
      'trace <id>',
      'where one item went: by the id of an inspection, notification, alert or message, or by transaction hash',
      async () => (await import('./trace.ts')).trace,
    )
    .addOption(jsonOption()),
  deadCommands(make),
  muteCommands(make),
  destinationCommands(make),
  cursorCommands(make),
  replayCommand(make),
  backtestCommand(make),
];
