/** What was written at the service, and what therefore has to be queued, once each. */
import type { SandboxInspection, SandboxNotification } from '../../../src/sandbox/service/model.ts';
import { SETTINGS } from './draw.ts';

/** Dates in epoch milliseconds by the service's clock. */
interface Written {
  /** Of an inspection its id; of a notification everything that distinguishes it from others, but not from its equals. */
  key: string;
  protocol: string;
  earliest: number;
  latest: number;
  /** When it became what it is: written, or turned critical. */
  at: number;
  /** Gone again before anybody had to have seen it. */
  removed: boolean;
}

export interface Dispatched {
  key: string;
  /** The alert's identity. */
  id: string;
}

/** Where reading a source of a protocol was begun, and when its first read was complete. */
export interface Start {
  start: number;
  firstReadAt: number;
}

type StartOf = (source: 'inspections' | 'notifications', protocol: string) => Start | undefined;

export type Expected = ReturnType<typeof createExpected>;

export const notificationKey = (protocol: string, createdAt: number, message: string, inSeconds: boolean): string =>
  JSON.stringify([protocol, inSeconds ? Math.floor(createdAt / 1000) : createdAt, message]);

const datesOf = ({
  createdAt,
  updatedAt,
  txTimestamp,
}: {
  createdAt: number;
  updatedAt: number;
  txTimestamp?: number;
}) => [createdAt, updatedAt, ...(txTimestamp === undefined ? [] : [txTimestamp])];

export const createExpected = (startOf: StartOf, inSeconds: boolean) => {
  const inspections = new Map<string, Written>();
  const notifications: Written[] = [];

  const written = (key: string, protocol: string, dates: readonly number[], at: number): Written => ({
    key,
    protocol,
    earliest: Math.min(...dates),
    latest: Math.max(...dates),
    at,
    removed: false,
  });

  /** Within the promises: late by no more than the lookback, and no history. */
  const isOwed = (source: 'inspections' | 'notifications', item: Written): boolean => {
    const begun = startOf(source, item.protocol);
    if (begun === undefined || item.removed) return false;
    const isNew = item.latest > begun.start || item.at >= begun.firstReadAt;
    return isNew && item.earliest >= item.at - SETTINGS.lookback && item.earliest > begun.start - SETTINGS.lookback;
  };

  /** Dated so long before the start that no reader may forward it. */
  const isHistory = (source: 'inspections' | 'notifications', item: Written): boolean => {
    const begun = startOf(source, item.protocol);
    return begun !== undefined && item.latest < begun.start - SETTINGS.lookback - 2000;
  };

  return {
    inspection: (item: SandboxInspection, at: number): void => {
      if (item.assessment !== 'critical' || inspections.has(item._id)) return;
      inspections.set(item._id, written(item._id, item.protocol, datesOf(item), at));
    },
    notification: ({ protocol, createdAt, updatedAt, message }: SandboxNotification, at: number): void => {
      const key = notificationKey(protocol, createdAt, message, inSeconds);
      notifications.push(written(key, protocol, [createdAt, updatedAt], at));
    },
    /** How many notifications there are that nothing distinguishes. */
    equals: (key: string): number => notifications.filter((item) => item.key === key).length,
    removed: (id: string): void => {
      const item = inspections.get(id);
      if (item) item.removed = true;
    },
    /** What is wrong with what was queued; nothing where all is well. */
    problems: (queued: { inspections: readonly Dispatched[]; notifications: readonly Dispatched[] }): string[] => {
      const idsOf = (all: readonly Dispatched[], key: string): number =>
        new Set(all.filter((one) => one.key === key).map(({ id }) => id)).size;
      const missed = [...inspections.values()]
        .filter((item) => isOwed('inspections', item) && idsOf(queued.inspections, item.key) === 0)
        .map((item) => `inspection ${JSON.stringify(item)} was never queued`);
      const history = [...inspections.values()]
        .filter((item) => isHistory('inspections', item) && idsOf(queued.inspections, item.key) > 0)
        .map(({ key }) => `inspection ${key} is history and was queued`);
      const groups = Map.groupBy(notifications, ({ key }) => key);
      const counts = [...groups].flatMap(([key, equals]) => {
        const owed = equals.filter((item) => isOwed('notifications', item)).length;
        const found = idsOf(queued.notifications, key);
        if (found < owed) return [`of ${owed} notifications ${key} only ${found} were queued`];
        return found > equals.length ? [`of ${equals.length} notifications ${key} ${found} were queued`] : [];
      });
      return [...missed, ...history, ...counts];
    },
    counts: () => ({ inspections: inspections.size, notifications: notifications.length }),
  };
};
