/** Config keys that every channel kind takes, besides its own. */
import { z } from 'zod';
import { duration } from '../schema/fields.ts';

const RATE_RULE = 'must be a number greater than 0';
const COUNT_RULE = 'must be a whole number from 1 to 1000';

const rate = (description: string) =>
  z.number({ error: RATE_RULE }).positive({ error: RATE_RULE }).exactOptional().describe(description);

const count = () =>
  z.int({ error: COUNT_RULE }).min(1, { error: COUNT_RULE, abort: true }).max(1000, { error: COUNT_RULE });

/** `where` stands behind `Messages a second`. */
const rates = (where: string) =>
  z.strictObject(
    {
      perSecond: rate(`Messages a second${where}; fractions are allowed. Without it there is no such limit.`),
      perMinute: rate(`Messages a minute${where}, in addition to perSecond. Without it there is no such limit.`),
      burst: count()
        .exactOptional()
        .describe('Messages that may be sent at once before the rates apply. Without it: one at a time.'),
    },
    { error: 'must be a map like { perSecond: 1 }' },
  );

const rateLimit = rates(' to one destination');
const senderRateLimit = rates('');

/** How often we send to one destination. Without a rate there is no limit. Default of `burst`: 1. */
export type RateLimit = z.infer<typeof rateLimit>;

const LONGEST_GROUP_WAIT_MS = 60_000;

/** How long messages for people wait for more, where a message cannot take in much of what comes later. */
export const groupWaitOption = (usual: string, description: string) => ({
  groupWait: duration({ minMs: 0, maxMs: LONGEST_GROUP_WAIT_MS }).prefault(usual).describe(description),
});

/** One more field, for a kind whose destinations share a sender: the rate of all of them together. */
export const senderOption = (defaults: RateLimit) => ({
  senderRateLimit: senderRateLimit
    .prefault(defaults)
    .describe(
      'The rate limit of the token or mail server, for all destinations of this kind together. If you set it, set every part that you need: its defaults no longer apply.',
    ),
});

/**
 * Schema fields to spread into a kind's strict object: `rateLimit`, `concurrency`,
 * `timeout` (one attempt, whole; milliseconds; default 15 s) and `retry.maxAge` (milliseconds; default 24 h).
 */
export const channelOptions = (defaults: { rateLimit: RateLimit; concurrency: number }) => ({
  rateLimit: rateLimit
    .prefault(defaults.rateLimit)
    .describe(
      'The rate limit of one destination. Alerts for people that must wait for it become a digest. If you set it, set every part that you need: its defaults no longer apply.',
    ),
  concurrency: count()
    .default(defaults.concurrency)
    .describe('The most messages of this kind that this process sends at once.'),
  timeout: duration({ minMs: 100, maxMs: 600_000 }).prefault('15s').describe('The longest that one attempt may take.'),
  retry: z
    .strictObject({
      maxAge: duration().prefault('24h').describe('How long a delivery is retried before it is dead.'),
    })
    .prefault({})
    .describe('When to give up.'),
});
