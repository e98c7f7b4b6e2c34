/** What an older commit left behind, brought into a world as if its daemon had stopped ten minutes ago. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { DeliveryRecord } from '../../src/ledger/record.ts';
import type { World } from './world.ts';

type Kept =
  | { type: 'string'; ttlMs?: number; value: string }
  | { type: 'hash'; ttlMs?: number; value: Record<string, string> }
  /** Of a sorted set: member, score, member, score. */
  | { type: 'list' | 'set' | 'zset'; ttlMs?: number; value: string[] };

interface Fixture {
  /** ISO 8601. */
  writtenAt: string;
  /** Of `state.json`. */
  state: object;
  redis: Record<string, Kept>;
}

/** Every retry, rate limit and deadline of the fixture is due then; its mute still holds. */
const STOPPED_FOR_MS = 600_000;
const NEAR_MS = 40 * 86_400_000;
/** BullMQ's delayed set: the time in milliseconds, times this, plus a number. */
const SCORE_UNIT = 4096;

export const readFixture = async (): Promise<Fixture> =>
  JSON.parse(await readFile(new URL('upgrade.fixture.json', import.meta.url), 'utf8')) as Fixture;

const isoPattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const epochPattern = /\b1[78]\d{11}\b/g;

/** Moves every time in a text by `deltaMs`. */
const createShift = (writtenAt: number, deltaMs: number) => (text: string) =>
  text
    .replace(isoPattern, (iso) => new Date(Date.parse(iso) + deltaMs).toISOString())
    .replace(epochPattern, (epoch) =>
      Math.abs(Number(epoch) - writtenAt) < NEAR_MS ? String(Number(epoch) + deltaMs) : epoch,
    );

const put = async (redis: Redis, key: string, { type, value }: Kept): Promise<void> => {
  if (type === 'string') await redis.set(key, value);
  else if (type === 'hash') await redis.hset(key, value);
  else if (type === 'list') await redis.rpush(key, ...value);
  else if (type === 'set') await redis.sadd(key, ...value);
  else for (let n = 0; n < value.length; n += 2) await redis.zadd(key, value[n + 1] ?? '', value[n] ?? '');
};

/** Puts the fixture into the world's Redis and data directory. */
export const loadFixture = async (
  { writtenAt, state, redis: kept }: Fixture,
  redis: Redis,
  { prefix, addresses, dataDir }: Pick<World, 'prefix' | 'addresses' | 'dataDir'>,
): Promise<void> => {
  const at = Date.parse(writtenAt);
  const deltaMs = Date.now() - STOPPED_FOR_MS - at;
  const shift = createShift(at, deltaMs);
  const place = (text: string): string =>
    shift(text).replaceAll('{upgrade}', prefix).replaceAll('http://WEBHOOK', addresses.webhook.url);
  for (const [name, one] of Object.entries(kept)) {
    const ttlMs = one.ttlMs === undefined ? undefined : one.ttlMs - STOPPED_FOR_MS;
    if (ttlMs !== undefined && ttlMs <= 0) continue;
    const isDelayed = name.endsWith(':delayed') && one.type === 'zset';
    const value: unknown = isDelayed
      ? one.value.map((text, n) => (n % 2 === 1 ? String(Number(text) + deltaMs * SCORE_UNIT) : place(text)))
      : JSON.parse(place(JSON.stringify(one.value)));
    await put(redis, place(name), { ...one, value } as Kept);
    if (ttlMs !== undefined) await redis.pexpire(place(name), ttlMs);
  }
  await writeFile(join(dataDir, 'state.json'), shift(JSON.stringify(state)));
};

/** A delivery of the fixture's ledger, for an alert of a transaction. */
export interface LeftDelivery {
  txHash: string;
  /** The destination's id. */
  destination: string;
  state: DeliveryRecord['state'];
}

export const deliveriesOf = ({ redis }: Fixture): LeftDelivery[] =>
  Object.entries(redis).flatMap(([key, one]) => {
    if (!key.startsWith('{upgrade}:alert:') || one.type !== 'hash') return [];
    const { alert = '{}', open: _open, ...records } = one.value;
    const { txHash } = JSON.parse(alert) as { txHash?: string };
    if (txHash === undefined) return [];
    return Object.entries(records).map(([destination, json]) => ({
      txHash,
      destination,
      state: (JSON.parse(json) as DeliveryRecord).state,
    }));
  });
