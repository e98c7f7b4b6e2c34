/** Which inspections are read again: those that polls read, and the suspicious ones that polls do not ask for. */
import type { Logger } from 'pino';
import type { Item } from '../../item.ts';
import type { Track } from '../../poll/cursor.ts';
import type { Stream } from '../../poll/stream.ts';
import type { Service } from '../../service/open.ts';
import type { RecheckStore } from './store.ts';
import { firstRecheck } from './verdict.ts';

export interface WatchDependencies {
  store: Pick<RecheckStore, 'note'>;
  /** False where nothing is read again. */
  isOn: boolean;
  /** Durations in milliseconds; `assessments` make an inspection an alert. */
  settings: { offsets: readonly number[]; assessments: readonly string[]; lookback: number; overlap: number };
  serviceOf(name: string): Pick<Service, 'clock' | 'near'>;
  onRead(service: string, protocol: string): void;
  onFailed(service: string, protocol: string, error: unknown): void;
  log: Pick<Logger, 'warn'>;
}

export const createWatch = ({ store, isOn, settings, serviceOf, log, ...dependencies }: WatchDependencies) => {
  const { assessments, lookback, overlap } = settings;
  /** Polls filter by assessment where they want only one, so suspicious inspections are fetched here. */
  const isUnread = assessments.length === 1 && assessments[0] !== 'suspecious';
  const isFull = new Set<string>();
  /** Up to when the suspicious inspections of a track are noted, by the service's clock. */
  const readUpTo = new Map<string, number>();

  const note = async (service: string, protocol: string, items: readonly Item[]): Promise<void> => {
    const now = serviceOf(service).clock.now();
    const refused = await store.note(
      service,
      items.flatMap((item) => firstRecheck(item, protocol, now, settings) ?? []),
    );
    if (refused === 0 || isFull.has(service)) return;
    isFull.add(service);
    log.warn({ service, refused }, 'too many inspections to read again: some are not');
  };

  const readSuspicious = async ({ service, protocol }: Track, signal: AbortSignal): Promise<void> => {
    const { clock, near } = serviceOf(service);
    const key = `${service} ${protocol}`;
    const begun = clock.now();
    const since = (readUpTo.get(key) ?? begun - lookback) - overlap;
    for await (const { items } of near.inspections(protocol, since, signal)) await note(service, protocol, items);
    readUpTo.set(key, begun);
    dependencies.onRead(service, protocol);
  };

  return {
    /** Watches what a poll has read. */
    note: async ({ service, source, protocols: [protocol = ''] }: Stream, items: readonly Item[]): Promise<void> => {
      if (isOn && source === 'inspections') await note(service, protocol, items);
    },
    /** Reads the suspicious ones that polls do not ask for; to be called after a sweep. Never throws. */
    readSuspicious: async (
      { service, source, protocols: [protocol = ''] }: Stream,
      signal: AbortSignal,
    ): Promise<void> => {
      if (!isOn || !isUnread || source !== 'inspections') return;
      await readSuspicious({ service, source, protocol }, signal).catch((error: unknown) => {
        if (!signal.aborted) dependencies.onFailed(service, protocol, error);
      });
    },
  };
};
