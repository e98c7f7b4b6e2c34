/** A service in trouble: how often it is asked, who waits, and how soon all go on. Time is simulated. */
import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import type { Stream } from '../../src/poll/stream.ts';
import { createSandboxService } from '../../src/sandbox/service/service.ts';
import { createReader, type ReaderOptions } from '../property/reading/reader.ts';
import { openTestRedis } from '../support/redis.ts';

const T0 = Date.UTC(2026, 10, 20, 10);
const API_KEY = 'trouble-key';
const INTERVAL = 15_000;
const SECOND = 1000;

const namesUpTo = (count: number): string[] => Array.from({ length: count }, (_, n) => `Protocol ${n}`);

const setUp = async (count = 5, changes: Partial<ReaderOptions> = {}) => {
  const time = { now: T0 };
  const protocols = namesUpTo(count);
  const apiKeys = [{ apiKey: API_KEY, protocols: protocols.map((name) => ({ name })) }];
  const service = createSandboxService({ apiKeys, now: () => time.now });
  onTestFinished(() => service.stop());
  const { url } = await service.start();
  const { redis } = openTestRedis();
  const prefix = `{trouble-${randomUUID()}}`;
  const queued: Alert[] = [];
  const seen = { read: [] as string[], held: [] as string[], failed: [] as string[], refused: 0 };
  const nameOf = ({ source, protocols: names }: Stream): string => `${source} of ${names.join()}`;

  const openReader = () => {
    const reader = createReader({
      redis,
      prefix,
      url,
      apiKey: API_KEY,
      protocols,
      arrayParams: 'repeat',
      now: () => time.now,
      random: () => 0.5,
      mayCrash: () => {},
      onQueued: (alerts) => queued.push(...alerts),
      onRemembered: () => {},
      onRead: (stream) => seen.read.push(nameOf(stream)),
      onHeld: (stream) => seen.held.push(nameOf(stream)),
      onFailed: (stream) => seen.failed.push(nameOf(stream)),
      onRefused: () => {
        seen.refused += 1;
      },
      ...changes,
    });
    onTestFinished(() => reader.close());
    return reader;
  };
  const reader = openReader();

  /** What happens in one turn of every stream, and the requests that came of it. */
  const turnOf = async (which = reader) => {
    Object.assign(seen, { read: [], held: [], failed: [] });
    service.clearRequests();
    await which.turn();
    return { ...seen, requests: service.requests() };
  };
  return { service, time, reader, openReader, turnOf, queued, protocols };
};

describe('a wait that the service names', () => {
  test.each([
    ['429 with seconds', 429, 20],
    ['503 with seconds', 503, 20],
    ['429 with a date', 429, new Date(T0 + 20 * SECOND).toUTCString()],
  ])('holds every poll of its key until it is over: %s', async (_, status, retryAfter) => {
    const { service, time, turnOf } = await setUp();
    service.addFault({ fault: { kind: 'status', status, retryAfter } });
    const first = await turnOf();
    expect(first.requests).toHaveLength(1);
    expect(first.failed).toHaveLength(1);
    expect(first.held).toHaveLength(5);
    for (const passed of [0, 5, 19.9]) {
      time.now = T0 + passed * SECOND;
      const { requests, held } = await turnOf();
      expect(requests).toEqual([]);
      expect(held).toHaveLength(6);
    }
    time.now = T0 + 20 * SECOND;
    expect((await turnOf()).read).toHaveLength(6);
  });

  test('counts for other daemons and after a restart', async () => {
    const { service, time, turnOf, openReader } = await setUp();
    service.addFault({ fault: { kind: 'status', status: 429, retryAfter: 30 } });
    await turnOf();
    const other = openReader();
    expect((await turnOf(other)).requests).toEqual([]);
    time.now += 30 * SECOND;
    expect((await turnOf(other)).read).toHaveLength(6);
  });

  test('short of a turn, brings the polls back in another order after it', async () => {
    const { service, reader, turnOf } = await setUp(1);
    service.addFault({ fault: { kind: 'status', status: 429, retryAfter: 4 } });
    await turnOf();
    const [stream] = reader.streams;
    if (!stream) throw new Error('no stream');
    expect(await reader.poll(stream)).toBe(4 * SECOND + INTERVAL / 2);
    service.addFault({ fault: { kind: 'status', status: 429, retryAfter: 60 } });
  });

  test('in the middle of a walk, keeps what was read and goes on after it', async () => {
    const { service, time, turnOf, queued, protocols } = await setUp(1);
    await turnOf();
    service.changeQuirks({ maxPageSize: 10, firstPage: 0 });
    const [protocol = ''] = protocols;
    for (let n = 0; n < 45; n += 1) {
      service.insertInspection({ protocol, assessment: 'critical', createdAt: T0 + n * 100 });
    }
    time.now += 10 * SECOND;
    service.addFault({ fault: { kind: 'status', status: 429, retryAfter: 10 }, after: 2 });
    await turnOf();
    expect(queued).toHaveLength(20);
    time.now += 10 * SECOND;
    await turnOf();
    expect(new Set(queued.map(({ itemId }) => itemId)).size).toBe(45);
    expect(queued).toHaveLength(45);
  });
});

describe('a key that is refused', () => {
  test('is asked about once a turn, said once, and works again at once', async () => {
    const { service, time, turnOf } = await setUp();
    await turnOf();
    const mend = service.addFault({ fault: { kind: 'status', status: 401 }, times: Number.POSITIVE_INFINITY });
    time.now += INTERVAL;
    const first = await turnOf();
    expect(first.requests.map(({ endpoint }) => endpoint)).toEqual(['listInspections', 'listProtocols']);
    for (let turns = 0; turns < 4; turns += 1) {
      time.now += INTERVAL;
      const { requests, held, failed, refused } = await turnOf();
      expect(requests.map(({ endpoint }) => endpoint)).toEqual(['listProtocols']);
      expect([held.length, failed.length, refused]).toEqual([6, 0, 1]);
    }
    mend();
    time.now += INTERVAL;
    expect((await turnOf()).read).toHaveLength(6);
  });

  test('for one protocol only does not touch the others', async () => {
    const { service, time, turnOf } = await setUp();
    service.addFault({
      fault: { kind: 'status', status: 403 },
      protocol: 'Protocol 2',
      endpoint: 'listInspections',
      times: Number.POSITIVE_INFINITY,
    });
    for (let turns = 0; turns < 3; turns += 1) {
      const { read, failed, held, refused } = await turnOf();
      expect(failed).toEqual(['inspections of Protocol 2']);
      expect([read.length, held.length, refused]).toEqual([5, 0, 0]);
      time.now += INTERVAL;
    }
  });
});

describe('a service that is away', () => {
  test('is not asked for every protocol, and is read at once when it is back', async () => {
    const { service, time, turnOf } = await setUp(40);
    await turnOf();
    await service.stop();
    time.now += INTERVAL;
    const { failed, held } = await turnOf();
    expect(failed.length).toBeLessThanOrEqual(4);
    expect(failed.length + held.length).toBe(41);
    await service.start();
    time.now += INTERVAL;
    expect((await turnOf()).read).toHaveLength(41);
  });

  test('or fails at everything, likewise', async () => {
    const { service, time, turnOf } = await setUp(40);
    await turnOf();
    service.addFault({ fault: { kind: 'status', status: 500 }, times: Number.POSITIVE_INFINITY });
    for (let turns = 0; turns < 3; turns += 1) {
      time.now += INTERVAL;
      expect((await turnOf()).requests.length).toBeLessThanOrEqual(4);
    }
    service.clearFaults();
    time.now += INTERVAL;
    expect((await turnOf()).read).toHaveLength(41);
  });

  test('three protocols that never answer do not hold up the rest', async () => {
    const { service, time, reader, turnOf } = await setUp(60, { timeout: 200 });
    for (const protocol of ['Protocol 7', 'Protocol 20', 'Protocol 41']) {
      service.addFault({
        fault: { kind: 'hang' },
        protocol,
        endpoint: 'listInspections',
        times: Number.POSITIVE_INFINITY,
      });
    }
    for (let turns = 0; turns < 3; turns += 1) {
      const { read, failed, held } = await turnOf();
      expect([read.length, failed.length, held.length]).toEqual([59, 3, 0]);
      time.now += INTERVAL;
    }
    expect(reader.streams).toHaveLength(62);
  });

  test('many that never answer share a few places', async () => {
    const { service, reader } = await setUp(60, { timeout: 100 });
    service.addFault({ fault: { kind: 'hang' }, endpoint: 'listInspections', times: Number.POSITIVE_INFINITY });
    const hanging = reader.streams.filter(({ source }) => source === 'inspections').slice(0, 12);
    // One that works between two that do not, so that the service is not taken for being away.
    const [, working] = reader.streams.filter(({ source }) => source === 'notifications');
    for (const stream of hanging) {
      await reader.poll(stream);
      if (working) await reader.poll(working);
    }
    service.clearRequests();
    await Promise.all(hanging.map((stream) => reader.poll(stream)));
    expect(service.requests()).toHaveLength(5);
  });
});

describe('lists in another style than the config says', () => {
  test.each([
    ['brackets', 'reject'],
    ['brackets', 'nothing'],
    ['comma', 'reject'],
  ] as const)('are found out by what is shown: %s, otherwise %s', async (style, withoutNames) => {
    const styles: string[] = [];
    const { service, time, turnOf, queued, protocols } = await setUp(3, { onListStyle: (found) => styles.push(found) });
    service.changeQuirks({ arrayParams: style, withoutNames });
    await turnOf();
    for (const protocol of protocols) service.insertNotification({ protocol, message: `of ${protocol}` });
    for (let turns = 0; turns < 6; turns += 1) {
      time.now += INTERVAL;
      await turnOf();
    }
    expect(queued.map(({ protocol }) => protocol).toSorted()).toEqual(protocols);
    expect(styles).toEqual([style]);
    time.now += INTERVAL;
    const { requests } = await turnOf();
    const asked = requests.filter(({ endpoint }) => endpoint === 'listNotifications');
    expect(asked).toHaveLength(2);
    for (const { query } of asked) {
      expect(query[style === 'brackets' ? 'protocolName[]' : 'protocolName']).toHaveLength(style === 'comma' ? 1 : 3);
    }
  });
});
