/** Who gets a place, counted by who has ended before; nothing here is measured by the clock. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Claim, createPlaces, type Place } from '../../src/queue/places.ts';
import { until } from '../support/until.ts';

const setUp = (count: number) => {
  const places = createPlaces(count);
  onTestFinished(places.close);
  const started: string[] = [];
  const back: string[] = [];
  const running = new Map<string, () => void>();
  const come = (key: string, destination: string, changes: Partial<Claim> = {}): Promise<void> =>
    places.enter({ key, destination, priority: 1, isDue: false, ...changes }).then((place: Place) => {
      if ('againInMs' in place) back.push(destination);
      else {
        started.push(destination);
        running.set(destination, place.leave);
      }
    });
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const end = async (destination: string): Promise<void> => {
    await turn();
    running.get(destination)?.();
    running.delete(destination);
    await turn();
  };
  return { places, started, back, running, come, end, turn };
};

describe('of one protocol with 500 destinations that hang', () => {
  test('no more than its share runs, and a quiet protocol waits for none of them', async () => {
    const { started, come, turn } = setUp(50);
    for (let n = 0; n < 90; n += 1) void come('busy', `hangs ${n}`);
    await turn();
    expect(started).toHaveLength(40);
    void come('quiet', 'quiet');
    await turn();
    expect(started.at(-1)).toBe('quiet');
  });

  test('those that wait go back into the queue, so that the next in the queue is seen', async () => {
    const { places, started, back, come, turn } = setUp(50);
    for (let n = 0; n < places.jobs; n += 1) void come('busy', `hangs ${n}`);
    await until('one goes back', () => back.length === 1);
    expect(back).toEqual([`hangs ${places.jobs - 1}`]);
    void come('quiet', 'quiet');
    await turn();
    expect(started.at(-1)).toBe('quiet');
  });

  test('the next place goes to another protocol, although more of this one wait for longer', async () => {
    const { started, come, end } = setUp(50);
    for (let n = 0; n < 90; n += 1) void come('busy', `busy ${n}`);
    for (let n = 0; n < 5; n += 1) void come('other', `other ${n}`);
    await end('busy 0');
    await end('busy 1');
    await end('busy 2');
    expect(started.slice(40)).toEqual(['other 0', 'other 1', 'other 2']);
  });
});

test('one slow destination with many jobs leaves the places to a healthy one of the same protocol', async () => {
  const { places, started, come, end, turn } = setUp(50);
  places.note('slow', { durationMs: 10_000 });
  for (let n = 0; n < 40; n += 1) void come('a', 'slow');
  for (let n = 0; n < 40; n += 1) void come('a', 'healthy');
  await turn();
  expect(started.filter((destination) => destination === 'slow')).toHaveLength(4);
  expect(started.filter((destination) => destination === 'healthy')).toHaveLength(8);
  for (let n = 0; n < 5; n += 1) await end('healthy');
  expect(started.filter((destination) => destination === 'healthy')).toHaveLength(13);
});

test('a destination that fails has one place, and a message that it takes gives it back its share', async () => {
  const { places, started, come, end, turn } = setUp(50);
  places.note('broken', { reason: 'unavailable', durationMs: 15_000 });
  for (let n = 0; n < 10; n += 1) void come('a', 'broken');
  await turn();
  expect(started).toHaveLength(1);
  places.note('broken', { durationMs: 10 });
  await end('broken');
  expect(started).toHaveLength(1 + 8);
});

test('urgent jobs start before others that came earlier', async () => {
  const { started, come, end } = setUp(2);
  void come('a', 'runs');
  void come('a', 'replay', { priority: 2_000_000 });
  void come('a', 'waits for its slot', { isDue: true });
  void come('a', 'critical');
  await end('runs');
  await end('waits for its slot');
  await end('critical');
  expect(started).toEqual(['runs', 'waits for its slot', 'critical', 'replay']);
});

test('when it is closed, what waits or comes goes back', async () => {
  const { places, started, back, come, end } = setUp(2);
  void come('a', 'runs');
  void come('a', 'waits');
  places.close();
  await come('b', 'comes');
  await end('runs');
  expect([started, back]).toEqual([['runs'], ['waits', 'comes']]);
});

describe('a probe', () => {
  test('of a destination that hangs is short, but every third one', () => {
    const { places } = setUp(2);
    const hangs = { reason: 'unavailable', durationMs: 15_000 };
    const found = Array.from({ length: 5 }, () => {
      const ms = places.probeMs('d');
      places.note('d', hangs);
      return ms;
    });
    expect(found).toEqual([undefined, 5000, 5000, undefined, 5000]);
  });

  test('is the whole timeout where a destination fails at once, or only asked us to wait', () => {
    const { places } = setUp(2);
    places.note('d', { reason: 'unavailable', durationMs: 3 });
    expect(places.probeMs('d')).toBeUndefined();
    places.note('d', { reason: 'rate-limited', durationMs: 3 });
    expect(places.probeMs('d')).toBeUndefined();
  });

  test('is longer where answers took long when it worked', () => {
    const { places } = setUp(2);
    places.note('d', { durationMs: 8000 });
    places.note('d', { reason: 'unavailable', durationMs: 15_000 });
    expect(places.probeMs('d')).toBe(16_000);
  });
});
