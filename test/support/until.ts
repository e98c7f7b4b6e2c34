import { setTimeout as delay } from 'node:timers/promises';

/** Waits until `condition` gives something truthy and returns it; fails by name after `timeoutMs`. */
export const until = async <T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = 45_000,
): Promise<NonNullable<T>> => {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await delay(10);
  }
};
