/** A channel that breaks: nobody misses an alert, somebody hears of it once, and once when it is well again. */
import { expect, test } from 'vitest';
import { slackError } from '../../src/sandbox/receivers/slack/slack.ts';
import { openConsole } from '../cli/console.ts';
import { until } from '../support/until.ts';
import type { Tree } from './config.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

const ONCALL = 'oncall@example.com';
const fallback = (after: string): Tree => ({
  fallback: { after, channels: [{ name: 'email', contacts: [ONCALL] }] },
});

type OnFinished = NonNullable<WorldOptions['onFinished']>;

/** The protocol's only people are in its Slack channel; its alerts are nowhere else expected. */
const startSlackWorld = async (onFinished: OnFinished, after: string): Promise<World> => {
  const world = await startWorld({ onFinished, names: ['Vault'], config: fallback(after) });
  const { service } = world.sandbox;
  for (const { name, apiKey, channels } of service.protocols()) {
    const people = channels.filter((channel) => channel.name === 'slack');
    service.replaceChannels({ protocol: name, apiKey }, people);
  }
  return world;
};

const mails = ({ sandbox }: World) =>
  sandbox.receivers.smtp.received().filter(({ destination }) => destination === ONCALL);

const about = (world: World, hash: string) => mails(world).filter(({ text }) => text.toLowerCase().includes(hash));

/** The beginning and the end of an outage, in the words of its announcements. */
const NEWS = /does not take the bot token of Tocsin|has revoked the bot token of Tocsin|does not exist|works again/;

/** Alerts of the fallback quote the reason, too. */
const announcements = (world: World) =>
  mails(world).filter(({ text }) => text.includes('Tocsin') && NEWS.test(text) && !text.includes('Fallback: '));

test.concurrent('a Slack token is revoked: its alerts reach the fallback in time, and Slack after the repair', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startSlackWorld(onFinished, '1s');
  const { slack } = world.sandbox.receivers;
  const first = await world.start();
  const second = await world.start();
  await first.watching();
  world.critical('Vault');
  await world.delivered();
  expect(mails(world)).toEqual([]);

  const repair = slack.revokeToken();
  const hashes = world.critical('Vault', 3).map(({ txHash }) => txHash.toLowerCase());
  await until('the fallback has all', () => hashes.every((hash) => about(world, hash).length > 0));
  await until('it is announced', () => announcements(world).length > 0);
  for (const hash of hashes) {
    expect(about(world, hash)[0]?.text).toMatch(
      /Fallback: it could not be delivered to anybody\s+else\s+within\s+1 s,\s+so\s+it\s+is\s+yours\.\s+Slack\s[\s\S]*token_revoked/,
    );
  }
  expect(slack.received()).toHaveLength(1);

  repair();
  await world.delivered(60_000);
  await until('the recovery is announced', () => announcements(world).length > 1);
  world.critical('Vault');
  await world.delivered();
  expect(announcements(world).map(({ text }) => NEWS.exec(text)?.[0])).toEqual([
    'has revoked the bot token of Tocsin',
    'works again',
  ]);
  for (const hash of hashes) expect(about(world, hash)).toHaveLength(1);
  expect(world.reconciler.balance()).toMatchObject({ missing: [], doubled: [] });
  const diverted = await Promise.all([first, second].map((daemon) => daemon.metric('tocsin_fallback_alerts_total')));
  expect(diverted.reduce((sum, one) => sum + one, 0)).toBe(3);
});

test.concurrent('without a fallback other people of the protocol hear of the broken channel', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: ['Vault'], kinds: ['slack', 'email'] });
  const daemon = await world.start();
  const repair = world.sandbox.receivers.slack.revokeToken();
  world.critical('Vault', 2);
  const told = () => world.sandbox.receivers.smtp.received().filter(({ text }) => NEWS.test(text));
  await until('it is announced', () => told().length > 0);
  expect(daemon.log('a destination is broken')).toMatchObject([{ to: ['every Slack channel'], level: 'error' }]);
  repair();
  await world.delivered(60_000);
  await until('the recovery is announced', () => told().length > 1);
  expect(told()).toHaveLength(2);
});

test.concurrent('a channel that is gone: what dies goes to the fallback at once; its end is told once; and what leads nowhere goes there, too', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startSlackWorld(onFinished, '1h');
  const { slack } = world.sandbox.receivers;
  const daemon = await world.start();
  await daemon.watching();
  const repair = slack.script.always(slackError('channel_not_found'));
  const hashes = world.critical('Vault', 2).map(({ txHash }) => txHash.toLowerCase());
  await until('the fallback has them', () => hashes.every((hash) => about(world, hash).length > 0));
  expect(about(world, hashes[0] ?? '')[0]?.text).toMatch(
    /Fallback: Slack\s+channel\s+\S+\s+did\s+not\s+take\s+this: [\s\S]*channel_not_found/,
  );
  await until('it is announced', () => announcements(world).length === 1);
  expect((await daemon.status()).dead).toBe(2);
  const shown = () => daemon.metric('tocsin_trouble', { trouble: 'destination' });
  await until('the metric says so', async () => (await shown()) === 1);

  repair();
  expect(await (await openConsole(world)).run('dead', 'retry', '--all')).toMatchObject({ code: 0 });
  await world.delivered();
  await until('its end is announced', () => announcements(world).length === 2);
  await until('the metric says so', async () => (await shown()) === 0);

  const [{ name, apiKey } = { name: '', apiKey: '' }] = world.sandbox.service.protocols();
  world.sandbox.service.replaceChannels({ protocol: name, apiKey }, []);
  await until('the daemon knows', async () =>
    (await daemon.status()).problems.some((problem) => problem.includes('no channels')),
  );
  const [lost] = world.critical('Vault').map(({ txHash }) => txHash.toLowerCase());
  await until('the fallback has it', () => about(world, lost ?? '').length > 0);
  expect(about(world, lost ?? '')[0]?.text).toContain('Fallback: nobody else gets this');
  expect(announcements(world).map(({ text }) => NEWS.exec(text)?.[0])).toEqual(['does not exist', 'works again']);
  expect(await daemon.metric('tocsin_fallback_alerts_total', { reason: 'dead' })).toBe(2);
  expect(await daemon.metric('tocsin_fallback_alerts_total', { reason: 'stranded' })).toBe(1);
});

test.concurrent('a Slack token is revoked, and the fallback is Slack as well: the alert itself is mailed to who hears of such news', async ({
  onTestFinished: onFinished,
}) => {
  const config = {
    fallback: { after: '1s', channels: [{ name: 'slack', contacts: ['C0FALLBACK1'] }] },
    watchdog: { channels: [{ name: 'email', contacts: [ONCALL] }] },
  };
  const world = await startWorld({ onFinished, names: ['Vault'], kinds: ['slack', 'email'], config });
  const { service, receivers } = world.sandbox;
  for (const { name, apiKey, channels } of service.protocols()) {
    const people = channels.filter((channel) => channel.name === 'slack');
    service.replaceChannels({ protocol: name, apiKey }, people);
  }
  await (await world.start()).watching();
  const repair = receivers.slack.revokeToken();
  const [hash = ''] = world.critical('Vault').map(({ txHash }) => txHash.toLowerCase());
  const mail = await until('the alert is mailed', () => about(world, hash)[0]);
  expect(mail.text).toMatch(/Fallback: it could not be delivered to anybody\s+else within 1 s/);
  await until('so is the news', () => announcements(world).length > 0);
  repair();
  await world.delivered(60_000);
  const isAtFallback = () => receivers.slack.received().some(({ destination }) => destination === 'C0FALLBACK1');
  await until('the fallback has it as well', isAtFallback);
  expect(about(world, hash)).toHaveLength(1);
});
