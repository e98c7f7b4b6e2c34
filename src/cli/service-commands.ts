/** The service's eight endpoints as commands, with their options as people see them. */
import { type Command, Option } from 'commander';
import { type CommandMaker, jsonOption } from './command.ts';

const INPUT = 'a JSON or YAML file, or - for standard input';

const serviceOption = () =>
  new Option('--service <name>', 'which of the services of the config; default: the fitting one');

const withPeriod = (command: Command): Command =>
  command
    .option('--since <time>', 'written after: a date-time, or a duration back like 24h')
    .option('--until <time>', 'written before, likewise')
    .option('--sort <order>', 'asc or dsc; lists begin with the newest by default');

const withLimit = (command: Command): Command =>
  command.option('--limit <number>', 'how many at most; default: 50').option('--all', 'all there are');

const withInspectionFilter = (command: Command): Command =>
  withPeriod(
    command
      .requiredOption('--protocol <name>', 'of this protocol')
      .option('--chain <id>', 'on this chain')
      .option('--contract <address>', 'of this contract; needs --chain')
      .option('--id <id...>', 'of these ids')
      .option('--hash <hash>', 'of this transaction')
      .option('--origin <address>', 'of transactions from there')
      .option('--status <assessment>', 'ok, suspecious or critical')
      .option('--detected <detector...>', 'where one of these detectors fired'),
  );

const finish = (command: Command): Command => command.addOption(serviceOption()).addOption(jsonOption());

const protocolCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./protocols.ts');
  const list = command('list', 'all protocols of the key', async () => (await load()).listProtocols);
  const create = command('create', 'create a protocol', async () => (await load()).createProtocol);
  const add = command('add-assets', 'add or change assets', async () => (await load()).addAssets);
  const replace = command('replace-channels', 'replace all channels', async () => (await load()).replaceChannels);
  return group('protocols', 'protocols of the monitoring service: their assets and channels', [
    finish(list.option('--hide-assets', 'do not ask for the assets')),
    finish(
      create
        .requiredOption('--name <name>', 'its name')
        .option('--assets <file>', INPUT)
        .option('--channels <file>', INPUT),
    ),
    finish(add.requiredOption('--protocol <name|id>', 'to this protocol').requiredOption('--assets <file>', INPUT)),
    finish(
      replace
        .requiredOption('--protocol <name|id>', 'of this protocol')
        .requiredOption('--channels <file>', `${INPUT}; an empty list takes all channels away`)
        .option('--yes', 'do not ask before'),
    ),
  ]);
};

const inspectionCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./inspections.ts');
  const list = command('list', 'the inspections, newest first', async () => (await load()).listInspections);
  const stats = command('stats', 'how many there are', async () => (await load()).inspectionStats);
  return group('inspections', 'what the monitoring service inspected', [
    finish(withLimit(withInspectionFilter(list))),
    finish(withInspectionFilter(stats)),
  ]);
};

export const serviceCommands = (make: CommandMaker): Command[] => [
  protocolCommands(make),
  inspectionCommands(make),
  finish(
    make
      .command(
        'settings',
        "a protocol's detectors, assets and channels",
        async () => (await import('./settings.ts')).settings,
      )
      .requiredOption('--protocol <name>', 'of this protocol'),
  ),
  finish(
    withLimit(
      withPeriod(
        make
          .command(
            'notifications',
            'messages that the monitoring service stored',
            async () => (await import('./notifications.ts')).notifications,
          )
          .requiredOption('--protocol <name...>', 'of these protocols'),
      ),
    ),
  ),
];
