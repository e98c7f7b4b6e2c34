/** Channels in trouble: the message waits, turns plainer or ends as dead, as its provider says; the others do not notice. */
import { expect, test } from 'vitest';
import { slackError } from '../../src/sandbox/receivers/slack/slack.ts';
import { telegramVerdict } from '../../src/sandbox/receivers/telegram/telegram.ts';
import { until } from '../support/until.ts';
import type { RunningDaemon } from './daemons.ts';
import { startWorld } from './world.ts';

const TRIED_AGAIN = 'delivery will be tried again';

/** The lines of attempts that were not accepted. */
const setBack = (daemon: RunningDaemon, kind: string) => daemon.log(TRIED_AGAIN).filter((line) => line.kind === kind);

test.concurrent('Slack says 429 with Retry-After: every parcel that waits for the channel obeys', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: ['Vault'] });
  const daemon = await world.start();
  const { slack } = world.sandbox.receivers;
  const limited = { status: 429, headers: { 'retry-after': '3' }, body: { ok: false, error: 'ratelimited' } };
  slack.script.next({ kind: 'answer', ...limited });
  world.critical('Vault');
  await until('the wait is known', () => setBack(daemon, 'slack').length > 0);
  // Reads of their own, so parcels of their own, while the wait lasts.
  for (let round = 0; round < 3; round += 1) {
    world.critical('Vault', 2);
    await until(
      'webhooks are through',
      () => world.sandbox.receivers.webhook.received().length === 1 + 2 * (round + 1),
    );
  }
  await world.balanced();
  const [first, ...later] = slack.attempts();
  expect(first).toMatchObject({ outcome: 'scripted', code: '429' });
  expect(later.filter(({ at }) => at < (first?.at ?? 0) + 3000)).toEqual([]);
  expect(new Set(later.map(({ outcome }) => outcome))).toEqual(new Set(['accepted']));
});

test.concurrent('a Slack token is revoked and repaired: what waited is sent, and the other kinds never waited', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: ['Vault'] });
  const daemon = await world.start();
  const repair = world.sandbox.receivers.slack.script.always(slackError('token_revoked'));
  world.critical('Vault', 3);
  await until('the refusal is known', () => setBack(daemon, 'slack').length > 0);
  await until('the others are sent', () => world.reconciler.count() === 9);
  expect(setBack(daemon, 'slack')[0]).toMatchObject({ reason: 'sender-misconfigured', code: 'token_revoked' });
  expect(await daemon.ask('/readyz')).toMatchObject({ status: 503, text: expect.stringContaining('token_revoked') });
  repair();
  await world.balanced(40_000);
  expect((await daemon.ask('/readyz')).status).toBe(200);
  expect((await daemon.status()).dead).toBe(0);
});

test.concurrent('Telegram cannot parse a message: it is sent without markup', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: ['Vault'] });
  await world.start();
  const { telegram } = world.sandbox.receivers;
  telegram.script.next(telegramVerdict(400, "Bad Request: can't parse entities: unclosed start tag at byte offset 7"));
  const [inspection] = world.critical('Vault');
  await world.balanced();
  const [plain, rich] = telegram.received();
  expect(plain?.text).toContain(inspection?.txHash);
  expect(plain?.raw).toMatchObject({ entities: [], source: plain?.text });
  expect(rich?.raw.entities.map(({ type }) => type)).toContain('bold');
});

test.concurrent('a webhook that is gone: its alerts are dead, kept and counted, and its neighbours flow', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished });
  const daemon = await world.start();
  world.sandbox.receivers.webhook.script.always({ kind: 'answer', status: 410 }, { destination: '/hooks/vault' });
  world.reconciler.excuse('webhook /hooks/vault ');
  world.critical('Vault', 3);
  world.critical('Bridge', 3);
  await world.balanced();
  await until('four are dead', async () => (await daemon.status()).dead === 4);
  const { destinations } = await daemon.status();
  const gone = destinations.find(({ dead }) => dead > 0);
  expect(gone).toMatchObject({ kind: 'webhook', dead: 4, delivered: 0, waiting: 0 });
  expect(gone?.lastError).toContain('410');
  expect(await daemon.metric('tocsin_deliveries_total', { kind: 'webhook', outcome: 'dead' })).toBe(4);
  expect(await daemon.metric('tocsin_dead_deliveries')).toBe(4);
  const reasons = daemon.log('delivery is dead').map(({ reason, code, level }) => ({ reason, code, level }));
  expect(reasons).toContainEqual({ reason: 'destination-dead', code: '410', level: 'error' });
});

test.concurrent('a mail server that is busy gets the mail a little later', async ({ onTestFinished: onFinished }) => {
  const world = await startWorld({ onFinished });
  const daemon = await world.start();
  world.sandbox.receivers.smtp.script.next({ kind: 'reply', stage: 'data', code: 451, text: '4.3.2 Try later' });
  world.critical('Vault', 2);
  await world.balanced();
  expect(setBack(daemon, 'email')[0]).toMatchObject({ reason: 'unavailable', code: expect.stringContaining('451') });
});

test.concurrent('receivers that reset, hang and stumble get everything in the end', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({
    onFinished,
    config: { channels: { webhook: { timeout: '500ms' }, slack: { timeout: '500ms' } } },
  });
  await world.start();
  const { webhook, slack, telegram, smtp } = world.sandbox.receivers;
  webhook.script.next({ kind: 'reset' });
  webhook.script.next({ kind: 'hang' });
  webhook.script.next({ kind: 'answer', status: 503 });
  slack.script.next({ kind: 'hang' });
  slack.script.next({ kind: 'answer', status: 500, body: '<html>oops</html>' });
  telegram.script.next(telegramVerdict(502, 'Bad Gateway'));
  telegram.script.next({ kind: 'reset' });
  smtp.script.next({ kind: 'reset', stage: 'rcpt' });
  for (const name of ['Vault', 'Bridge']) world.critical(name, 3);
  await world.balanced(25_000);
});

test.concurrent('an announcement that its reader refuses reaches the fallback, and who heard of it is told truly', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({
    onFinished,
    names: ['Vault'],
    kinds: ['webhook', 'slack', 'email'],
    config: {
      watchdog: { channels: [{ name: 'slack', contacts: ['C0OPERATORS'] }] },
      fallback: { channels: [{ name: 'email', contacts: ['oncall@example.com'] }] },
    },
  });
  const daemon = await world.start();
  const { slack, webhook, smtp } = world.sandbox.receivers;
  slack.script.always(slackError('channel_not_found'));
  webhook.script.always({ kind: 'answer', status: 410 });
  world.critical('Vault');
  const heard = () =>
    smtp.received().filter(({ destination, text }) => destination === 'oncall@example.com' && /^Tocsin: /.test(text));
  await until('the fallback hears of the webhook', () => heard().some(({ text }) => /webhook 127/i.test(text)));
  const { troubles } = await daemon.status();
  const trouble = troubles.find(({ of }) => of?.startsWith('webhook-'));
  expect(trouble?.announcedTo).toEqual(['oncall@example.com']);
});
