/**
 * When each task of this daemon has its turn: the one that is due first goes first, a few run at a time, and each comes
 * again after its interval. Tasks of a service may stand in several lanes: where there is no time for all, each lane has as
 * many turns as the others, however many tasks it has. It uses the monotonic clock, so a wall clock that is set back stops
 * nothing. A turn that does not end is given up.
 */
import { getOrCreate } from '../bounded-map.ts';
import { endedWithin } from '../waiting.ts';
import { createDueQueue } from './due-queue.ts';

export interface TimetableSettings<Task> {
  concurrency: number;
  /** Tasks of one service do not wait for the pace of another. */
  serviceOf(task: Task): string;
  /** Default: all are in one. */
  laneOf?(task: Task): number;
  /** Milliseconds until a new task has its first turn, and between two turns. */
  firstInMs(task: Task): number;
  everyMs(task: Task): number;
  /** Least milliseconds between two turns of a service. */
  gapMs(service: string): number;
  /**
   * Turns that are due within so many milliseconds begin together: a request that is one of several costs less than half of
   * one alone.
   */
  togetherMs(): number;
  /** One turn. May give in how many milliseconds to take it again, instead of after its interval. */
  run(task: Task, signal: AbortSignal): Promise<number | undefined>;
  /** Milliseconds after which a turn has stopped. */
  deadlineMs: number;
  /** Called when a turn has stopped, and when one has thrown; the task has its next turn in any case. */
  onStopped(task: Task): void;
  onError(task: Task, error: unknown): void;
  monotonic(): number;
}

interface Entry<Task> {
  key: string;
  task: Task;
  service: ServiceQueue<Task>;
  lane: Lane<Task>;
  /** Where it waits; another place in the queue is outdated. */
  place?: Place<Task> | undefined;
  isHastened?: boolean;
}

interface Place<Task> {
  dueAt: number;
  entry: Entry<Task>;
}

type Lane<Task> = ReturnType<typeof createDueQueue<Place<Task>>>;

interface ServiceQueue<Task> {
  name: string;
  lanes: Map<number, Lane<Task>>;
  /** No turn before this. */
  openAt: number;
}

interface Run<Task> {
  entry: Entry<Task>;
  dueAt: number;
  startedAt: number;
  controller: AbortController;
  ended: Promise<void>;
}

/** Puts it behind the others. */
const toEnd = <K, V>(map: Map<K, V>, key: K, value: V): void => {
  if (map.size === 1) return;
  map.delete(key);
  map.set(key, value);
};

/** Tasks by service and lane, as they are due. */
const createServiceQueues = <Task>({ serviceOf, laneOf = () => 0, gapMs }: TimetableSettings<Task>) => {
  const services = new Map<string, ServiceQueue<Task>>();
  const place = (entry: Entry<Task>, dueAt: number): void => {
    entry.place = { dueAt, entry };
    entry.lane.push(entry.place);
  };
  const firstOf = (lane: Lane<Task>): Place<Task> | undefined => {
    for (;;) {
      const first = lane.first();
      if (first === undefined || first.entry.place === first) return first;
      lane.shift();
    }
  };
  const dueAtOf = ({ lanes }: ServiceQueue<Task>): number => {
    let dueAt = Infinity;
    for (const lane of lanes.values()) dueAt = Math.min(dueAt, firstOf(lane)?.dueAt ?? Infinity);
    return dueAt;
  };
  /** Of the lane whose last turn is longest ago. */
  const takeOf = ({ lanes }: ServiceQueue<Task>, at: number): Place<Task> | undefined => {
    for (const [key, lane] of lanes) {
      const first = firstOf(lane);
      if (first === undefined || first.dueAt > at) continue;
      lane.shift();
      toEnd(lanes, key, lane);
      return first;
    }
    return undefined;
  };
  return {
    place,
    of: (task: Task): Pick<Entry<Task>, 'service' | 'lane'> => {
      const name = serviceOf(task);
      const none = (): ServiceQueue<Task> => ({ name, lanes: new Map(), openAt: Number.NEGATIVE_INFINITY });
      const service = getOrCreate(services, name, none);
      return { service, lane: getOrCreate(service.lanes, laneOf(task), (): Lane<Task> => createDueQueue()) };
    },
    /** When the next turn may be; Infinity where nothing waits. */
    nextAt: (): number => {
      let at = Infinity;
      for (const service of services.values()) at = Math.min(at, Math.max(dueAtOf(service), service.openAt));
      return at;
    },
    /** Takes the next one of a service that is due; the services take turns. */
    take: (at: number): Place<Task> | undefined => {
      for (const service of services.values()) {
        const first = service.openAt <= at ? takeOf(service, at) : undefined;
        if (first === undefined) continue;
        service.openAt = at + gapMs(service.name);
        toEnd(services, service.name, service);
        first.entry.place = undefined;
        return first;
      }
      return undefined;
    },
  };
};

export const createTimetable = <Task>(settings: TimetableSettings<Task>) => {
  const { concurrency, firstInMs, everyMs, togetherMs, run, deadlineMs, onStopped, onError, monotonic } = settings;
  const services = createServiceQueues(settings);
  const entries = new Map<string, Entry<Task>>();
  /** The oldest comes first. */
  const running = new Set<Run<Task>>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let hasTurned = false;

  /** What began late because turns begin together keeps its time; what had to wait does not catch up. */
  const nextOf = ({ entry, dueAt, startedAt }: Run<Task>, againInMs: number | undefined): number => {
    if (entry.isHastened) return monotonic();
    if (againInMs !== undefined) return monotonic() + againInMs;
    return everyMs(entry.task) + Math.max(dueAt, startedAt - togetherMs());
  };

  const ended = (one: Run<Task>, againInMs?: number): void => {
    hasTurned = true;
    const { entry } = one;
    // It was given up, and has had its next turn since; or nobody wants it any more.
    if (!running.delete(one) || entries.get(entry.key) !== entry) return;
    services.place(entry, nextOf(one, againInMs));
    entry.isHastened = false;
  };

  const begin = ({ entry, dueAt }: Place<Task>): void => {
    const controller = new AbortController();
    const one: Run<Task> = { entry, dueAt, startedAt: monotonic(), controller, ended: Promise.resolve() };
    running.add(one);
    hasTurned = true;
    one.ended = run(entry.task, controller.signal)
      .then(
        (againInMs) => ended(one, againInMs),
        (error: unknown) => {
          if (!isStopped) onError(entry.task, error);
          ended(one);
        },
      )
      .then(turn);
  };

  const giveUpStopped = (): void => {
    for (const one of running) {
      if (monotonic() - one.startedAt < deadlineMs) return;
      one.controller.abort();
      onStopped(one.entry.task);
      ended(one);
    }
  };

  /** Starts what is due, and comes back when the next one is. */
  const turn = (): void => {
    clearTimeout(timer);
    if (isStopped) return;
    giveUpStopped();
    while (running.size < concurrency) {
      const next = services.take(monotonic());
      if (next === undefined) break;
      begin(next);
    }
    const [oldest] = running;
    const stopsAt = (oldest?.startedAt ?? Infinity) + deadlineMs;
    const wakeAt = Math.min(stopsAt, running.size < concurrency ? services.nextAt() : Infinity);
    if (Number.isFinite(wakeAt)) timer = setTimeout(turn, Math.max(togetherMs(), Math.ceil(wakeAt - monotonic())));
  };

  return {
    /** From now on only these tasks have turns. Those that it knows keep their time. */
    set: (tasks: ReadonlyMap<string, Task>): void => {
      for (const [key, entry] of entries) {
        if (tasks.has(key)) continue;
        entry.place = undefined;
        entries.delete(key);
      }
      for (const [key, task] of tasks) {
        if (entries.has(key)) continue;
        const entry: Entry<Task> = { key, task, ...services.of(task) };
        entries.set(key, entry);
        services.place(entry, monotonic() + firstInMs(task));
      }
      turn();
    },
    /** It has its next turn at once. */
    hasten: (key: string): void => {
      const entry = entries.get(key);
      if (entry === undefined) return;
      if (entry.place === undefined) entry.isHastened = true;
      else services.place(entry, monotonic());
      turn();
    },
    /** Whether a turn has begun or ended since it was last asked, or none is due. */
    hasTurned: (): boolean => {
      const has = hasTurned || services.nextAt() > monotonic();
      hasTurned = false;
      return has;
    },
    /** Aborts what runs, and waits for it for `graceMs` at most. */
    stop: async (graceMs: number): Promise<void> => {
      isStopped = true;
      clearTimeout(timer);
      for (const { controller } of running) controller.abort();
      await endedWithin(Promise.all([...running].map((one) => one.ended)), graceMs);
    },
  };
};
