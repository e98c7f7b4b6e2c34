import { expect, test } from 'vitest';
import { rest } from '../../src/deliver/message-stages.ts';
import { handed, jobOf, messageOf, messageRun } from '../support/delivery-runs.ts';

const restsAfter = async (isDigest: boolean, changes: object = {}): Promise<boolean> => {
  const rested: string[] = [];
  const job = jobOf([1, 2], changes);
  const sendSlots = { rest: async ({ id }: { id: string }) => void rested.push(id) };
  expect(await rest(messageRun(job, { message: messageOf(job, { isDigest }) }), handed({ sendSlots }))).toBeUndefined();
  return rested.includes(job.destination.id);
};

test('a destination rests after a digest, and after nothing else', async () => {
  expect(await restsAfter(true)).toBe(true);
  expect(await restsAfter(false)).toBe(false);
});

test('once for a digest that is tried again, and not for its parts', async () => {
  expect(await restsAfter(true, { attempt: 1 })).toBe(false);
  expect(await restsAfter(true, { most: 10 })).toBe(false);
});

test('not again where the destination rests for it already', async () => {
  const job = jobOf([1, 2]);
  const run = messageRun(job, { message: messageOf(job, { isDigest: true }) });
  const rested: string[] = [];
  const sendSlots = { rest: async () => void rested.push('rest') };
  run.run.hasRested = true;
  await rest(run, handed({ sendSlots }));
  expect(rested).toEqual([]);
  await rest(run, handed({ sendSlots }));
  expect(rested).toEqual(['rest']);
});
