/** The monitoring service's eight endpoints as commands, and the commands for receivers of webhooks. */
import type { Command } from 'commander';
import { WEBHOOK_FORMATS } from '../channels/webhook/formats/names.ts';
import type { CommandMaker } from './command.ts';

const INPUT = 'a JSON or YAML file, or - for standard input';

const withPeriod = (command: Command): Command =>
  command
    .option('--since <time>', 'what the service wrote since then: a date-time, or a duration back like 24h')
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

const withService = (command: Command): Command =>
  command.option('--service <name>', 'name of the service in the config; needed only if several match');

const withSecretsOption = (command: Command): Command =>
  command.option('--show-secrets', "with --json: print the channels' addresses whole, with paths and passwords");

const protocolCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./protocols.ts');
  const list = command('list', load, 'listProtocols')
    .description('list all protocols that the API key may see')
    .option('--hide-assets', 'leave the assets out, which is faster');
  const create = command('create', load, 'createProtocol')
    .description('create a protocol')
    .requiredOption('--name <name>', 'name of the protocol')
    .option('--assets <file>', `its assets: ${INPUT}`)
    .option('--channels <file>', `its channels: ${INPUT}`);
  const add = command('add-assets', load, 'addAssets')
    .description('add assets to a protocol, or change them')
    .requiredOption('--protocol <name|id>', 'the protocol')
    .requiredOption('--assets <file>', `its assets: ${INPUT}`);
  const replace = command('replace-channels', load, 'replaceChannels')
    .description('replace all channels of a protocol')
    .requiredOption('--protocol <name|id>', 'the protocol')
    .requiredOption('--channels <file>', `its channels: ${INPUT}; an empty list removes all`)
    .option('--yes', 'do not ask for confirmation');
  const history = command('history <name>', () => import('./protocol-history.ts'), 'protocolHistory')
    .description(
      "show the changes of a protocol's channels, triggers, tracking and detectors that the daemons have seen, newest first",
    )
    .option('--service <name>', 'only at this service of the config');
  return group('protocols', 'list and change protocols at the monitoring service', [
    withService(withSecretsOption(list)),
    ...[create, add, replace].map(withService),
    history,
  ]);
};

const inspectionCommands = ({ command, group }: CommandMaker): Command => {
  const load = () => import('./inspections.ts');
  const list = command('list', load, 'listInspections').description('list inspections, newest first');
  const stats = command('stats', load, 'inspectionStats').description('count inspections by assessment');
  return group('inspections', 'list and count inspections at the monitoring service', [
    withService(withLimit(withInspectionFilter(list))),
    withService(withInspectionFilter(stats)),
  ]);
};

export const serviceCommands = (make: CommandMaker): Command[] => {
  const settings = make
    .command('settings', () => import('./settings.ts'), 'settings')
    .description("show a protocol's detectors, assets and channels at the monitoring service")
    .requiredOption('--protocol <name>', 'the protocol');
  const notifications = make
    .command('notifications', () => import('./inspections.ts'), 'notifications')
    .description('list the stored notifications of the monitoring service')
    .requiredOption('--protocol <name...>', 'the protocols');
  return [
    protocolCommands(make),
    inspectionCommands(make),
    withService(withSecretsOption(settings)),
    withService(withLimit(withPeriod(notifications))),
  ];
};

const SECRET = 'the secret, whsec_...; default: $TOCSIN_WEBHOOK_SECRET, else the one in the config';

/** For people who write webhook receivers. They need neither daemon nor network. */
export const receiverCommands = ({ command, group }: CommandMaker): Command[] => [
  group('webhook', 'for authors of receivers: check a webhook, make a signed example, get the secret of a receiver', [
    command('verify [body]', () => import('./webhook-verify.ts'), 'verify')
      .description(
        'check the signature of a received webhook, and say why it fails; the body is a file or standard input',
      )
      .option('--headers <file>', 'a file with its HTTP headers, as curl -i prints them; the body may follow')
      .option('--id <value>', 'its webhook-id header')
      .option('--timestamp <value>', 'its webhook-timestamp header')
      .option('--signature <value>', 'its webhook-signature header')
      .option('--secret <secret>', SECRET)
      .option(
        '--url <url>',
        "the receiver's URL; needed if the config has deriveSecrets: then each URL has its own secret",
      )
      .option('--tolerance <duration>', 'how far its timestamp may be from now', '5m'),
    command('sample', () => import('./webhook-sample.ts'), 'sample')
      .description('print a webhook as a curl command, to try a receiver; it is signed if its format is')
      .option('--type <type>', 'the webhook type, like inspection.critical', 'test.sample')
      .option('--format <format>', `the format: ${WEBHOOK_FORMATS.join(', ')}`, 'standard')
      .option('--url <url>', 'URL of the receiver', 'http://127.0.0.1:8080/')
      .option('--secret <secret>', SECRET),
    command('secret <url>', () => import('./webhook-secrets.ts'), 'secret')
      .description('print the secret with which the receiver at this URL verifies; of two, the newer one first')
      .option('--derived', 'the one derived from channels.webhook.secret, even if another one is in use'),
  ]),
];
