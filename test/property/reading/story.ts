/** One seed from its first write to its last read: what happens at the service, in between and to the reader. */
import type { Redis } from 'ioredis';
import type { Alert, Source } from '../../../src/alert.ts';
import type { Cursor } from '../../../src/poll/cursor.ts';
import { createRandom, type Random } from '../../../src/sandbox/random.ts';
import type { Quirks } from '../../../src/sandbox/service/quirks.ts';
import { createSandboxService, type SandboxService } from '../../../src/sandbox/service/service.ts';
import type { ArrayParams } from '../../../src/service/queries.ts';
import { drawQuirks, drawStyle, MINUTE, SECOND, SETTINGS } from './draw.ts';
import { createExpected, type Dispatched, notificationKey, type Start } from './expected.ts';
import { Crash, type CrashPoint, createReader, type Reader } from './reader.ts';
import { createWrites } from './writes.ts';

const T0 = Date.UTC(2026, 10, 20, 10);
const PROTOCOLS = ['Vault', 'A/B <b>&_*', 'Ünï 漢字'];
const API_KEY = 'property-key';
const STEPS = 8;

export interface Outcome {
  problems: string[];
  /** What there was to get wrong, so that a test that proves nothing shows. */
  counts: { inspections: number; notifications: number; crashes: number; failures: number; requests: number };
  /** What the seed drew, for people to read. */
  setup: object;
}

interface Cast {
  random: Random;
  time: { now: number };
  quirks: Partial<Quirks>;
  arrayParams: ArrayParams;
  protocols: readonly string[];
  service: SandboxService;
  url: string;
  redis: Redis;
  prefix: string;
}

const dateOf = (value: unknown): number => {
  if (typeof value === 'number') return value < 1e11 ? value * 1000 : value;
  return Date.parse(String(value));
};

const startKey = (source: Source, protocol: string): string => `${source} of ${protocol}`;

/** Every request after an answer that named a wait must come after it. */
const watchHolds = (service: SandboxService, problems: string[]): void => {
  let until = Number.NEGATIVE_INFINITY;
  service.onAnswered(({ at, retryAfter }) => {
    if (at < until) problems.push(`asked ${until - at} ms too soon`);
    if (retryAfter === undefined) return;
    const { clockSkewMs } = service.quirks();
    const end = /^\d+$/.test(retryAfter) ? at + Number(retryAfter) * SECOND : Date.parse(retryAfter) - clockSkewMs;
    until = Math.max(until, end);
  });
};

/** What was queued, how often, and how often it may have been. */
const createTally = (inSeconds: boolean) => {
  const queued: Record<Source, Dispatched[]> = { inspections: [], notifications: [] };
  const times = new Map<string, number>();
  const excused = new Map<string, number>();
  let unremembered: string[] = [];
  const keyOf = ({ source, itemId, item, protocol }: Alert): string =>
    source === 'inspections'
      ? itemId
      : notificationKey(protocol, dateOf(item.createdAt), String(item.message), inSeconds);
  const add = (map: Map<string, number>, id: string): void => {
    map.set(id, (map.get(id) ?? 0) + 1);
  };
  return {
    queued,
    queue: (alerts: readonly Alert[]): void => {
      for (const alert of alerts) {
        queued[alert.source].push({ key: keyOf(alert), id: alert.id });
        add(times, alert.id);
        unremembered.push(alert.id);
      }
    },
    remember: (): void => {
      unremembered = [];
    },
    /** What was queued and not remembered will be queued again. */
    crash: (): void => {
      for (const id of unremembered) add(excused, id);
      unremembered = [];
    },
    problems: (): string[] =>
      [...times].flatMap(([id, count]) => {
        const allowed = 1 + (excused.get(id) ?? 0);
        return count > allowed ? [`${id} was queued ${count} times, of which ${allowed} had to be`] : [];
      }),
  };
};

const createStory = ({ random, time, quirks, arrayParams, protocols, service, url, redis, prefix }: Cast) => {
  const inSeconds = quirks.dateFormat === 'seconds';
  const problems: string[] = [];
  const starts = new Map<string, Start>();
  const lowest = new Map<string, Pick<Cursor, 'position' | 'sweptTo'>>();
  const counts = { crashes: 0, failures: 0 };
  const tally = createTally(inSeconds);
  let crash: { point: CrashPoint; after: number } | undefined;
  let reader: Reader | undefined;

  const expected = createExpected((source, protocol) => starts.get(startKey(source, protocol)), inSeconds);
  const writes = createWrites({ random, time, quirks, protocols, service, expected, inSeconds });
  service.onProduced((produced) => {
    if (produced.source === 'inspections') expected.inspection(produced.item, service.now());
    else expected.notification(produced.item, service.now());
  });

  const open = (): Reader =>
    createReader({
      redis,
      prefix,
      url,
      apiKey: API_KEY,
      protocols,
      arrayParams,
      now: () => time.now,
      random: random.next,
      mayCrash: (point) => {
        if (crash?.point !== point) return;
        crash.after -= 1;
        if (crash.after < 0) throw new Crash(point);
      },
      onQueued: tally.queue,
      onRemembered: tally.remember,
      onRead: ({ source, protocols: names }) => {
        for (const name of names) {
          const start = starts.get(startKey(source, name));
          if (start) start.firstReadAt = Math.min(start.firstReadAt, service.now());
        }
      },
      onFailed: (_stream, error) => {
        counts.failures += 1;
        if (error instanceof Crash) throw error;
      },
    });

  const noteCursors = async (current: Reader): Promise<void> => {
    const cursors = await current.cursors();
    for (const [index, { source, protocol }] of current.tracks.entries()) {
      const cursor = cursors[index];
      if (!cursor) continue;
      const key = startKey(source, protocol);
      const { position, sweptTo } = lowest.get(key) ?? cursor;
      if (cursor.position < position || cursor.sweptTo < sweptTo) problems.push(`a cursor of ${key} went back`);
      lowest.set(key, cursor);
      if (!starts.has(key)) starts.set(key, { start: cursor.start, firstReadAt: Number.POSITIVE_INFINITY });
    }
  };

  const restart = async (): Promise<void> => {
    await reader?.close();
    reader = undefined;
  };

  const turn = async (): Promise<void> => {
    reader ??= open();
    const current = reader;
    try {
      await current.turn();
      if (random.below(10) === 0) await restart();
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      counts.crashes += 1;
      tally.crash();
      crash = undefined;
      await restart();
    }
    await noteCursors(current);
  };

  const happen = (): void => {
    writes.some();
    if (random.chance(0.3)) writes.goWrong();
    if (random.chance(0.2)) {
      crash = { point: random.pick(['dispatch', 'queued', 'remember', 'advance']), after: random.below(4) };
    }
  };

  const pass = (): number => random.pick([5, 15, 15, 15, 30, 70, 20 * 60]) * SECOND;

  /** Nothing goes wrong any more: what was written is read to the end. */
  const calmDown = async (): Promise<void> => {
    service.clearFaults();
    for (let rounds = 0; rounds < 4; rounds += 1) {
      crash = undefined;
      time.now += rounds === 0 ? 2 * MINUTE : SETTINGS.sweepEvery + SECOND;
      await turn();
    }
  };

  return async (): Promise<Omit<Outcome, 'setup'>> => {
    for (let left = random.below(6); left > 0; left -= 1) writes.inspection();
    if (random.chance(0.5)) time.now += 10 * MINUTE;
    watchHolds(service, problems);
    await turn();
    const stay = writes.whileWalked();
    for (let step = 0; step < STEPS; step += 1) {
      time.now += pass();
      happen();
      await turn();
    }
    stay();
    await calmDown();
    await restart();
    problems.push(...tally.problems(), ...expected.problems(tally.queued));
    const requests = service.requests().length;
    return { problems: [...new Set(problems)], counts: { ...expected.counts(), ...counts, requests } };
  };
};

/** Everything under `prefix` in Redis is the seed's own. */
export const playStory = async (seed: number, redis: Redis, prefix: string): Promise<Outcome> => {
  const random = createRandom(`story ${seed}`);
  const time = { now: T0 };
  const quirks = drawQuirks(random);
  const arrayParams = drawStyle(random);
  const protocols = PROTOCOLS.slice(0, 1 + random.below(PROTOCOLS.length));
  const apiKeys = [{ apiKey: API_KEY, protocols: protocols.map((name) => ({ name })) }];
  const service = createSandboxService({ apiKeys, quirks, seed, now: () => time.now });
  const { url } = await service.start();
  try {
    const play = createStory({ random, time, quirks, arrayParams, protocols, service, url, redis, prefix });
    return { ...(await play()), setup: { seed, ...quirks, protocols: protocols.length, configured: arrayParams } };
  } finally {
    await service.stop();
  }
};
