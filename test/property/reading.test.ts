/**
 * Whatever a service does where its description is silent, and whatever breaks: every critical that was written within
 * the promises is queued, none twice, and no cursor goes back. Time is simulated; HTTP and Redis are real.
 *
 * `TOCSIN_SEEDS=5000` plays more; `TOCSIN_SEED=123` plays that one alone and shows what it drew.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openTestRedis } from '../support/redis.ts';
import { type Outcome, playStory } from './reading/story.ts';

const ONE = process.env.TOCSIN_SEED;
const SEEDS = Number(process.env.TOCSIN_SEEDS ?? 40);
const FIRST = ONE === undefined ? 1 : Number(ONE);
const LAST = ONE === undefined ? SEEDS : FIRST;

/** So many at once: while one waits for an answer, another goes on. */
const ABREAST = 8;

describe('reading', () => {
  test(
    `is complete and exact for ${LAST - FIRST + 1} seeds`,
    async () => {
      const { redis } = openTestRedis();
      const prefix = `{property-${randomUUID()}}`;
      const failed: { seed: number; problems: string[] }[] = [];
      const totals = { inspections: 0, notifications: 0, crashes: 0, failures: 0, requests: 0 };
      let next = FIRST;
      const playOn = async (): Promise<void> => {
        for (let seed = next; seed <= LAST; seed = next) {
          next += 1;
          const outcome: Outcome = await playStory(seed, redis, `${prefix}:${seed}`);
          for (const key of Object.keys(totals) as (keyof typeof totals)[]) totals[key] += outcome.counts[key];
          if (outcome.problems.length > 0) failed.push({ seed, problems: outcome.problems.slice(0, 5) });
          if (ONE !== undefined) process.stdout.write(`${JSON.stringify(outcome, null, 1)}\n`);
        }
      };
      await Promise.all(Array.from({ length: ABREAST }, playOn));
      if (process.env.TOCSIN_SEEDS !== undefined) {
        process.stdout.write(`${JSON.stringify({ totals, failed: failed.map(({ seed }) => seed) })}\n`);
      }
      expect(failed.slice(0, 5), 'again with TOCSIN_SEED=…').toEqual([]);
      expect(totals.inspections).toBeGreaterThan(LAST - FIRST);
    },
    30_000 + (LAST - FIRST) * 1000,
  );
});
