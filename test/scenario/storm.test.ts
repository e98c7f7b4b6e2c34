/**
 * A storm: more alerts than any channel carries, against receivers that enforce their platforms' limits. A small one here;
 * the one that the promise names is `TOCSIN_STORM=5000 npx vitest run test/scenario/storm.test.ts`.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CHANNEL_KINDS } from '../../src/alert.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

const COUNT = Number(process.env.TOCSIN_STORM ?? 600);
/** At the same pace as 5,000 in 30 s. */
const STORM_MS = COUNT * 6;
const STEP_MS = 100;
const QUIET_MS = 4000;

/** As each platform publishes them; the receivers are stricter than we are nowhere. */
const PACE = {
  slack: { rateLimit: { perSecond: 1, burst: 3 } },
  telegram: { rateLimit: { perSecond: 1, perMinute: 20, burst: 3 } },
};

/** By kind: when each transaction first arrived at the protocol's destination, in epoch milliseconds. */
const watchArrivals = ({ sandbox }: World, isOf: (destination: string) => boolean) => {
  const first = new Map(CHANNEL_KINDS.map((kind) => [kind, new Map<string, number>()]));
  const produced = new Map<string, number>();
  sandbox.onEvent((event) => {
    if (event.type === 'produced') produced.set(event.txHash ?? '', Date.now());
    if (event.type !== 'received' || !isOf(event.destination)) return;
    const known = first.get(event.kind);
    for (const hash of event.txHashes) if (known && !known.has(hash)) known.set(hash, Date.now());
  });
  return { first, produced };
};

const blow = async (world: World, quiet: string[]): Promise<string[]> => {
  const hashes: string[] = [];
  const begun = Date.now();
  while (hashes.length < COUNT) {
    const due = Math.min(COUNT, Math.ceil(((Date.now() - begun + STEP_MS) / STORM_MS) * COUNT));
    hashes.push(...world.critical('Storm', due - hashes.length).map(({ txHash }) => txHash.toLowerCase()));
    if (quiet.length * QUIET_MS <= Date.now() - begun) {
      quiet.push(...world.critical('Quiet').map(({ txHash }) => txHash.toLowerCase()));
    }
    await delay(STEP_MS);
  }
  return hashes;
};

test('reaches every destination whole, in few messages, within the limits, and harms no other protocol', {
  timeout: 240_000,
}, async () => {
  const world = await startWorld({
    names: ['Storm', 'Quiet'],
    enforceRates: true,
    config: { channels: PACE, alerts: { secondLook: [] } },
  });
  const { sandbox, reconciler } = world;
  const isStorm = (destination: string): boolean => /storm|4200000000|C0SANDBOX01/.test(destination);
  const storm = watchArrivals(world, isStorm);
  const calm = watchArrivals(world, (destination) => !isStorm(destination));
  const daemon = await world.start();
  await daemon.watching();

  const begun = Date.now();
  const quiet: string[] = [];
  const hashes = await blow(world, quiet);
  const counts = () => CHANNEL_KINDS.map((kind) => storm.first.get(kind)?.size ?? 0);
  await until('every transaction reached every kind', () => counts().every((count) => count >= COUNT), 180_000);
  const tookMs = Date.now() - begun;
  await until('the quiet protocol is sent', () =>
    CHANNEL_KINDS.every((kind) => calm.first.get(kind)?.size === quiet.length),
  );
  await daemon.idle();

  for (const kind of CHANNEL_KINDS) {
    expect(new Set(storm.first.get(kind)?.keys())).toEqual(new Set(hashes));
    expect(new Set(calm.first.get(kind)?.keys())).toEqual(new Set(quiet));
  }
  const messages = Object.fromEntries(
    CHANNEL_KINDS.map((kind) => [
      kind,
      sandbox.received().filter((one) => one.kind === kind && isStorm(one.destination)),
    ]),
  );
  const { slack, telegram, smtp, webhook } = sandbox.receivers;
  const attempts = [slack, telegram, smtp, webhook].flatMap((receiver) => receiver.attempts());
  const limited = attempts.filter(({ outcome }) => outcome === 'limited');
  expect(messages.telegram?.length).toBeLessThanOrEqual(60);
  expect(messages.webhook).toHaveLength(COUNT);
  expect(limited.length).toBeLessThanOrEqual(5);
  const { doubled, ...rest } = reconciler.balance();
  expect(rest).toEqual({ missing: [], unexpected: [] });
  // Slack's digest names the worst itself, and everything in the file below it.
  expect(doubled.filter((line) => !line.startsWith('slack'))).toEqual([]);
  if (process.env.TOCSIN_STORM !== undefined) {
    const rows = CHANNEL_KINDS.map((kind) => `${kind} ${messages[kind]?.length}`).join(', ');
    const waits = CHANNEL_KINDS.map((kind) =>
      Math.max(...[...(calm.first.get(kind) ?? [])].map(([hash, at]) => at - (calm.produced.get(hash) ?? 0))),
    );
    process.stdout.write(
      `${COUNT} in ${STORM_MS} ms: all told after ${tookMs} ms; messages: ${rows}; 429: ${limited.length}; ` +
        `the quiet protocol waited at most ${waits.join(', ')} ms\n`,
    );
  }
});
