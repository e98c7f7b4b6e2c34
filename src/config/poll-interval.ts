/** What `poll.interval` means to those who have to know how long a protocol may go unread. */

/** Of `auto`: no stream is read more often than the first, and none more seldom than the second. */
export const AUTO_INTERVAL_MS = { least: 1000, longest: 15_000 } as const;

/** Milliseconds between two polls of one protocol and source, at most. */
export const longestIntervalMs = ({ interval }: { interval: number | 'auto' }): number =>
  interval === 'auto' ? AUTO_INTERVAL_MS.longest : interval;
