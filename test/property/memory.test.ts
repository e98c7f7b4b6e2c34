/**
 * Daemons that remember what they have read, and a Redis that fails over, is emptied, or has its cursors set: nothing is
 * lost, and nothing is queued twice but where something broke. Time and the service are simulated; Redis is real.
 *
 * `TOCSIN_SEEDS=5000` plays more; `TOCSIN_SEED=123` plays that one alone and tells what happened.
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { openTestRedis } from '../support/redis.ts';
import { playStory } from './memory/story.ts';

const ONE = process.env.TOCSIN_SEED;
const SEEDS = Number(process.env.TOCSIN_SEEDS ?? 50);
const FIRST = ONE === undefined ? 1 : Number(ONE);
const LAST = ONE === undefined ? SEEDS : FIRST;

/** So many at once: while one waits for Redis, another goes on. */
const ABREAST = 8;

test(
  `what daemons remember loses nothing and doubles nothing, for ${LAST - FIRST + 1} seeds`,
  async () => {
    const { redis } = openTestRedis();
    const failed: { seed: number; isSilent: boolean; problems: string[] }[] = [];
    const totals = { items: 0, quiet: 0, dispatched: 0, failovers: 0, crashes: 0, sets: 0 };
    let next = FIRST;
    const playOn = async (): Promise<void> => {
      for (let seed = next; seed <= LAST; seed = next) {
        next += 1;
        const { problems, counts, told, isSilent } = await playStory(seed, redis, `{memory-${randomUUID()}}`);
        for (const key of Object.keys(totals) as (keyof typeof totals)[]) totals[key] += counts[key];
        if (problems.length > 0) failed.push({ seed, isSilent, problems: problems.slice(0, 3) });
        if (ONE !== undefined) process.stdout.write(`${JSON.stringify({ problems, counts, told }, null, 1)}\n`);
      }
    };
    await Promise.all(Array.from({ length: ABREAST }, playOn));
    if (process.env.TOCSIN_SEEDS !== undefined) process.stdout.write(`${JSON.stringify({ totals, failed })}\n`);
    expect(failed.slice(0, 5), 'again with TOCSIN_SEED=…').toEqual([]);
    expect(Math.min(...Object.values(totals))).toBeGreaterThan(0);
  },
  30_000 + (LAST - FIRST) * 1000,
);
