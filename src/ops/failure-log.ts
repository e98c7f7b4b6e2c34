/** A warning that strangers can cause: written at once, and then at most once a minute, with how often it was due. */
import type { Logger } from 'pino';

export interface RareWarningDependencies {
  log: Pick<Logger, 'warn'>;
  text: string;
  now(): number;
}

const WINDOW_MS = 60_000;

export const createRareWarning = ({ log, text, now }: RareWarningDependencies): ((fields: object) => void) => {
  let times = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  return (fields) => {
    times += 1;
    if (Math.abs(now() - toldAt) < WINDOW_MS) return;
    log.warn({ ...fields, times }, text);
    times = 0;
    toldAt = now();
  };
};

// Says once that something fails, reminds rarely, and says once that it works again: a log that can be read at night.

export interface Outages {
  /** `subject` names what fails and `group` what it belongs to (a service): many subjects of a group make one line. */
  failed(group: string, subject: string, error: unknown): void;
  worked(group: string, subject: string): void;
  /** What fails now. */
  current(): Outage[];
}

export interface Outage {
  group: string;
  subject: string;
  /** Epoch milliseconds. */
  since: number;
  message: string;
}

const REMIND_EVERY_MS = 10 * 60_000;
/** Subjects of a group with log lines of their own; the next makes one line for all. */
const NAMED_SUBJECTS = 3;

interface Known extends Outage {
  saidAt: number | undefined;
  failures: number;
}

export const createOutages = (log: Pick<Logger, 'warn' | 'info'>, now: () => number): Outages => {
  const known = new Map<string, Known>();
  const crowded = new Map<string, number>();
  const keyOf = (group: string, subject: string) => `${group}\n${subject}`;
  const ofGroup = (group: string) => [...known.values()].filter((outage) => outage.group === group);
  const due = (saidAt: number | undefined) => saidAt === undefined || now() - saidAt >= REMIND_EVERY_MS;

  const say = (outage: Known, error: unknown): void => {
    const { group, subject, failures } = outage;
    const others = ofGroup(group);
    if (outage.saidAt !== undefined || others.filter(({ saidAt }) => saidAt !== undefined).length < NAMED_SUBJECTS) {
      if (!due(outage.saidAt)) return;
      log.warn({ group, subject, err: error, failures }, outage.saidAt === undefined ? 'failing' : 'still failing');
      outage.saidAt = now();
    } else if (due(crowded.get(group))) {
      log.warn({ group, subject, err: error, failing: others.length }, 'more are failing');
      crowded.set(group, now());
    }
  };

  return {
    failed: (group, subject, error) => {
      const message = error instanceof Error ? error.message : String(error);
      const outage = known.get(keyOf(group, subject)) ?? {
        group,
        subject,
        since: now(),
        saidAt: undefined,
        failures: 0,
        message,
      };
      Object.assign(outage, { failures: outage.failures + 1, message });
      known.set(keyOf(group, subject), outage);
      say(outage, error);
    },
    worked: (group, subject) => {
      const outage = known.get(keyOf(group, subject));
      if (!outage) return;
      known.delete(keyOf(group, subject));
      const { since, failures } = outage;
      if (outage.saidAt !== undefined) log.info({ group, subject, failures, downMs: now() - since }, 'works again');
      if (crowded.has(group) && ofGroup(group).length === 0) {
        crowded.delete(group);
        log.info({ group }, 'all work again');
      }
    },
    current: () =>
      [...known.values()].map(({ group, subject, since, message }) => ({ group, subject, since, message })),
  };
};
