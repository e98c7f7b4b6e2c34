/** Says once that something fails, reminds rarely, and says once that it works again: a log that can be read at night. */
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';

interface Failure {
  group: string;
  subject: string;
  since: number;
  message: string;
  saidAt: number | undefined;
  failures: number;
}

const REMIND_EVERY_MS = 10 * 60_000;
/** Subjects of a group with log lines of their own; the next makes one line for all. */
const NAMED_SUBJECTS = 3;

export const createFailureLog = (log: Pick<Logger, 'warn' | 'info'>, now: () => number) => {
  const known = new Map<string, Failure>();
  const crowded = new Map<string, number>();
  const keyOf = (group: string, subject: string) => `${group}\n${subject}`;
  const ofGroup = (group: string) => [...known.values()].filter((failure) => failure.group === group);
  const isDue = (saidAt: number | undefined) => saidAt === undefined || now() - saidAt >= REMIND_EVERY_MS;

  const say = (failure: Failure, error: unknown): void => {
    const { group, subject, failures, saidAt } = failure;
    const all = ofGroup(group);
    if (saidAt !== undefined || all.filter((one) => one.saidAt !== undefined).length < NAMED_SUBJECTS) {
      if (!isDue(saidAt)) return;
      log.warn({ group, subject, err: error, failures }, saidAt === undefined ? 'failing' : 'still failing');
      failure.saidAt = now();
    } else if (isDue(crowded.get(group))) {
      log.warn({ group, subject, err: error, failing: all.length }, 'more are failing');
      crowded.set(group, now());
    }
  };

  return {
    /** `subject` names what fails and `group` what it belongs to (a service): many subjects of a group make one line. */
    failed: (group: string, subject: string, error: unknown): void => {
      const key = keyOf(group, subject);
      const { since = now(), saidAt, failures = 0 } = known.get(key) ?? {};
      const failure = { group, subject, since, saidAt, failures: failures + 1, message: messageOf(error) };
      known.set(key, failure);
      say(failure, error);
    },
    worked: (group: string, subject: string): void => {
      if (known.size === 0) return;
      const failure = known.get(keyOf(group, subject));
      if (!failure) return;
      known.delete(keyOf(group, subject));
      const { since, failures, saidAt } = failure;
      if (saidAt !== undefined) log.info({ group, subject, failures, downMs: now() - since }, 'works again');
      if (crowded.has(group) && ofGroup(group).length === 0) {
        crowded.delete(group);
        log.info({ group }, 'all work again');
      }
    },
    forget: (group: string, subject: string): void => void known.delete(keyOf(group, subject)),
    current: (): Failure[] => [...known.values()],
  };
};

export type FailureLog = ReturnType<typeof createFailureLog>;
