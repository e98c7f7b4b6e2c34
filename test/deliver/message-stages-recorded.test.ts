import { expect, test } from 'vitest';
import { noteDelivered, whenRecorded } from '../../src/deliver/message-stages.ts';
import { parcelJob } from '../../src/queue/job.ts';
import { destinationOf } from '../support/alerts.ts';
import { jobRun } from '../support/delivery-runs.ts';

/** One job of so many that run, just after the ledger has confirmed its first end. */
const setUp = async (jobs: number, most: number) => {
  const time = { now: 0 };
  const inFlight = { jobs, unrecorded: 0, most };
  const run = jobRun(parcelJob({ destination: destinationOf('webhook', 'https://example.com'), alerts: [] }));
  const deliver = () => {
    const recording = Promise.withResolvers<boolean>();
    let goesOn = false;
    const noted = noteDelivered(run, recording.promise, { inFlight, monotonic: () => time.now }).then((isRepeat) => {
      goesOn = true;
      return isRepeat;
    });
    return { ...recording, noted, goesOn: () => goesOn };
  };
  const first = deliver();
  first.resolve(false);
  await first.noted;
  return { deliver, inFlight, run, time };
};
const settled = () => new Promise(setImmediate);

test('a job waits until its first end is recorded', async () => {
  const { deliver, run, time } = await setUp(1, 20);
  time.now = 60_000;
  await whenRecorded(run);
  const late = deliver();
  await settled();
  expect(late.goesOn()).toBe(false);
  late.resolve(true);
  expect(await late.noted).toBe(true);
});

test('after that it goes on while fewer messages are in flight than jobs may run', async () => {
  const { deliver, inFlight } = await setUp(18, 20);
  const [one, two, three] = [deliver(), deliver(), deliver()];
  await settled();
  expect([one, two, three].map(({ goesOn }) => goesOn())).toEqual([true, true, false]);
  one.resolve(false);
  expect(await three.noted).toBe(false);
  expect(inFlight.unrecorded).toBe(2);
});

test('where all jobs run, each waits for each of its ends', async () => {
  const { deliver } = await setUp(20, 20);
  const one = deliver();
  await settled();
  expect(one.goesOn()).toBe(false);
  one.resolve(false);
  expect(await one.noted).toBe(false);
});

test('an end that cannot be recorded is in flight no more, and ends the run', async () => {
  const { deliver, inFlight, run } = await setUp(1, 20);
  const one = deliver();
  one.reject(new Error('Redis is away'));
  await expect(whenRecorded(run)).rejects.toThrow('Redis is away');
  expect(inFlight.unrecorded).toBe(0);
});
