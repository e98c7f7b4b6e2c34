/** The polls of this daemon: of the streams that are assigned to it, each in its time, with what it remembers of them. */

import type { Source } from '../alert.ts';
import { startTurns } from '../redis/turns.ts';
import { endedWithin } from '../waiting.ts';
import type { Catalog } from './catalog.ts';
import type { ReadMemory } from './read-memory.ts';
import { createAssignment, createLaneOf, type Stream, streamKey, streamsOf } from './stream.ts';
import { createTimetable, type TimetableSettings } from './timetable.ts';

interface PollingSettings
  extends Omit<TimetableSettings<Stream>, 'serviceOf' | 'laneOf' | 'run' | 'deadlineMs' | 'onError'> {
  services: readonly string[];
  sources: readonly Source[];
  catalog: Pick<Catalog, 'protocols'>;
  /** Who this daemon is, and who shares a service with it: ids, in the same order for all of them. */
  own: string;
  readersOf(service: string): readonly string[];
  memory: Pick<ReadMemory, 'retain' | 'commit'>;
  poll(stream: Stream, signal: AbortSignal): Promise<number | undefined>;
  /** Since when a service answers this daemon nothing, by the monotonic clock; Infinity: it answers. */
  silentSince(service: string): number;
  /** Asks a service whether it answers, where no poll shows it. `stream`: for this. */
  probe(service: string, stream: Stream | undefined, signal: AbortSignal): Promise<void>;
  /** Called when other streams are this daemon's; `total`: how many there are. */
  onAssigned(service: string, own: readonly Stream[], total: number): void;
  /** Called with protocols that were listed, and are not any more. */
  onGone?(service: string, protocols: readonly string[]): void;
  /** Called every second, unless polls are due and none has begun or ended since. */
  onTurning?(): void;
  /** Called where Redis does not let us go on; it is tried again. */
  onError(error: unknown): void;
}

/** How often to check which daemons live (no request), and what other daemons have listed (asks Redis). */
const LOOK_EVERY_MS = 1000;
const LOOK_AT_LISTS_EVERY_MS = 5000;
/** How often a service is asked whether it answers, if this daemon polls nothing of it; readiness needs to know. */
const IDLE_PROBE_EVERY_MS = 15_000;
/** How often moved cursors are written. What a killed daemon had not written costs a sweep. */
export const COMMIT_EVERY_MS = 5000;
/** Longer than any backlog takes. A poll that is given up loses nothing: the next one goes on where it was. */
const DEADLINE_MS = 600_000;

export const createPolling = (settings: PollingSettings) => {
  const { services, sources, catalog, own, readersOf, silentSince, memory, poll, probe, monotonic } = settings;
  const { onAssigned, onGone = () => {}, onTurning = () => {}, onError } = settings;
  const stopping = new AbortController();
  let isStarted = false;
  let startedAt = monotonic();
  const probedAt = new Map<string, number>();
  let probes = 0;
  const timetable = createTimetable<Stream>({
    ...settings,
    serviceOf: ({ service }) => service,
    laneOf: (stream) => assigned.get(stream.service)?.laneOf(stream) ?? 0,
    run: poll,
    deadlineMs: DEADLINE_MS,
    onError: (_stream, error) => onError(error),
  });
  /** The streams of each service, and what they were reckoned from. */
  const assigned = new Map<
    string,
    {
      listed: ReadonlyMap<string, unknown>;
      readers: string;
      all: readonly Stream[];
      streams: readonly Stream[];
      laneOf(stream: Stream): number;
    }
  >();

  const haveReadersChanged = (service: string): boolean => assigned.get(service)?.readers !== readersOf(service).join();

  const hasChanged = async (service: string): Promise<boolean> => {
    const listed = await catalog.protocols(service);
    const readers = readersOf(service);
    const before = assigned.get(service);
    if (before?.listed === listed && before.readers === readers.join()) return false;
    const all = streamsOf(service, [...listed.keys()], sources);
    const streams = all.filter(createAssignment(own, readers));
    assigned.set(service, { listed, readers: readers.join(), all, streams, laneOf: createLaneOf(listed) });
    onAssigned(service, streams, all.length);
    const gone = [...(before?.listed.keys() ?? [])].filter((name) => !listed.has(name));
    if (gone.length > 0) onGone(service, gone);
    return true;
  };

  const look = async (): Promise<void> => {
    if (!isStarted) return;
    const looks = await Promise.allSettled(services.map(hasChanged));
    if (looks.some((one) => one.status === 'fulfilled' && one.value)) schedule();
    for (const one of looks) if (one.status === 'rejected') throw one.reason;
  };

  const lookAtReaders = async (): Promise<void> => {
    if (timetable.hasTurned()) onTurning();
    if (services.some(haveReadersChanged)) await look();
  };

  const schedule = (): void => {
    if (stopping.signal.aborted) return;
    const streams = [...assigned.values()].flatMap(({ streams }) => streams);
    const tasks = new Map(streams.map((stream) => [streamKey(stream), stream]));
    memory.retain(new Set(tasks.keys()));
    timetable.set(tasks);
  };

  /** No poll of this daemon shows whether the service answers it. */
  const isLeft = (service: string): boolean => {
    if (!readersOf(service).includes(own)) return true;
    const since = silentSince(service);
    // A poll failed. Where its stream is at fault and not the service, one question shows that.
    if (Number.isFinite(since) && since > (probedAt.get(service) ?? startedAt)) return true;
    // Where there are few protocols, one of several daemons may have none.
    const isIdle = assigned.get(service)?.streams.length === 0;
    return isIdle && monotonic() - (probedAt.get(service) ?? startedAt) >= IDLE_PROBE_EVERY_MS;
  };

  /** If the service did not answer: one stream after another, as it may answer listings and no polls. */
  const probedBy = (service: string): Stream | undefined => {
    if (readersOf(service).includes(own)) return undefined;
    const { all = [] } = assigned.get(service) ?? {};
    probes += 1;
    return all[probes % all.length];
  };

  const probeLeft = async (): Promise<void> => {
    const left = services.filter(isLeft);
    for (const service of left) probedAt.set(service, monotonic());
    await Promise.all(left.map((service) => probe(service, probedBy(service), stopping.signal)));
  };

  return {
    look,
    /** To be read at once. */
    hasten: (stream: Stream): void => timetable.hasten(streamKey(stream)),
    isRunning: (): boolean => isStarted && !stopping.signal.aborted,
    start: (): void => {
      isStarted = true;
      startedAt = monotonic();
      startTurns(
        [
          { name: 'lists', everyMs: LOOK_AT_LISTS_EVERY_MS, run: look },
          { name: 'readers', everyMs: LOOK_EVERY_MS, run: lookAtReaders },
          { name: 'probes', everyMs: LOOK_EVERY_MS, run: probeLeft },
          { name: 'commits', everyMs: COMMIT_EVERY_MS, run: memory.commit },
        ],
        { onFailed: (_turn, error) => onError(error), stopping: stopping.signal },
      );
    },
    /** `graceMs`: for the polls, and for Redis to take what they have moved. */
    stop: async (graceMs: number): Promise<void> => {
      stopping.abort();
      await timetable.stop(graceMs);
      await endedWithin(memory.commit().catch(onError), graceMs);
    },
  };
};
