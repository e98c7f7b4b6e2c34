/** The commands for operators of a daemon: where an alert went, and what to do about it. */
import type { Command } from 'commander';
import type { CommandMaker } from './command.ts';

const withFilters = (command: Command): Command =>
  command
    .option('--protocol <name>', 'only deliveries of this protocol')
    .option('--destination <id>', 'only deliveries to this destination (id or label) or channel kind')
    .option('--reason <word>', 'only deliveries that failed for this reason, like destination-dead');

const deadCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./dead.ts');
  const loadChange = () => import('./dead-change.ts');
  return group('dead', 'deliveries that failed for good (dead letters)', [
    withFilters(command('list', 'list dead deliveries', load, 'listDead')),
    command(
      'show <id>',
      'show one: by its id, the beginning of its id, its item or its transaction hash',
      load,
      'showDead',
    ),
    withFilters(
      command('retry [ids...]', 'send dead deliveries again', loadChange, 'retryDead').option(
        '--all',
        'all dead deliveries',
      ),
    ),
    withFilters(
      command('drop [ids...]', 'delete dead deliveries; they will not be sent any more', loadChange, 'dropDead').option(
        '--all',
        'all dead deliveries',
      ),
    ).option('--yes', 'do not ask for confirmation'),
  ]);
};

const muteCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./mute.ts');
  const added = 'mute alerts by protocol, detector and destination; an alert must match every option given';
  return group('mute', 'mutes (silences): for a time, do not send alerts that match', [
    command('add', added, load, 'addMute')
      .option('--protocol <glob>', "alerts of these protocols; '*' for all")
      .option('--detector <glob>', 'inspections of which every fired detector matches')
      .option('--destination <id>', 'alerts to this destination: its id or label')
      .requiredOption('--for <duration>', 'how long, like 2h; at most mutes.maxLength')
      .requiredOption('--reason <text>', 'why; recipients read it in the report when the mute ends')
      .option('--author <name>', 'who mutes; default: the user and host of this command'),
    command('list', 'list the mutes that are active now', load, 'listMutes').option(
      '--all',
      'also mutes that ended in the last seven days',
    ),
    command('extend <id>', 'let a mute end later; at most mutes.maxLength from now', load, 'extendMute')
      .requiredOption('--for <duration>', 'how much later it ends, like 2h')
      .option('--author <name>', 'who extends it; default: the user and host of this command'),
    command('end <id>', 'end a mute early', load, 'endMute'),
  ]);
};

const destinationCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./destinations.ts');
  const approved = 'allow sending to destinations (id or label) and send the alerts held for them';
  const revoked = 'hold all further alerts for a destination (id or label) until it is approved again by name';
  const enabled = 'send again to a webhook (id or label) that was disabled because it answered HTTP 410';
  return group('destinations', 'where alerts go; approve or revoke destinations', [
    command('list', 'list all known destinations and their state', load, 'listDestinations'),
    command('approve [names...]', approved, load, 'approveDestinations').option(
      '--all',
      'all destinations that nobody has approved or revoked yet',
    ),
    command('revoke <name>', revoked, load, 'revokeDestination').option(
      '--drop',
      'also give up the alerts that wait for it: they become dead deliveries',
    ),
    command('enable <name>', enabled, load, 'enableDestination'),
  ]);
};

const withTracks = (command: Command): Command =>
  command
    .option('--source <source>', 'only this source: inspections or notifications')
    .option('--service <name>', 'only this service of the config');

const cursorCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./cursor.ts');
  return group('cursor', 'show or move how far each protocol has been read', [
    withTracks(command('show', 'show the cursors', load, 'showCursors')).option(
      '--protocol <name>',
      'only this protocol',
    ),
    withTracks(command('set', 'move a cursor: read again from a point in time', load, 'setCursor'))
      .requiredOption('--protocol <name>', 'the protocol')
      .requiredOption('--to <moment>', 'where to read from: a date-time, or a duration back like 24h')
      .option('--yes', 'do not ask for confirmation, even where alerts would be skipped or sent twice'),
  ]);
};

/** `back`: a duration, as an example. */
const withHistory = (command: Command, back: string): Command =>
  command
    .requiredOption(
      '--since <moment>',
      `alerts that the service wrote since then: a date-time, or a duration back like ${back}`,
    )
    .option('--until <moment>', 'alerts that it wrote before then, in the same form; default: now');

const historyCommands = ({ command }: CommandMaker): Command[] => {
  const loadReplay = () => import('./replay.ts');
  const loadBacktest = () => import('./backtest.ts');
  const tested = 'forecast what the present config would have sent for past alerts; sends nothing';
  return [
    withHistory(command('replay', 'send past alerts again, marked as replayed', loadReplay, 'replay'), '24h')
      .option('--protocol <name>', 'only alerts of this protocol')
      .option('--to <kind:address>', "send only there, instead of to the protocols' own channels")
      .option('--dry-run', 'only show what would be sent where')
      .option('--yes', 'do not ask for confirmation before more than a handful of messages'),
    withHistory(command('backtest', tested, loadBacktest, 'backtest'), '7d').option(
      '--protocol <name>',
      'only this protocol',
    ),
  ];
};

const watchCommands = ({ command }: CommandMaker): Command[] => [
  command(
    'trace <id>',
    'show where an alert went, with every attempt; <id> is the id of an inspection, notification, alert or message, or a transaction hash, in full or from its first six digits',
    () => import('./trace.ts'),
    'trace',
  ),
  command(
    'watch',
    'show what happens now, until Ctrl-C: alerts, deliveries, failures, troubles, and what operators do',
    () => import('./watch.ts'),
    'watch',
  )
    .option('--protocol <name>', 'only alerts of this protocol')
    .option('--for <duration>', 'stop after this long, like 30s; default: at Ctrl-C'),
];

export const operatorCommands = (make: CommandMaker): Command[] => [
  ...watchCommands(make),
  deadCommands(make),
  muteCommands(make),
  destinationCommands(make),
  cursorCommands(make),
  ...historyCommands(make),
];
