/** The commands that one begins with: the daemon, its config, a try without either, and a first message. */

import type { Command } from 'commander';
import { CHANNEL_KINDS, KINDS_TEXT } from '../alert.ts';
import type { CommandMaker } from './command.ts';

const sandboxCommands = ({ command, plain }: CommandMaker): Command[] => [
  plain('demo', () => import('./demo.ts'), 'demo')
    .description('try the whole system on this machine, with a fake service and fake receivers')
    .option('--for <duration>', 'stop after this long, like 30s; default: at Ctrl-C')
    .option('--seed <number>', 'seed of the random traffic; the same seed gives the same traffic'),
  command('sandbox', () => import('./sandbox.ts'), 'sandbox')
    .description('run only the fake service and the fake receivers, to develop against')
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--public-host <name>', 'host name in the URLs that it prints; default: --host')
    .option('--port <number>', 'port of the service; the receivers listen on the next ports', '9900')
    .option('--seed <number>', 'seed of the random traffic; the same seed gives the same traffic')
    .option('--quiet', 'start without traffic'),
];

const messageCommands = ({ command }: CommandMaker): Command[] => [
  command('test', () => import('./test.ts'), 'test')
    .description('send a test message through the real queue, and wait until it is delivered')
    .option('--protocol <name>', "send it to this protocol's channels")
    .option('--channel <kind>', 'or to one address of this channel kind, given with --to')
    .option('--to <address>', `that address, or '\${NAME}' for a variable of the config`)
    .option('--timeout <duration>', 'how long to wait until it is delivered', '60s'),
  command('preview', () => import('./preview.ts'), 'preview')
    .description('show a sample or an item of the service as people would get it, without sending anything')
    .option(
      '--type <type>',
      'the type, like inspection.critical or tocsin.mute.ended, or: digest of 12',
      'inspection.critical',
    )
    .option('--protocol <name>', "with this protocol's prefix, links and templates")
    .option('--id <id>', 'an inspection or a stored notification of the service, with --protocol, instead of a sample')
    .option('--service <name>', 'the service that lists it')
    .option('--kind <kinds...>', `${CHANNEL_KINDS.join(', ')}; default: those that the config sets up`)
    .option('--webhook-format <format>', 'what a webhook gets: standard, pagerduty, discord ...', 'standard')
    .option('--format <format>', 'rich, or a simpler one that is sent after a refusal: plain, minimal', 'rich')
    .option('--html <folder>', 'write a page for each kind into this folder, for a browser')
    .option('--open', 'write the pages and open them'),
  command('status', () => import('./status.ts'), 'status').description(
    'show services, protocols, destinations, queues and what needs attention',
  ),
  command('reload', () => import('./reload.ts'), 'reload')
    .description('have the running daemons read their config again, and show what each one answers')
    .option('--timeout <duration>', 'how long to wait for the daemons', '60s'),
  command('audit', () => import('./audit.ts'), 'audit')
    .description("compare the services' lists with what became of each alert, and queue again what is missing")
    .option('--since <moment>', 'what the service wrote since then: a date-time, or a duration back like 24h', '24h')
    .option('--dry-run', 'only report; queue nothing again'),
];

const initCommand = ({ plain }: CommandMaker): Command =>
  plain('init', () => import('./init.ts'), 'init')
    .description(
      'write a small config: asks for the service, the channels of its protocols and a fallback, and tries each answer',
    )
    .option('--service <url>', 'base URL of the monitoring service; init asks for its key, or takes $TOCSIN_API_KEY')
    .option('--channel <kind>', `kind of the fallback: ${KINDS_TEXT}`)
    .option(
      '--to <address>',
      'mailbox, chat, Slack channel id or URL of the fallback: for alerts that reach nobody else',
    )
    .option('--smtp <host:port>', 'mail relay; init asks for its password, or takes $SMTP_PASSWORD')
    .option('--smtp-user <name>', 'user at the mail relay')
    .option('--smtp-tls <mode>', 'verify (the default), opportunistic or off')
    .option('--from <address>', 'sender of e-mail, like "Tocsin <tocsin@example.com>"')
    .option(
      '--api-url <url...>',
      "Slack's or Telegram's API at another address than usual: a URL, or slack=URL telegram=URL",
    )
    .option('--allow-private', 'send to the URL of --to even if it is no public https address')
    .option('--no-check', 'ask nobody whether the answers work, and set up the fallback alone')
    .option('--force', 'replace an existing config')
    .addHelpText(
      'after',
      `
On a terminal init asks for what is missing, tries each answer, and asks again
if one does not work. It sets up each kind of channel that the protocols of the
service use. Answer "skip" to leave a kind out.

Without a terminal it needs --service, --channel, --to and the secrets. It also
sets up other kinds if it finds what they need, and names the rest. If an answer
does not work, it writes nothing.

init asks for the bot token, or takes it from $SLACK_TOKEN or $TELEGRAM_TOKEN. It
writes secrets into a file of variables beside the config, which only you may
read; those of the environment stay there. To hide the URL of a webhook from
other users of the machine, put it into $WEBHOOK_URL instead of --to.`,
    );

/** `run` is the first: what a supervisor starts without a command. */
export const startCommands = (make: CommandMaker): Command[] => [
  make
    .plain('run', () => import('./run.ts'), 'run')
    .description('run the daemon in the foreground, with JSON log lines on stdout'),
  initCommand(make),
  make
    .command('check', () => import('./check.ts'), 'check')
    .description('print every problem in the config')
    .option('--online', 'also ask the services, Redis and every channel whether they answer'),
  ...sandboxCommands(make),
  ...messageCommands(make),
];
