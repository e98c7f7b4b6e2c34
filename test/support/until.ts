import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MS = { least: 10, most: 100 };

/** Waits until `condition` gives something truthy and returns it; fails by name after `timeoutMs`. */
export const until = async <T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = 100_000,
): Promise<NonNullable<T>> => {
  const begun = Date.now();
  for (;;) {
    const asked = Date.now();
    const value = await condition();
    if (value) return value;
    const now = Date.now();
    if (now > begun + timeoutMs) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    // Less often the longer it takes, and the dearer the question is: many ask by a whole command, or read all metrics.
    const pause = Math.max((now - begun) / 10, now - asked);
    await delay(Math.min(PAUSE_MS.most, Math.max(PAUSE_MS.least, pause)));
  }
};
