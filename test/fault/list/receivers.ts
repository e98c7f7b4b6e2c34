/** The receivers misbehave, in every way that the sandbox knows and that is not a refusal for good. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelKind } from '../../../src/alert.ts';
import type { HttpVerdict } from '../../../src/sandbox/receivers/http-receiver.ts';
import type { Script } from '../../../src/sandbox/receivers/script.ts';
import { slackError } from '../../../src/sandbox/receivers/slack/slack.ts';
import type { SmtpVerdict } from '../../../src/sandbox/receivers/smtp/session.ts';
import { telegramVerdict } from '../../../src/sandbox/receivers/telegram/telegram.ts';
import { until } from '../../support/until.ts';
import type { Fault } from '../fault.ts';
import type { Stage } from '../stage.ts';

const EACH_MS = 3000;

/** With `recorded` the message was taken, and its sender does not learn it. */
const ANYWHERE: readonly HttpVerdict[] = [
  { kind: 'answer', status: 429, headers: { 'retry-after': '2' } },
  { kind: 'answer', status: 500 },
  { kind: 'answer', status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad Gateway</h1>' },
  { kind: 'answer', status: 503, recorded: true },
  { kind: 'slow', durationMs: 3000 },
  { kind: 'hang' },
  { kind: 'hang', recorded: true },
  { kind: 'reset' },
  { kind: 'reset', recorded: true },
];
const SLACK = [...ANYWHERE, ...['ratelimited', 'internal_error', 'token_revoked'].map(slackError)];
const TELEGRAM = [
  ...ANYWHERE,
  telegramVerdict(429, 'Too Many Requests: retry after 2', { retry_after: 2 }),
  telegramVerdict(401, 'Unauthorized'),
];
const SMTP: readonly SmtpVerdict[] = [
  { kind: 'reply', stage: 'connect', code: 421, text: '4.3.2 Shutting down' },
  { kind: 'reply', stage: 'mail', code: 451, text: '4.3.0 Local error' },
  { kind: 'reply', stage: 'rcpt', code: 450, text: '4.7.1 Greylisted' },
  { kind: 'reply', stage: 'data', code: 452, text: '4.3.1 Insufficient storage' },
  { kind: 'reply', stage: 'data', code: 451, text: '4.3.0 Local error', recorded: true },
  { kind: 'hang', stage: 'connect' },
  { kind: 'hang', stage: 'data', recorded: true },
  { kind: 'reset', stage: 'mail' },
  { kind: 'reset', stage: 'data', recorded: true },
];

const misbehaving = <Verdict>(
  kind: string,
  verdicts: readonly Verdict[],
  scriptOf: (stage: Stage) => Script<Verdict>,
): Fault => ({
  name: `receiver-${kind}`,
  what: `${verdicts.length} kinds of bad answers of ${kind}, 3 s each; some after the message was taken`,
  doubles: 'in flight',
  grip: 'receivers',
  strike: async (stage) => {
    for (const verdict of verdicts) {
      stage.note(`${kind}: ${JSON.stringify(verdict)}`);
      const end = scriptOf(stage).always(verdict);
      await sleep(EACH_MS);
      end();
    }
  },
});

const BY_KIND = {
  webhook: misbehaving('webhook', ANYWHERE, ({ sandbox }) => sandbox.receivers.webhook.script),
  slack: misbehaving('slack', SLACK, ({ sandbox }) => sandbox.receivers.slack.script),
  telegram: misbehaving('telegram', TELEGRAM, ({ sandbox }) => sandbox.receivers.telegram.script),
  email: misbehaving('email', SMTP, ({ sandbox }) => sandbox.receivers.smtp.script),
} satisfies Record<ChannelKind, Fault>;

/** The fallback, and who hears of Tocsin's troubles. */
const [FALLBACK, OPERATORS] = ['C0FALLBACK1', 'operators@example.com'];
/** A listing, and what the people of the protocols have to hear of it first. */
const LISTED_MS = 10_000;
const HEARD_WITHIN_MS = 60_000;

const revoked: Fault = {
  name: 'fallback-revoked',
  what: "alerts of Slack alone, with a fallback in Slack, as its token is revoked: they reach the watchdog's people by mail until it works",
  stage: {
    kinds: ['email', 'slack'],
    config: {
      fallback: { after: '5s', channels: [{ name: 'slack', contacts: [FALLBACK] }] },
      watchdog: { channels: [{ name: 'email', contacts: [OPERATORS] }] },
    },
  },
  doubles: 'in flight',
  strike: async ({ sandbox: { service, receivers }, books, note }) => {
    for (const line of [`slack ${FALLBACK}`, 'email ']) books.also.may(line);
    for (const { name: protocol, apiKey, channels } of service.protocols()) {
      service.replaceChannels(
        { protocol, apiKey },
        channels.filter(({ name }) => name === 'slack'),
      );
    }
    await sleep(LISTED_MS);
    const end = receivers.slack.script.always(slackError('token_revoked'));
    const { txHash } = service.insertInspection({ protocol: 'Vault', assessment: 'critical' });
    const isHeard = () => books.arrivalsOf(txHash).includes(`email ${OPERATORS}`);
    const beganAt = Date.now();
    await until('the alert reaches those who can be reached', isHeard, HEARD_WITHIN_MS);
    note(`heard after ${Date.now() - beganAt} ms`);
    end();
  },
};

export const RECEIVER_FAULTS: readonly Fault[] = [...Object.values(BY_KIND), revoked];
