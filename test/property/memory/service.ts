/** A service in memory, whose lists may move while they are read, and what it owes to whoever reads it. */
import type { Source } from '../../../src/alert.ts';
import type { Item } from '../../../src/item.ts';
import type { ReadPage } from '../../../src/poll/poller.ts';
import { type Stream, tracksOf } from '../../../src/poll/stream.ts';
import type { Random } from '../../../src/sandbox/random.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const T0 = Date.UTC(2026, 10, 20, 10);

export const SETTINGS = { overlap: 5 * SECOND, lookback: 5 * MINUTE, sweepEvery: MINUTE, assessments: ['critical'] };

/** Both sources; what one request reads, and parts of it. */
export const STREAMS: readonly Stream[] = [
  { service: 'main', source: 'inspections', protocols: ['Vault'] },
  { service: 'main', source: 'notifications', protocols: ['Vault', 'Bridge'] },
];
/** The groups of notifications change as protocols come and go. */
export const REGROUPED: readonly Stream[] = [
  { service: 'main', source: 'notifications', protocols: ['Vault'] },
  { service: 'main', source: 'notifications', protocols: ['Bridge'] },
];
export const TRACKS = STREAMS.flatMap(tracksOf);

interface Written {
  item: Item;
  /** When it became what somebody has to hear of. */
  at: number;
  /** An operator has set the cursor past it. */
  isSkipped: boolean;
}

const datesOf = ({ dates }: Item): number[] => Object.values(dates);

export const createService = (random: Random, time: { now: number }) => {
  const written = new Map<string, Written>();
  let count = 0;
  let isCalm = false;

  const write = (source: Source): void => {
    count += 1;
    const late = random.chance(0.3) ? random.below(SETTINGS.lookback - 20 * SECOND) : 0;
    const ahead = random.chance(0.05) ? random.below(30 * SECOND) : 0;
    const at = time.now - late + ahead;
    const createdAt = random.chance(0.4) ? Math.floor(at / SECOND) * SECOND : at;
    const itemId = `${source}-${count}`;
    const item: Item = {
      ...{ source, itemId, protocol: 'Vault', raw: {} },
      dates: { createdAt, txTimestamp: createdAt - random.below(10 * SECOND) },
      ...(source === 'inspections' ? { assessment: random.chance(0.6) ? 'critical' : 'ok' } : {}),
    };
    if (source === 'notifications') item.protocol = random.pick(['Vault', 'Bridge']);
    written.set(itemId, { item, at: time.now, isSkipped: false });
  };

  /** An inspection turns critical, or back. Its dates may stay as they are. */
  const change = (): void => {
    const one = [...written.values()].filter(({ item }) => item.source === 'inspections')[random.below(count)];
    if (one === undefined) return;
    const assessment = one.item.assessment === 'critical' ? 'ok' : 'critical';
    const dates = random.chance(0.5) ? { updatedAt: time.now } : {};
    one.item = { ...one.item, assessment, dates: { ...one.item.dates, ...dates } };
    one.at = time.now;
  };

  const found = ({ source, protocols }: Stream, since: number): Item[] =>
    [...written.values()]
      .map(({ item }) => item)
      .filter((item) => item.source === source && protocols.includes(item.protocol))
      .filter(({ dates }) => (dates.createdAt ?? 0) > since)
      .sort((a, b) => (a.dates.createdAt ?? 0) - (b.dates.createdAt ?? 0));

  return {
    some: (): void => {
      for (let left = random.below(5); left > 0; left -= 1) {
        if (random.chance(0.2)) change();
        else write(random.pick(['inspections', 'inspections', 'notifications']));
      }
    },
    /** Nothing more is written. */
    calm: (): void => {
      isCalm = true;
    },
    /** A storm: more than a daemon remembers. */
    storm: (): void => {
      for (let left = 150; left > 0; left -= 1) write('inspections');
    },
    skipTo: (source: Source, protocol: string, to: number): void => {
      for (const one of written.values()) {
        const { item } = one;
        if (item.source === source && item.protocol === protocol && Math.max(...datesOf(item)) <= to + SECOND)
          one.isSkipped = true;
      }
    },
    async *pages(stream: Stream, since: number): AsyncGenerator<ReadPage> {
      const items = found(stream, since);
      const size = 1 + random.below(8) * random.below(8);
      for (let start = 0; start === 0 || start < items.length; start += size) {
        const page = items.slice(start, start + size);
        const last = page.at(-1)?.dates.createdAt;
        yield { items: page, malformed: [], ...(last === undefined ? {} : { settledBefore: last }) };
        if (!isCalm && random.chance(0.1)) write(stream.source);
        time.now += random.below(200);
      }
    },
    /** Everything that has to be queued or delivered by now. */
    owed: (): string[] =>
      [...written.values()]
        .filter(
          ({ item, isSkipped }) => !isSkipped && (item.source === 'notifications' || item.assessment === 'critical'),
        )
        .filter(({ item, at }) => Math.min(...datesOf(item)) >= at - SETTINGS.lookback + 10 * SECOND)
        .map(({ item }) => item.itemId),
    count: () => count,
  };
};

export type SimulatedService = ReturnType<typeof createService>;
