/** A message grows in silence, and still speaks: sounds are counted where people hear them. */
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

const NAMES = ['Harbor', 'Bridge', 'Margin', 'Perps', 'Dex', 'Staking'];
const CHANNEL = 'C0SHARED01';
const CHAT = '-1009876543210';

const open = async (): Promise<World> => {
  const world = await startWorld({
    names: NAMES,
    kinds: ['slack', 'telegram'],
    config: {
      alerts: { acknowledge: true },
      channels: { slack: { appToken: 'xapp-sandbox' }, telegram: { timeout: '6s' } },
    },
  });
  const { service } = world.sandbox;
  for (const { name, apiKey } of service.protocols()) {
    service.replaceChannels({ protocol: name, apiKey }, [
      { name: 'slack', contacts: [CHANNEL] },
      { name: 'telegram', contacts: [CHAT] },
    ]);
  }
  return world;
};

/** What makes a sound about a transaction, and what changes in silence. */
const heardOf = ({ sandbox }: World, hash: string) => {
  const { slack, telegram } = sandbox.receivers;
  const short = `${hash.slice(0, 6)}…${hash.slice(-4)}`;
  const isAbout = (text: string): boolean =>
    [hash, short].some((one) => text.toLowerCase().includes(one.toLowerCase()));
  return {
    slack: () => slack.received().filter(({ text }) => isAbout(text)),
    telegram: () => telegram.received().filter(({ text, raw }) => isAbout(text) && raw.silent !== true),
    edits: () => [
      slack.edits().filter(({ readable }) => isAbout(readable)),
      telegram.edits().filter(({ text }) => isAbout(text)),
    ],
  };
};

const lastEdits = (heard: ReturnType<typeof heardOf>): string[] => {
  const [slack, telegram] = heard.edits();
  return [JSON.stringify(slack?.at(-1) ?? ''), JSON.stringify(telegram?.at(-1) ?? '')];
};

test('an incident that grows to six protocols makes three sounds; whoever has acknowledged hears at once what is new', async () => {
  const world = await open();
  const daemons = [await world.start(), await world.start()];
  for (const daemon of daemons) await daemon.watching();
  const { service, receivers } = world.sandbox;
  const { slack, telegram } = receivers;
  await until('presses can arrive', () => slack.sockets.count() === 1 && telegram.updates.polling() === 1);

  const txHash = `0x${'7ac9e1f0'.repeat(8)}`;
  const heard = heardOf(world, txHash);
  for (const [index, protocol] of NAMES.entries()) {
    service.insertInspection({ protocol, assessment: 'critical', txHash });
    await until(`${protocol} is there`, () =>
      index === 0
        ? heard.slack().length > 0 && heard.telegram().length > 0
        : lastEdits(heard).every((text) => text.includes(protocol)),
    );
  }

  const [first] = heard.slack();
  const other = `0x${'ab12cd34'.repeat(8)}`;
  const known = heardOf(world, other);
  service.insertInspection({ protocol: 'Harbor', assessment: 'critical', txHash: other });
  await until('it is there', () => known.slack().length > 0 && known.telegram().length > 0);
  service.insertInspection({ protocol: 'Bridge', assessment: 'critical', txHash: other });
  await until('a reply says what is new', () => known.slack().length === 2 && known.telegram().length === 2);
  await slack.press({ channel: CHANNEL, ts: known.slack()[0]?.id ?? '', action: 'acknowledge' });
  await until('it says who', () => lastEdits(known).every((text) => text.includes('👀 ann is on it')));
  service.insertInspection({ protocol: 'Margin', assessment: 'critical', txHash: other });
  await until(
    'whoever has acknowledged hears of it',
    () => known.slack().length === 3 && known.telegram().length === 3,
  );
  for (const [, second, third] of [known.slack(), known.telegram()]) {
    expect(second?.text).toMatch(
      /🔴 CRITICAL · (?:Now 2 protocols \(\+ Bridge\)|Bridge.*: “.*” · Now 2 protocols \(\+ Bridge\))/,
    );
    expect(third?.text).toMatch(
      /🔴 CRITICAL · (?:Now 3 protocols \(\+ Margin\)|Margin.*: “.*” · Now 3 protocols \(\+ Margin\))/,
    );
  }

  await until(
    'what came after the first reply is said in one',
    () =>
      [heard.slack(), heard.telegram()].every((sounds) => sounds.some(({ text }) => text.includes('Now 6 protocols'))),
    45_000,
  );
  // What comes later proves that there is no more.
  const [{ txHash: later = '' } = {}] = world.critical('Harbor');
  await until('a later one is there', () => heardOf(world, later).slack().length > 0);
  await Promise.all(daemons.map((daemon) => daemon.idle()));
  expect([heard.slack().length, heard.telegram().length]).toEqual([3, 3]);
  const replies = { what: 'reply', outcome: 'delivered' };
  const counted = await Promise.all(daemons.map((daemon) => daemon.metric('tocsin_message_changes_total', replies)));
  expect(counted.reduce((sum, one) => sum + one, 0)).toBe(8);
  for (const { raw } of heard.slack().slice(1)) {
    expect(raw).toMatchObject({ threadTs: first?.id, isBroadcast: true });
  }
  const [message] = heard.telegram();
  expect(
    heard
      .telegram()
      .slice(1)
      .map(({ raw }) => raw.replyTo),
  ).toEqual([message?.raw.messageId, message?.raw.messageId]);
  expect(lastEdits(heard).every((text) => / updated 5 times, last \+\d+ s/.test(text))).toBe(true);
});

test('at a mailbox it makes two or three mails, the last of which says the whole, also where another daemon goes on', async () => {
  const world = await startWorld({
    names: NAMES,
    kinds: ['email'],
    config: { channels: { email: { groupWait: '1s', rateLimit: { perSecond: 0.33, burst: 5 } } } },
  });
  const { service, receivers } = world.sandbox;
  for (const { name, apiKey } of service.protocols()) {
    service.replaceChannels({ protocol: name, apiKey }, [{ name: 'email', contacts: ['oncall@example.com'] }]);
  }
  const daemon = await world.start();
  await daemon.watching();
  const mails = () => receivers.smtp.received().map(({ raw }) => raw);
  const txHash = `0x${'7ac9e1f0'.repeat(8)}`;
  const find = (protocol: string) => service.insertInspection({ protocol, assessment: 'critical', txHash });
  const [one = '', two = '', ...others] = NAMES;
  for (const [index, protocol] of [one, two].entries()) {
    find(protocol);
    await until(`the mail about ${protocol}`, () => mails().length === index + 1);
  }
  for (const protocol of others) {
    find(protocol);
    // A mail about another transaction shows that this one was read, and is not held up by it.
    const before = mails().length;
    world.critical(one);
    await until('a mail about another transaction', () => mails().length > before);
  }
  await daemon.stop();
  await world.start();
  const isAbout = ({ subject }: { subject: string }): boolean => subject.includes('0x7ac9…e1f0');
  await until('the mail about the others', () => mails().filter(isAbout).length === 3, 60_000);
  await world.delivered();
  const about = mails().filter(isAbout);
  expect(about.map(({ subject }) => subject.replace(/:.*/, ''))).toEqual([
    expect.stringContaining('[CRITICAL] Harbor'),
    expect.stringMatching(/^\[CRITICAL\] Now 2 protocols · Bridge/),
    expect.stringMatching(/^\[CRITICAL\] Now 6 protocols · (?:Margin|Perps|Dex|Staking)/),
  ]);
  const [first, second, last] = about;
  expect(second?.headers['in-reply-to']).toBe(first?.messageId);
  expect(last?.headers['in-reply-to']).toBe(second?.messageId);
  expect(last?.text?.split('\n')[0]).toBe('🔴 CRITICAL · Now 6 protocols (+ Margin, Perps, Dex, Staking)');
  for (const protocol of NAMES) expect(last?.text).toContain(protocol);
});
