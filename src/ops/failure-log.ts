/** Says once that something fails, reminds rarely, and says once that it works again: a log that can be read at night. */
import type { Logger } from 'pino';

export interface FailureLog {
  /** `subject` names what fails and `group` what it belongs to (a service): many subjects of a group make one line. */
  failed(group: string, subject: string, error: unknown): void;
  worked(group: string, subject: string): void;
  /** What fails now. */
  current(): Failure[];
}

export interface Failure {
  group: string;
  subject: string;
  /** Epoch milliseconds. */
  since: number;
  message: string;
}

const REMIND_EVERY_MS = 10 * 60_000;
/** Subjects of a group with log lines of their own; the next makes one line for all. */
const NAMED_SUBJECTS = 3;

interface Known extends Failure {
  saidAt: number | undefined;
  failures: number;
}

export const createFailureLog = (log: Pick<Logger, 'warn' | 'info'>, now: () => number): FailureLog => {
  const known = new Map<string, Known>();
  const crowded = new Map<string, number>();
  const keyOf = (group: string, subject: string) => `${group}\n${subject}`;
  const ofGroup = (group: string) => [...known.values()].filter((failure) => failure.group === group);
  const due = (saidAt: number | undefined) => saidAt === undefined || now() - saidAt >= REMIND_EVERY_MS;

  const say = (failure: Known, error: unknown): void => {
    const { group, subject, failures } = failure;
    const others = ofGroup(group);
    if (failure.saidAt !== undefined || others.filter(({ saidAt }) => saidAt !== undefined).length < NAMED_SUBJECTS) {
      if (!due(failure.saidAt)) return;
      log.warn({ group, subject, err: error, failures }, failure.saidAt === undefined ? 'failing' : 'still failing');
      failure.saidAt = now();
    } else if (due(crowded.get(group))) {
      log.warn({ group, subject, err: error, failing: others.length }, 'more are failing');
      crowded.set(group, now());
    }
  };

  return {
    failed: (group, subject, error) => {
      const message = error instanceof Error ? error.message : String(error);
      const failure = known.get(keyOf(group, subject)) ?? {
        group,
        subject,
        since: now(),
        saidAt: undefined,
        failures: 0,
        message,
      };
      Object.assign(failure, { failures: failure.failures + 1, message });
      known.set(keyOf(group, subject), failure);
      say(failure, error);
    },
    worked: (group, subject) => {
      const failure = known.get(keyOf(group, subject));
      if (!failure) return;
      known.delete(keyOf(group, subject));
      const { since, failures } = failure;
      if (failure.saidAt !== undefined) log.info({ group, subject, failures, downMs: now() - since }, 'works again');
      if (crowded.has(group) && ofGroup(group).length === 0) {
        crowded.delete(group);
        log.info({ group }, 'all work again');
      }
    },
    current: () =>
      [...known.values()].map(({ group, subject, since, message }) => ({ group, subject, since, message })),
  };
};
