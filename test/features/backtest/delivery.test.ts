/** A forecast is what delivery then does: the same arrivals through both. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Destination, Parcel } from '../../../src/alert.ts';
import { incidentsOf, messagesOf } from '../../../src/channels/incidents.ts';
import { mapSliced, slice } from '../../../src/chunks.ts';
import type { Pace, Rate } from '../../../src/deliver/rate-limit-rule.ts';
import { createSimulatedDelivery, type SimulatedMessage } from '../../../src/features/backtest/delivery.ts';
import { createMemoryLedger } from '../../../src/features/backtest/in-memory.ts';
import { createTimeline } from '../../../src/features/backtest/timeline.ts';
import { destinationOf } from '../../support/alerts.ts';
import { DESTINATION, INCIDENT_WINDOW_MS, OTHER, range, setUpDeliveries } from '../../support/deliveries.ts';
import { hashOf, makeAlert } from '../../support/numbered.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');

/** A parcel that dispatch queues. */
interface Arrival {
  /** When its job may run, in epoch milliseconds. */
  at: number;
  parcel: Parcel;
  /** Of it only what `uncovered` gives by then is sent. */
  unlessCovered?: true;
}

interface Setting {
  rate?: Rate;
  sender?: Pace;
  shared?: string;
  isBatched?: boolean;
  /** Default: messages do not wait for more. */
  groupWaitMs?: number;
  /** Default: as for `setUpDeliveries`. */
  incidentWindowMs?: number;
}

/** As the channel of `setUpDeliveries`. */
const body = () => slice(() => undefined);
const forPeople = (parcel: Parcel) => messagesOf(parcel, { single: body, digest: body });
const forPrograms = ({ destination, alerts }: Parcel) =>
  mapSliced(incidentsOf(alerts), (some) => ({
    destination,
    alerts: some,
    id: some.map(({ id }) => id).join(),
    body: null,
    isDigest: false,
  }));

const forecastOf = async (
  arrivals: readonly Arrival[],
  setting: Setting = {},
  uncovered = (parcel: Parcel, _at: number) => parcel.alerts,
): Promise<SimulatedMessage[]> => {
  const { rate = {}, sender, shared, isBatched = true, groupWaitMs = 0 } = setting;
  const { incidentWindowMs = INCIDENT_WINDOW_MS } = setting;
  const messages: SimulatedMessage[] = [];
  const timeline = createTimeline();
  const kind = {
    compose: isBatched ? forPeople : forPrograms,
    paceOf: ({ id }: Destination) => ({ id: shared ?? id, rate }),
    senderOf: () => sender,
    isForPeople: () => isBatched,
    groupWaitMs,
    givesHandle: (address: string) => !address.startsWith('https:'),
    canAmend: true,
  };
  const { enqueue } = createSimulatedDelivery({
    timeline,
    kinds: new Map([['slack', kind]]),
    ledger: createMemoryLedger(timeline.now),
    incidentWindowMs,
    uncovered: async (destination, alerts) => uncovered({ destination, alerts: [...alerts] }, timeline.now()),
    onMessage: (message) => messages.push(message),
  });
  for (const { at, parcel, unlessCovered } of arrivals) {
    timeline.add(at, () => enqueue([parcel], undefined, unlessCovered ? 0 : undefined));
  }
  await timeline.run();
  return messages;
};

/** The same by the real thing, and its Redis. */
const deliveredOf = async (arrivals: readonly Arrival[], setting: Setting) => {
  const { add, run, sent, time } = setUpDeliveries(setting);
  for (const { at, parcel } of arrivals) {
    await run(at - T0 - 1);
    time.now = at;
    add(parcel.alerts, parcel.destination);
  }
  await run();
  return sent;
};

/** What comes `waitMs` after what came before. */
interface Step {
  waitMs: number;
  count: number;
  to?: Destination;
  /** Of one transaction; default: each of its own. */
  transaction?: number | undefined;
}

const arrivalsOf = (steps: readonly Step[]): Arrival[] => {
  let at = T0;
  let last = 0;
  return steps.map(({ waitMs, count, to = DESTINATION, transaction }) => {
    at += waitMs;
    const inOne = transaction === undefined ? {} : { txHash: hashOf(100_000 + transaction) };
    // What is of another protocol is heard in a reply.
    const alerts = range(last + 1, last + count).map((n) => makeAlert(n, { protocol: `P${n % 3}`, ...inOne }));
    last += count;
    return { at, parcel: { destination: to, alerts } };
  });
};

const itemsOf = ({ alerts }: Pick<SimulatedMessage, 'alerts'>): string[] =>
  alerts.map(({ itemId }) => itemId).toSorted();

const rates: fc.Arbitrary<Rate> = fc.record(
  {
    // Of whole milliseconds: Redis keeps a few digits fewer.
    perSecond: fc.constantFrom(0.5, 1, 4, 25),
    perMinute: fc.constantFrom(1, 20),
    burst: fc.constantFrom(1, 5),
  },
  { requiredKeys: [] },
);

const settings: fc.Arbitrary<Setting> = fc.record(
  {
    rate: rates,
    sender: rates.map((rate) => ({ id: 'sender-slack', rate })),
    shared: fc.constant('the chat'),
    isBatched: fc.boolean(),
    groupWaitMs: fc.constantFrom(0, 700, 2000),
  },
  { requiredKeys: [] },
);

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    waitMs: fc.constantFrom(0, 0, 1, 500, 1000, 5000, 15_000, 61_000),
    count: fc.constantFrom(1, 1, 2, 3, 6, 20),
    to: fc.constantFrom(DESTINATION, OTHER),
    transaction: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined, freq: 4 }),
  }),
  { minLength: 1, maxLength: 12 },
);

describe('a forecast', () => {
  test('is what is then delivered, message by message', async () => {
    const prove = async (setting: Setting, some: readonly Step[]): Promise<void> => {
      const arrivals = arrivalsOf(some);
      const sent = await deliveredOf(arrivals, setting);
      // A message in the place of another shows what that one showed as well.
      const told = sent.map(({ at, to, items, amends }) => ({ at, to, items: amends ? 'more' : items.toSorted() }));
      const messages = await forecastOf(arrivals, setting);
      expect(
        messages.map((message) => ({
          at: message.at - T0,
          to: message.destination.address,
          items: message.amends ? 'more' : itemsOf(message),
        })),
      ).toEqual(told);
    };
    await fc.assert(fc.asyncProperty(settings, steps, prove), { numRuns: 60 });
  });

  test('of a storm: single messages while there are turns, and the rest together', async () => {
    const storm = arrivalsOf(range(0, 59).map((second) => ({ waitMs: second === 0 ? 0 : 1000, count: 1 })));
    const messages = await forecastOf(storm, { rate: { perMinute: 2 } });
    expect(messages.map(({ at, alerts, isDigest }) => [at - T0, alerts.length, isDigest])).toEqual([
      [0, 1, false],
      [1000, 1, false],
      [60_500, 58, true],
    ]);
    // Alerts of one date differ by their ids.
    expect(messages[2]?.ready.toSorted()).toEqual(range(2, 59).map((second) => T0 + second * 1000));
  });

  test('of six findings of one transaction has one message, and that is no digest', async () => {
    const findings = arrivalsOf([{ waitMs: 0, count: 6, transaction: 1 }]);
    const messages = await forecastOf(findings, {});
    expect(messages.map(({ alerts, isDigest }) => [alerts.length, isDigest])).toEqual([[6, false]]);
  });

  test('a transaction gets a new message when its old one is too old, and where messages cannot be found again', async () => {
    const twice = (to: Destination): Arrival[] =>
      arrivalsOf([0, 5000].map((waitMs) => ({ waitMs, count: 1, to, transaction: 1 })));
    const amends = async (to: Destination, incidentWindowMs: number) =>
      (await forecastOf(twice(to), { incidentWindowMs })).map((message) => message.amends);
    // The second is of another protocol: a reply says so.
    expect(await amends(DESTINATION, 5001)).toEqual([false, true, false]);
    expect(await amends(DESTINATION, 5000)).toEqual([false, false]);
    expect(await amends(destinationOf('slack', 'https://hooks.example.com/x'), 5001)).toEqual([false, false]);
  });

  test('leaves out what another alert covers by the time it is due', async () => {
    const [first, ...others] = arrivalsOf(range(1, 3).map(() => ({ waitMs: 1000, count: 1 })));
    const waiting = others.map((arrival): Arrival => ({ ...arrival, unlessCovered: true }));
    const uncovered = ({ alerts }: Parcel, at: number) => (at < T0 + 3000 ? alerts : []);
    const messages = await forecastOf(first ? [first, ...waiting] : [], {}, uncovered);
    expect(messages.map(itemsOf)).toEqual([['item-1'], ['item-2']]);
  });
});
