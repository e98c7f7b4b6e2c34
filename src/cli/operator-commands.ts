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
  const shown = 'show one; <id> is its id or the beginning of it, the id of its item, or a transaction hash';
  const withAll = (change: Command): Command => withFilters(change.option('--all', 'all dead deliveries'));
  return group('dead', 'deliveries that failed for good (dead letters)', [
    withFilters(command('list', load, 'listDead').description('list dead deliveries')),
    command('show <id>', load, 'showDead').description(shown),
    withAll(command('retry [ids...]', loadChange, 'retryDead').description('send dead deliveries again')),
    withAll(command('drop [ids...]', loadChange, 'dropDead'))
      .description('delete dead deliveries; they will not be sent any more')
      .option('--yes', 'do not ask for confirmation'),
  ]);
};

const muteCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./mute.ts');
  return group('mute', 'mutes (silences): for a time, do not send alerts that match', [
    command('add', load, 'addMute')
      .description('mute alerts by protocol, detector and destination; an alert must match every option given')
      .option('--protocol <glob>', "alerts of these protocols; '*' for all")
      .option('--detector <glob>', 'inspections in which every fired detector matches')
      .option('--destination <id>', 'alerts to this destination: its id or label')
      .requiredOption('--for <duration>', 'how long, like 2h; at most mutes.maxLength')
      .requiredOption('--reason <text>', 'why; recipients read it in the report when the mute ends')
      .option('--author <name>', 'who mutes; default: the user and host of this command'),
    command('list', load, 'listMutes')
      .description('list the mutes that are active now')
      .option('--all', 'also mutes that ended in the last seven days'),
    command('extend <id>', load, 'extendMute')
      .description('let a mute end later; at most mutes.maxLength from now')
      .requiredOption('--for <duration>', 'how much later it ends, like 2h')
      .option('--author <name>', 'who extends it; default: the user and host of this command'),
    command('end <id>', load, 'endMute').description('end a mute early'),
  ]);
};

const knownCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./known.ts');
  return group('known', 'mark remarks of status as known: they are still shown, but do not count', [
    command('add <id>', load, 'addKnown')
      .description('mark a remark as known, by the id that status shows; again, to change reason or end')
      .requiredOption('--reason <text>', 'why it may stay so')
      .option('--until <end>', 'a duration like 30d, a date, or a date-time; at most 365d from now; default: 30d')
      .option('--author <name>', 'who knows of it; default: the user and host of this command'),
    command('list', load, 'listKnown').description('list the remarks that are marked as known'),
    command('end <id>', load, 'endKnown').description('let a remark count again'),
  ]);
};

const destinationCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./destinations.ts');
  return group('destinations', 'list, approve, revoke and enable the addresses that alerts go to', [
    command('list', load, 'listDestinations').description('list all known destinations and their state'),
    command('approve [names...]', load, 'approveDestinations')
      .description('allow sending to destinations (id or label) and send the alerts held for them')
      .option('--all', 'all destinations that nobody has approved or revoked yet'),
    command('revoke <name>', load, 'revokeDestination')
      .description('hold all further alerts for a destination (id or label) until it is approved again by name')
      .option('--drop', 'also give up the alerts that wait for it: they become dead deliveries'),
    command('enable <name>', load, 'enableDestination').description(
      'send again to a webhook (id or label) that was disabled because it answered HTTP 410',
    ),
  ]);
};

const withTracks = (command: Command): Command =>
  command
    .option('--source <source>', 'only this source: inspections or notifications')
    .option('--service <name>', 'only this service of the config');

const cursorCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./cursor.ts');
  return group('cursor', 'show or move the cursors: how far each protocol has been read', [
    withTracks(command('show', load, 'showCursors'))
      .description('show the cursors')
      .option('--protocol <name>', 'only this protocol'),
    withTracks(command('set', load, 'setCursor'))
      .description('move a cursor: read again from a point in time')
      .requiredOption('--protocol <name>', 'the protocol')
      .requiredOption('--to <moment>', 'where to read from: a date-time, or a duration back like 24h')
      .option('--yes', 'do not ask for confirmation, even if alerts would be skipped or sent twice'),
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

const historyCommands = ({ command }: CommandMaker): Command[] => [
  withHistory(
    command('replay', () => import('./replay.ts'), 'replay'),
    '24h',
  )
    .description('send past alerts again, marked as replayed')
    .option('--protocol <name>', 'only alerts of this protocol')
    .option('--to <kind:address>', "send only there, instead of to the protocols' own channels")
    .option('--dry-run', 'only show what would be sent where')
    .option('--yes', 'do not ask for confirmation before many messages'),
  withHistory(
    command('backtest', () => import('./backtest.ts'), 'backtest'),
    '7d',
  )
    .description('forecast what the present config would have sent for past alerts; sends nothing')
    .option('--protocol <name>', 'only this protocol'),
];

const watchCommands = ({ command }: CommandMaker): Command[] => [
  command('trace <id>', () => import('./trace.ts'), 'trace').description(
    'show where an alert went, with every attempt; <id> is the id of an inspection, notification, alert or message, or a transaction hash, in full or from its first six digits',
  ),
  command('watch', () => import('./watch.ts'), 'watch')
    .description('show what happens now, until Ctrl-C: alerts, deliveries, failures, troubles, and what operators do')
    .option('--protocol <name>', 'only alerts of this protocol')
    .option('--for <duration>', 'stop after this long, like 30s; default: at Ctrl-C'),
];

const daemonCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./daemons.ts');
  const forgotten = 'forget a daemon (host or id) that is gone for good, so that it is not missed any more';
  return group('daemons', 'list the daemons that share a Redis, and forget those that are gone', [
    command('list', load, 'listDaemons').description('list the running daemons, and those that are missed'),
    command('forget <name>', load, 'forgetDaemon').description(forgotten),
  ]);
};

export const operatorCommands = (make: CommandMaker): Command[] => [
  ...watchCommands(make),
  deadCommands(make),
  muteCommands(make),
  knownCommands(make),
  destinationCommands(make),
  cursorCommands(make),
  daemonCommands(make),
  ...historyCommands(make),
];
