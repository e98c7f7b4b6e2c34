/** One transaction is one mail and one thread, whoever finds something in it. */
import { expect, type onTestFinished, test } from 'vitest';
import type { SmtpRaw } from '../../src/sandbox/receivers/smtp/mail.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

const NAMES = ['Vault', 'Bridge', 'Market', 'Oracle', 'Bank', 'Swap'];
const ONCALL = 'oncall@example.com';
const HASH = `0x${'5033ab'.repeat(10)}5ccb`;
/** What a config has that says nothing of it. */
const DEFAULTS = { groupWait: '2s', rateLimit: { perSecond: 0.33, burst: 5 } };

/** All protocols lead to one mailbox. */
const startAtOneMailbox = async (onFinished: typeof onTestFinished): Promise<World> => {
  const config = { alerts: { secondLook: ['5s', '8s', '11s'] }, channels: { email: DEFAULTS } };
  const world = await startWorld({ onFinished, names: NAMES, kinds: ['email'], config });
  const { service } = world.sandbox;
  for (const { name, apiKey } of service.protocols()) {
    service.replaceChannels({ protocol: name, apiKey }, [{ name: 'email', contacts: [ONCALL] }]);
  }
  return world;
};

const mailsIn = ({ sandbox }: World): SmtpRaw[] => sandbox.receivers.smtp.received().map(({ raw }) => raw);

/** Beside all that is played at once. */
const TIMEOUT = { timeout: 60_000 };

const rootOf = ({ headers }: SmtpRaw): string | undefined => headers.references?.split(/\s+/)[0];

test.concurrent(
  'six protocols find something in one transaction: one mail, and all that follows is in its thread',
  TIMEOUT,
  async ({ onTestFinished: onFinished }) => {
    const world = await startAtOneMailbox(onFinished);
    const daemon = await world.start();
    await daemon.watching();
    const { service } = world.sandbox;
    const insert = (protocol: string) =>
      service.insertInspection({ protocol, assessment: 'critical', chainId: 1, txHash: HASH });
    const [first] = NAMES.slice(0, 5).map(insert);
    insert('Swap');
    await until('the mail', () => mailsIn(world).length > 0);
    const [mail, ...more] = mailsIn(world);
    expect(more).toEqual([]);
    expect(mail?.subject).toMatch(/\(0x5033…5ccb\)$/);
    expect(mail?.headers.importance).toBe('high');
    for (const name of NAMES) expect(mail?.text).toContain(name);

    insert('Vault');
    await until('what was found later', () => mailsIn(world).length > 1);
    service.changeInspection(first?._id ?? '', { assessment: 'ok' });
    await until('the follow-up', () => mailsIn(world).length > 2);
    await world.delivered();
    const [, ...replies] = mailsIn(world);
    expect(replies.map(({ subject }) => subject)).toEqual([`Re: ${mail?.subject}`, `Re: ${mail?.subject}`]);
    expect(replies.map(({ headers }) => headers['in-reply-to'])).toEqual([mail?.messageId, mail?.messageId]);
    expect(new Set(mailsIn(world).map(rootOf)).size).toBe(1);
    expect(replies[1]?.headers).not.toHaveProperty('importance');
  },
);

test.concurrent(
  'six transactions at once are a digest; five are a mail each, with a subject of its own',
  TIMEOUT,
  async ({ onTestFinished: onFinished }) => {
    const world = await startAtOneMailbox(onFinished);
    const daemon = await world.start();
    await daemon.watching();
    for (const name of NAMES.slice(0, 5)) world.critical(name);
    await until('five mails', () => mailsIn(world).length === 5);
    expect(new Set(mailsIn(world).map(({ subject }) => subject)).size).toBe(5);
    expect(new Set(mailsIn(world).map(rootOf)).size).toBe(5);
    for (const name of NAMES) world.critical(name);
    await world.delivered();
    const [digest, ...more] = mailsIn(world).slice(5);
    expect(more).toEqual([]);
    expect(digest?.subject).toContain('[CRITICAL] 6 alerts, worst: “');
  },
);
