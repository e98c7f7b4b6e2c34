/** A reader as the daemon has it, over a real Redis, that can be killed between any two of its writes and started again. */
import type { Redis } from 'ioredis';
import type { Alert, Source } from '../../../src/alert.ts';
import { createAdmission, createBackoffs } from '../../../src/poll/admission.ts';
import { createCursors, createPollLock, type Track } from '../../../src/poll/cursor.ts';
import { createIntake } from '../../../src/poll/intake.ts';
import { createPoller } from '../../../src/poll/poller.ts';
import { createSeen } from '../../../src/poll/seen.ts';
import { type Stream, streamsOf } from '../../../src/poll/stream.ts';
import { createLocks } from '../../../src/redis/lock.ts';
import { createSecret } from '../../../src/secret.ts';
import { createServiceClient, createServiceClock } from '../../../src/service/client.ts';
import { createFeed, pagesOf } from '../../../src/service/feed.ts';
import type { ArrayParams } from '../../../src/service/queries.ts';
import { createListStyles } from '../../../src/service/styles.ts';
import { openCommits } from '../../support/commits.ts';
import { openReadMemory } from '../../support/read-memory.ts';
import { SETTINGS } from './draw.ts';

export type CrashPoint = 'dispatch' | 'queued' | 'remember' | 'advance';

/** Thrown in the middle of a read, as if the process had ended there. */
export class Crash extends Error {}

export interface ReaderOptions {
  redis: Redis;
  prefix: string;
  url: string;
  apiKey: string;
  protocols: readonly string[];
  arrayParams: ArrayParams;
  now(): number;
  random(): number;
  /** Called at each point where the process may end; throws `Crash` to end it there. */
  mayCrash(point: CrashPoint): void;
  onQueued(alerts: readonly Alert[]): void;
  onRemembered(): void;
  onFailed(stream: Stream, error: unknown): void;
  onRead(stream: Stream): void;
  onHeld?(stream: Stream): void;
  onRefused?(): void;
  onListStyle?(style: ArrayParams): void;
  /** Milliseconds for one request. Default 500. */
  timeout?: number;
}

export const SERVICE = 'main';
const SOURCES: readonly Source[] = ['inspections', 'notifications'];

export const createReader = (options: ReaderOptions) => {
  const { redis, prefix, now, mayCrash } = options;
  const styles = createListStyles(options.arrayParams, (style) => options.onListStyle?.(style));
  const client = createServiceClient({
    service: {
      name: SERVICE,
      baseUrl: options.url,
      apiKey: createSecret(options.apiKey),
      timeout: options.timeout ?? 500,
      pageSize: 100,
      arrayParams: options.arrayParams,
    },
    listStyle: styles.current,
    maxBodyBytes: 300_000,
    now,
    monotonic: now,
  });
  const clock = createServiceClock(now);
  const feed = createFeed(client, clock, { assessment: 'critical' }, styles);
  const cursors = createCursors(redis, prefix);
  const seen = createSeen(redis, prefix);
  const { commits } = openCommits(redis, prefix);

  const memory = openReadMemory(redis, prefix, { settings: SETTINGS });
  const { poll } = createPoller({
    pages: (stream, since, signal, thorough) => pagesOf(feed, stream, since, signal, thorough),
    clock: () => clock.now(),
    beginningOf: () => ({ start: clock.now(), position: clock.now(), sweptTo: clock.now() }),
    onCursor: () => {},
    cursors,
    seen,
    commits: {
      remember: async (...writes) => {
        mayCrash('remember');
        await commits.remember(...writes);
        options.onRemembered();
      },
      advance: (...writes) => {
        mayCrash('advance');
        return commits.advance(...writes);
      },
      finish: (...writes) => {
        mayCrash('advance');
        return commits.finish(...writes);
      },
    },
    lock: createPollLock(createLocks(redis, prefix)),
    memory,
    dispatch: async (alerts) => {
      mayCrash('dispatch');
      options.onQueued(alerts);
      mayCrash('queued');
    },
    onPage: async () => {},
    now,
    settings: { ...SETTINGS, assessments: ['critical'] },
  });

  const admission = createAdmission({
    everyMs: SETTINGS.interval,
    concurrency: 20,
    heldForMs: () => client.heldForMs(),
    backoffs: createBackoffs(redis, prefix, { now, monotonic: now }),
    probe: async (_, signal) => {
      await client.listProtocols({ pageSize: 1, hideAssets: true }, signal);
    },
    onRefused: () => options.onRefused?.(),
    monotonic: now,
    random: options.random,
  });

  const intake = createIntake({
    catalog: {
      refresh: () => Promise.reject(new Error('no catalog here')),
      refreshAssets: () => Promise.reject(new Error('no catalog here')),
    },
    admission,
    poll,
    probe: async () => {},
    onProbed: () => {},
    onProbeFailed: () => {},
    onCatalog: async () => {},
    onPolled: (stream, { outcome }) => {
      if (outcome === 'read') options.onRead(stream);
      if (outcome === 'held') options.onHeld?.(stream);
    },
    onPollFailed: options.onFailed,
    onListed: () => {},
    onListMalformed: async () => {},
    onListUnfinished: () => {},
    onListFailed: () => {},
    onAssetsListed: () => {},
    onAssetsFailed: () => {},
    now,
    monotonic: now,
  });

  const signal = new AbortController().signal;
  const tracks = SOURCES.flatMap((source) =>
    options.protocols.map((protocol): Track => ({ service: SERVICE, source, protocol })),
  );
  return {
    tracks,
    streams: streamsOf(SERVICE, options.protocols, SOURCES),
    /** One turn of one stream; gives in how many milliseconds it wants to be taken again. */
    poll: (stream: Stream) => intake.poll(stream, signal),
    /** One turn of every stream. Throws `Crash` where the process ended. */
    turn: async (): Promise<void> => {
      for (const stream of streamsOf(SERVICE, options.protocols, SOURCES)) {
        await intake.poll(stream, signal);
        // A process that ends has not written what its last quiet polls have moved.
        if (options.random() < 0.5) await memory.commit();
      }
    },
    cursors: () => cursors.get(tracks),
    style: styles.current,
    close: () => client.close(),
  };
};

export type Reader = ReturnType<typeof createReader>;
