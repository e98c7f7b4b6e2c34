/** The commands for those who write receivers of webhooks. They ask nobody and need no daemon. */
import type { Command } from 'commander';
import { type CommandMaker, jsonOption } from './command.ts';

const SECRET = 'whsec_...; otherwise $TOCSIN_WEBHOOK_SECRET, or what the config has';

export const receiverCommands = ({ command, group }: CommandMaker): Command[] => [
  group('webhook', 'for those who write receivers', [
    command(
      'verify [body]',
      'say whether a webhook is as it was sent, and if not, why; its body from a file or standard input',
      async () => (await import('./webhook-verify.ts')).verify,
    )
      .option('--headers <file>', 'its headers as HTTP has them, like curl -i; the body may follow')
      .option('--id <value>', 'webhook-id')
      .option('--timestamp <value>', 'webhook-timestamp')
      .option('--signature <value>', 'webhook-signature')
      .option('--secret <secret>', SECRET)
      .option('--tolerance <duration>', 'how old or new it may be', '5m')
      .addOption(jsonOption()),
    command(
      'sample',
      'print a signed webhook as a curl command, to try a receiver with',
      async () => (await import('./webhook-sample.ts')).sample,
    )
      .option('--type <type>', 'like inspection.critical', 'test.sample')
      .option('--url <url>', 'of the receiver', 'http://127.0.0.1:8080/')
      .option('--secret <secret>', SECRET)
      .addOption(jsonOption()),
  ]),
];
