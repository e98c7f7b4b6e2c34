/** The monitoring service's eight endpoints as commands: names, options and help texts. */
import { type Command, Option } from 'commander';
import { type CommandMaker, jsonOption } from './command.ts';

const INPUT = 'a JSON or YAML file, or - for standard input';

const serviceOption = () =>
  new Option('--service <name>', 'name of the service in the config; needed only where several fit');

const withPeriod = (command: Command): Command =>
  command
    .option('--since <time>', 'what the service wrote after then: a date-time, or a duration back like 24h')
    .option('--until <time>', 'what it wrote before then, in the same form')
    .option('--sort <order>', 'asc (oldest first) or dsc (newest first); lists are dsc by default');

const withLimit = (command: Command): Command =>
  command.option('--limit <number>', 'at most this many; default: 50').option('--all', 'no limit');

const withInspectionFilter = (command: Command): Command =>
  withPeriod(
    command
      .requiredOption('--protocol <name>', 'the protocol')
      .option('--chain <id>', 'on this chain')
      .option('--contract <address>', 'of this contract; needs --chain')
      .option('--id <id...>', 'with these ids')
      .option('--hash <hash>', 'of this transaction')
      .option('--origin <address>', 'of transactions from this account')
      .option('--status <assessment>', 'with this assessment: ok, suspecious or critical')
      .option('--detected <detector...>', 'where one of these detectors fired'),
  );

const withSecretsOption = (command: Command): Command =>
  command.option('--show-secrets', "with --json: print the channels' addresses whole, with paths and passwords");

const finish = (command: Command): Command => command.addOption(serviceOption()).addOption(jsonOption());

const protocolCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./protocols.ts');
  const list = command('list', 'list all protocols that the API key may see', async () => (await load()).listProtocols);
  const create = command('create', 'create a protocol', async () => (await load()).createProtocol);
  const add = command('add-assets', 'add assets to a protocol, or change them', async () => (await load()).addAssets);
  const replace = command(
    'replace-channels',
    'replace all channels of a protocol',
    async () => (await load()).replaceChannels,
  );
  const history = command(
    'history <name>',
    "show the changes of a protocol's channels, triggers, tracking and detectors that the daemons have seen, newest first",
    async () => (await import('./protocol-history.ts')).protocolHistory,
  );
  return group('protocols', 'protocols at the monitoring service: their assets and channels', [
    finish(withSecretsOption(list.option('--hide-assets', 'leave the assets out, which is faster'))),
    finish(
      create
        .requiredOption('--name <name>', 'name of the protocol')
        .option('--assets <file>', `its assets: ${INPUT}`)
        .option('--channels <file>', `its channels: ${INPUT}`),
    ),
    finish(
      add
        .requiredOption('--protocol <name|id>', 'the protocol')
        .requiredOption('--assets <file>', `its assets: ${INPUT}`),
    ),
    finish(
      replace
        .requiredOption('--protocol <name|id>', 'the protocol')
        .requiredOption('--channels <file>', `its channels: ${INPUT}; an empty list removes all`)
        .option('--yes', 'do not ask for confirmation'),
    ),
    history.option('--service <name>', 'only at this service of the config').addOption(jsonOption()),
  ]);
};

const inspectionCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./inspections.ts');
  const list = command('list', 'list inspections, newest first', async () => (await load()).listInspections);
  const stats = command('stats', 'count inspections by assessment', async () => (await load()).inspectionStats);
  return group('inspections', 'inspections at the monitoring service', [
    finish(withLimit(withInspectionFilter(list))),
    finish(withInspectionFilter(stats)),
  ]);
};

export const serviceCommands = (make: CommandMaker): Command[] => [
  protocolCommands(make),
  inspectionCommands(make),
  finish(
    withSecretsOption(
      make
        .command(
          'settings',
          "show a protocol's detectors, assets and channels at the monitoring service",
          async () => (await import('./settings.ts')).settings,
        )
        .requiredOption('--protocol <name>', 'the protocol'),
    ),
  ),
  finish(
    withLimit(
      withPeriod(
        make
          .command(
            'notifications',
            'list the stored notifications of the monitoring service',
            async () => (await import('./notifications.ts')).notifications,
          )
          .requiredOption('--protocol <name...>', 'the protocols'),
      ),
    ),
  ),
];
