/** Polls that did not get an answer last time may hang again, so only a few of them run at once: the rest stay on time. */

export interface Lane {
  /** False where `subject` is one of these and there is no place for it now. */
  enter(subject: string): boolean;
  /** `answered`: false puts the subject among these, true takes it out; left out, it stays what it was. */
  leave(subject: string, answered?: boolean): void;
  /** Nobody is to blame any more: the service itself had been away. */
  clear(): void;
}

/** `places` for those that failed, at the same time; all others are not counted. */
export const createLane = (places: number): Lane => {
  const slow = new Set<string>();
  const running = new Set<string>();
  return {
    enter: (subject) => {
      if (!slow.has(subject)) return true;
      if (running.size >= places) return false;
      running.add(subject);
      return true;
    },
    leave: (subject, answered) => {
      running.delete(subject);
      if (answered === true) slow.delete(subject);
      else if (answered === false) slow.add(subject);
    },
    clear: () => slow.clear(),
  };
};
