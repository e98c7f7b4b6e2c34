/** Polls that hung last time may hang again, so only a few of them run at once: the rest stay on time. */
import type { FailureDetector } from './failure-detector.ts';

export interface Bulkhead {
  /** False where `subject` may hang and there is no place for it now. */
  enter(subject: string): boolean;
  /** The poll ended, however that went. */
  leave(subject: string): void;
}

/** `places`: for those that may hang, at the same time; all others are not counted. */
export const createBulkhead = (places: number, { isHanging }: Pick<FailureDetector, 'isHanging'>): Bulkhead => {
  const running = new Set<string>();
  return {
    enter: (subject) => {
      if (!isHanging(subject)) return true;
      if (running.size >= places) return false;
      running.add(subject);
      return true;
    },
    leave: (subject) => void running.delete(subject),
  };
};
