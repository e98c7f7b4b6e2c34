import { expect, test } from 'vitest';
import type { Alert, HumanKind } from '../src/alert.ts';
import { createPresentation } from '../src/channels/content/presentation.ts';
import { composeEmail } from '../src/channels/email/message.ts';
import { composeSlack } from '../src/channels/slack/message.ts';
import { composeTelegram } from '../src/channels/telegram/message.ts';
import { WEBHOOK_FORMATS } from '../src/channels/webhook/formats/names.ts';
import { formatOf } from '../src/channels/webhook/formats/registry.ts';
import { AT_ONCE, atOnce, inSlices, mapSliced, type Sliced, slice } from '../src/chunks.ts';
import { destinationOf } from './support/alerts.ts';
import { storm } from './support/parcels.ts';

/** Pauses at every stop that there is, and notes what was done up to it. */
const pausing = (done: () => number) => {
  const slices: number[] = [];
  let before = 0;
  let time = 0;
  const yieldNow = async (): Promise<void> => {
    slices.push(done() - before);
    before = done();
  };
  const monotonic = (): number => {
    time += 1000;
    return time;
  };
  return { slices, pauses: { yieldNow, monotonic } };
};

test('entries are done a few at a time, all of them and in order', async () => {
  const done: number[] = [];
  const { slices, pauses } = pausing(() => done.length);
  const work = mapSliced(
    Array.from({ length: 1001 }, (_, n) => n),
    (n) => {
      done.push(n);
      return -n;
    },
  );
  expect(await inSlices(work, pauses)).toEqual(done.map((n) => -n));
  expect(Math.max(...slices)).toBe(AT_ONCE);
});

test('there is no pause as long as little time has passed', async () => {
  const pauses: true[] = [];
  const time = { now: 0 };
  const work = mapSliced(
    Array.from({ length: 100 * AT_ONCE }, (_, n) => n),
    () => {
      time.now += 0.1;
    },
  );
  await inSlices(work, { yieldNow: async () => pauses.push(true), monotonic: () => time.now });
  // 200 ms of work.
  expect(pauses.length).toBeGreaterThanOrEqual(15);
  expect(pauses.length).toBeLessThanOrEqual(20);
});

test('what fails in a slice fails as a whole', async () => {
  const fails = () =>
    slice(() => {
      throw new Error('no');
    });
  await expect(inSlices(fails())).rejects.toThrow('no');
  expect(() => atOnce(fails())).toThrow('no');
});

/** Counts the alerts whose detections are read: that is what composing costs. */
const counted = (alerts: readonly Alert[]) => {
  let reads = 0;
  const watched = alerts.map((alert) => ({
    ...alert,
    item: Object.defineProperty({ ...alert.item }, 'detections', {
      enumerable: true,
      get: () => {
        reads += 1;
        return alert.item.detections;
      },
    }),
  }));
  return { alerts: watched, reads: () => reads };
};

const context = { sentAt: '2026-11-20T12:00:00.000Z', presentation: createPresentation() };
type Compose = (alerts: Alert[], format: 'rich' | 'minimal') => Sliced<unknown[]>;
const KINDS: [string, Compose][] = [
  ...Object.entries({
    email: (alerts, format) =>
      composeEmail({ destination: destinationOf('email', 'a@x.example'), alerts }, { ...context, format }),
    slack: (alerts, format) =>
      composeSlack({ destination: destinationOf('slack', 'C1'), alerts }, { ...context, format }, true),
    telegram: (alerts, format) =>
      composeTelegram({ destination: destinationOf('telegram', '1'), alerts }, { ...context, format }),
  } satisfies Record<HumanKind, Compose>),
  ...WEBHOOK_FORMATS.map((name): [string, Compose] => [
    `webhook as ${name}`,
    (alerts, format) => {
      const parcel = { destination: destinationOf('webhook', 'https://x.example'), alerts };
      return formatOf(name).compose(parcel, { ...context, format }, { batch: 1 });
    },
  ]),
];

test.each(KINDS)('%s: no slice of a digest of 1,000 describes more than a few alerts', async (_kind, compose) => {
  for (const format of ['rich', 'minimal'] as const) {
    const { alerts, reads } = counted(storm(1000));
    const { slices, pauses } = pausing(reads);
    expect((await inSlices(compose(alerts, format), pauses)).length).toBeGreaterThan(0);
    // A few reads for each alert that is described.
    expect(Math.max(...slices)).toBeLessThanOrEqual(4 * AT_ONCE);
    expect(slices.length).toBeGreaterThanOrEqual(1000 / AT_ONCE);
  }
});
