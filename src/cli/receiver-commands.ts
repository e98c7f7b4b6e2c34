/** The commands for people who write webhook receivers. They need neither daemon nor network. */

import type { Command } from 'commander';
import { WEBHOOK_FORMATS } from '../channels/webhook/formats/names.ts';
import { type CommandMaker, jsonOption } from './command.ts';

const SECRET = 'the secret, whsec_...; default: $TOCSIN_WEBHOOK_SECRET, else the one in the config';

export const receiverCommands = ({ command, group }: CommandMaker): Command[] => [
  group('webhook', 'for authors of receivers: check a webhook, make a signed example, get the secret of a receiver', [
    command(
      'verify [body]',
      'check the signature of a received webhook, and say why it fails; the body is a file or standard input',
      async () => (await import('./webhook-verify.ts')).verify,
    )
      .option('--headers <file>', 'a file with its HTTP headers, as curl -i prints them; the body may follow')
      .option('--id <value>', 'its webhook-id header')
      .option('--timestamp <value>', 'its webhook-timestamp header')
      .option('--signature <value>', 'its webhook-signature header')
      .option('--secret <secret>', SECRET)
      .option(
        '--url <url>',
        "the receiver's URL; needed where the config has deriveSecrets: each URL has its own secret",
      )
      .option('--tolerance <duration>', 'how far its timestamp may be from now', '5m')
      .addOption(jsonOption()),
    command(
      'sample',
      'print a webhook as a curl command, signed where its format is, to try a receiver',
      async () => (await import('./webhook-sample.ts')).sample,
    )
      .option('--type <type>', 'the webhook type, like inspection.critical', 'test.sample')
      .option('--format <format>', `the format: ${WEBHOOK_FORMATS.join(', ')}`, 'standard')
      .option('--url <url>', 'URL of the receiver', 'http://127.0.0.1:8080/')
      .option('--secret <secret>', SECRET)
      .addOption(jsonOption()),
    command(
      'secret <url>',
      'print the secret by which the receiver at this URL verifies; while the config has two, the newer first',
      async () => (await import('./webhook-secret.ts')).secret,
    )
      .option('--derived', 'the one derived from channels.webhook.secret, also while another one is in use')
      .addOption(jsonOption()),
  ]),
];
