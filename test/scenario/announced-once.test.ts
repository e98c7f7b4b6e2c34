/** What can happen to a running Tocsin: each is announced once to those who are to hear of it, and its end once. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import type { ConditionName } from '../../src/condition.ts';
import { openConsole } from '../cli/console.ts';
import { whyNoSmallDisk } from '../fault/small-disk.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { until } from '../support/until.ts';
import { openDataDir } from './data-dir.ts';
import { durableRedis } from './rule-plays.ts';
import { leaveSilent, SILENT_HOST } from './silent-daemon.ts';
import { OPS } from './trouble-plays.ts';
import { startWorld } from './world.ts';

const CHAT = '-1001234567890';
const TELEGRAM = `telegram ${CHAT}`;
const BOTH = [`email ${OPS}`, TELEGRAM];
const PATH = '/ping/5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278';
const HOUR_MS = 3_600_000;
const SEVERAL = /\d messages, the first/;
const IS_OVER = /\bOver: |are over, the first|works again|is read again/;
const REDIS_AWAY = 'Redis does not answer';

const open = async () => {
  const { redis, redisUrl } = await durableRedis(onTestFinished);
  const pinged = await startHttpReceiver();
  onTestFinished(() => pinged.close());
  const { dataDir, ...disk } = await openDataDir(onTestFinished);
  const world = await startWorld({
    // So many that both daemons poll: each soon knows by itself whether the service answers.
    names: ['Vault', ...Array.from({ length: 11 }, (_, n) => `Protocol ${n}`)],
    redisUrl,
    config: {
      dataDir,
      watchdog: {
        // Longer than a busy machine takes to read: else there would be more to announce.
        after: '5s',
        channels: [
          { name: 'email', contacts: [OPS] },
          { name: 'telegram', contacts: [CHAT] },
        ],
        ...{ heartbeatUrl: `${pinged.origin}${PATH}`, heartbeatEvery: '1s' },
      },
      // Nobody but the operators is to hear of any of these.
      fallback: { after: '1h', channels: [{ name: 'email', contacts: ['oncall@example.com'] }] },
    },
  });
  const clock = { aheadMs: 0 };
  const start = () =>
    world.start({
      now: () => Date.now() + clock.aheadMs,
      // A busy machine blocks the event loop, too.
      limits: { lastingMs: 2000, detectEveryMs: 200, delayEveryMs: HOUR_MS },
    });
  const daemons = [await start(), await start()] as const;
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  onTestFinished(async () => connection.disconnect());
  return { world, daemons, redis, connection, disk, clock, pinged, command: await openConsole(world) };
};

type Opened = Awaited<ReturnType<typeof open>>;

/** Announcements that anybody got within a time, each with who, and whether it is of a beginning or of an end. */
const heardBetween = ({ world: { sandbox } }: Opened, from: number, to = Infinity) =>
  Object.values(sandbox.receivers)
    .flatMap((receiver) => receiver.received())
    // An alert names its transaction.
    .filter(({ at, text }) => at >= from && at < to && !/0x[0-9a-f]{64}/i.test(text))
    .map(({ kind, destination, text }) => {
      const what = SEVERAL.test(text) ? 'several' : IS_OVER.test(text) ? 'end' : 'beginning';
      return { what, line: `${what} to ${kind} ${destination}`, text };
    });

interface Cause {
  what: string;
  /** All that `status` has meanwhile. Undefined where it cannot be asked. */
  is?: ConditionName;
  /** Its beginning is announced in these words. */
  says: RegExp;
  hears: readonly string[];
  break(): unknown;
  mend(): unknown;
}

const ofOthers = ({ world, redis, pinged }: Opened): Cause[] => {
  const { receivers, service } = world.sandbox;
  let repair = (): void => {};
  const hears = (since: number, method: string, body = '') =>
    until(`the switch hears: ${method} ${body}`, () =>
      pinged.arrived.slice(since).some((one) => one.method === method && one.body === body),
    );
  return [
    {
      ...{ what: 'a token is revoked', is: 'channel', says: /token_revoked/, hears: BOTH },
      break: () => {
        repair = receivers.slack.revokeToken();
        world.critical('Vault', 2);
      },
      mend: () => repair(),
    },
    {
      ...{ what: 'the mail relay refuses', is: 'channel', says: /refuses connections/, hears: [TELEGRAM] },
      break: async () => {
        await receivers.smtp.stop();
        world.critical('Vault', 2);
      },
      mend: receivers.smtp.start,
    },
    {
      ...{ what: 'the service is down', is: 'service', says: /sandbox” cannot be read/, hears: BOTH },
      ...{ break: service.stop, mend: service.start },
    },
    {
      // Nothing can be announced without it. It stands still, and closes no connection.
      ...{ what: 'Redis is silent', says: /./, hears: [] },
      break: async () => {
        const before = pinged.arrived.length;
        redis.freeze();
        await hears(before, 'POST', REDIS_AWAY);
      },
      mend: async () => {
        const before = pinged.arrived.length;
        redis.thaw();
        await hears(before, 'GET');
      },
    },
  ];
};

const ofDaemons = ({ world, connection, disk, clock, command }: Opened): Cause[] => [
  {
    ...{ what: 'a daemon of another host is gone', is: 'member', says: /ended without saying so/, hears: BOTH },
    break: () => leaveSilent(connection, world.prefix),
    mend: () => command.run('daemons', 'forget', SILENT_HOST),
  },
  ...(whyNoSmallDisk() === undefined
    ? [
        {
          ...{ what: 'the disk is full', is: 'disk' as const, says: /nearly full/, hears: BOTH },
          ...{ break: disk.fill, mend: disk.empty },
        },
      ]
    : []),
  {
    ...{ what: 'the clock is an hour wrong', is: 'clock', says: /our clock is 60 min ahead of those of/, hears: BOTH },
    break: () => Object.assign(clock, { aheadMs: HOUR_MS }),
    mend: () => Object.assign(clock, { aheadMs: 0 }),
  },
];

test('each cause is announced once to those who are to hear of it, and its end once', async () => {
  const opened = await open();
  const { world, daemons, pinged } = opened;
  const [daemon] = daemons;
  await Promise.all(daemons.map((one) => one.watching()));
  world.critical('Vault');
  await world.delivered();
  const causes = [...ofOthers(opened), ...ofDaemons(opened)];
  const troubles = async () => (await daemon.status()).troubles.map(({ name }) => name).join();
  const begunAt: number[] = [];
  for (const { what, is, says, hears, break: breakIt, mend } of causes) {
    const from = Date.now();
    begunAt.push(from);
    const heard = (word: string) => heardBetween(opened, from).filter((one) => one.what === word);
    await breakIt();
    await until(`announced: ${what}`, () => heard('beginning').length >= hears.length);
    if (is !== undefined)
      await until(`${what}: status has ${is}, and nothing else`, async () => (await troubles()) === is);
    for (const { text } of heard('beginning')) {
      expect(text).toMatch(says);
      expect(text).toContain('To do: ');
    }
    await mend();
    await until(`its end is announced: ${what}`, () => heard('end').length >= hears.length);
    await world.delivered(60_000);
    // A receiver has it before the queue knows: what the next cause interrupts then would be sent again.
    await daemon.idle();
  }
  const found = causes.map(({ what }, index) => [
    what,
    heardBetween(opened, begunAt[index] ?? 0, begunAt[index + 1])
      .map(({ line }) => line)
      .toSorted(),
  ]);
  const all = causes.map(({ what }, index) => [what, ...heardBetween(opened, begunAt[index] ?? 0, begunAt[index + 1])]);
  expect(found, JSON.stringify(all, null, 1)).toEqual(
    causes.map(({ what, hears }) => [
      what,
      ['beginning', 'end'].flatMap((word) => hears.map((to) => `${word} to ${to}`)),
    ]),
  );
  expect(pinged.arrived.some(({ method, body }) => method === 'POST' && body.includes('token_revoked'))).toBe(true);
  const shown = [
    daemon.logText(),
    ...(await Promise.all(['/metrics', '/readyz'].map(async (path) => (await daemon.ask(path)).text))),
  ];
  expect(shown.join()).not.toContain(PATH.slice(-12));
}, 300_000);
