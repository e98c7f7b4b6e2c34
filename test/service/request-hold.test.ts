import { describe, expect, test } from 'vitest';
import { createServiceClock } from '../../src/service/client.ts';
import { createHold } from '../../src/service/request.ts';
import { until } from '../support/until.ts';
import { clientOf, failureOf, never, serve } from './harness.ts';

const HOUR = 3_600_000;

describe('a wait that the service named', () => {
  test('is counted down, and a shorter one does not cut it short', () => {
    const time = { now: 1000 };
    const hold = createHold(() => time.now);
    expect(hold.leftMs()).toBe(0);
    hold.observe(undefined);
    expect(hold.leftMs()).toBe(0);
    hold.observe(5000);
    time.now += 1000;
    hold.observe(1000);
    expect(hold.leftMs()).toBe(4000);
    time.now += 4000;
    expect(hold.leftMs()).toBe(0);
  });

  test('is no hour longer where our wall clock is set back by an hour', async () => {
    const time = { wall: 10 * HOUR, monotonic: 0 };
    const origin = await serve((_request, response) => response.writeHead(429, { 'retry-after': '5' }).end());
    const client = clientOf(origin, { now: () => time.wall, monotonic: () => time.monotonic });
    await failureOf(client.listProtocols({}, never));
    expect(client.heldForMs()).toBe(5000);
    time.wall -= HOUR;
    expect(client.heldForMs()).toBe(5000);
    time.monotonic += 5000;
    expect(client.heldForMs()).toBe(0);
  });

  test('is a slip beyond a day', () => {
    const hold = createHold(() => 0);
    hold.observe(1000 * 24 * HOUR);
    expect(hold.leftMs()).toBe(24 * HOUR);
  });

  test.each([
    ['429 with seconds', 429, '20', 20_000],
    ['503 with seconds', 503, '20', 20_000],
    ['a date, by the clock of the answer', 503, new Date(30_000).toUTCString(), 20_000],
  ])('keeps the client from asking anything: %s', async (_, status, retryAfter, waitMs) => {
    const time = { now: 1_000_000 };
    let requests = 0;
    const origin = await serve((_request, response) => {
      requests += 1;
      response.setHeader('date', new Date(10_000).toUTCString());
      if (requests === 1) response.writeHead(status, { 'retry-after': retryAfter }).end();
      else response.end('{"page":[]}');
    });
    const client = clientOf(origin, { now: () => time.now, monotonic: () => time.now });
    expect((await failureOf(client.listProtocols({}, never))).retryAfterMs).toBe(waitMs);
    for (const ask of [
      () => client.listProtocols({}, never),
      () => client.settings('Vault', never),
      () => client.listInspections({ protocol: 'Vault' }, never),
      () => client.createProtocol({ protocolName: 'Vault' }, never),
    ]) {
      const error = await failureOf(ask());
      expect(error).toMatchObject({ reason: 'held', retryAfterMs: waitMs });
    }
    time.now += waitMs - 1;
    expect(client.heldForMs()).toBe(1);
    expect((await failureOf(client.listProtocols({}, never))).reason).toBe('held');
    time.now += 1;
    await client.listProtocols({}, never);
    expect(requests).toBe(2);
  });

  test('holds as soon as the headers are there, not when the body is', async () => {
    let requests = 0;
    const origin = await serve((_, response) => {
      requests += 1;
      response.writeHead(429, { 'retry-after': '60' }).write('{"message":');
    });
    const client = clientOf(origin, { timeout: 400 });
    const first = failureOf(client.listProtocols({}, never));
    await until('the wait is known', () => client.heldForMs() > 0);
    expect((await failureOf(client.listProtocols({}, never))).reason).toBe('held');
    expect((await first).reason).toBe('limited');
    expect(requests).toBe(1);
  });
});

describe("the service's clock", () => {
  const setUp = () => {
    const time = { now: 1_000_000 };
    return { time, clock: createServiceClock(() => time.now) };
  };

  test('is ours before the first answer, and where an answer names no time', () => {
    const { clock } = setUp();
    clock.observe(undefined);
    expect(clock.now()).toBe(1_000_000);
  });

  test.each([90_000, -90_000])('is learnt from the answers (%i ms)', (skew) => {
    const { clock, time } = setUp();
    clock.observe(time.now + skew);
    time.now += 5000;
    expect(clock.now()).toBe(time.now + skew);
  });

  test('is not moved ahead by the answers of one bad node, but by many in a row', () => {
    const { clock, time } = setUp();
    clock.observe(time.now);
    for (let answer = 0; answer < 7; answer += 1) clock.observe(time.now + 3_600_000 + answer);
    expect(clock.now()).toBe(time.now);
    clock.observe(time.now);
    clock.observe(time.now + 3_600_000);
    expect(clock.now()).toBe(time.now);
    for (let answer = 0; answer < 7; answer += 1) clock.observe(time.now + 90_000);
    expect(clock.now()).toBe(time.now + 90_000);
  });

  test('that is ahead stays as it was where one answer is further ahead', () => {
    const { clock, time } = setUp();
    for (let answer = 0; answer < 8; answer += 1) clock.observe(time.now + 90_000);
    clock.observe(time.now + 3_600_000);
    expect(clock.now()).toBe(time.now + 90_000);
  });

  test('is never taken to be later than it may be', () => {
    const { clock, time } = setUp();
    // The true skew is nothing; the header has lost its milliseconds, and the answer took a while.
    clock.observe(time.now - 1900);
    expect(clock.now()).toBe(time.now - 1900);
    clock.observe(time.now + 1900);
    expect(clock.now()).toBe(time.now);
  });
});
