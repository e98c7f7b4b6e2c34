/** Ended mutes and approved destinations do not wait for each other. */
import { expect, test } from 'vitest';
import { createRelease } from '../../../src/features/suppression/filter.ts';

const fail = (message: string) => async (): Promise<void> => {
  throw new Error(message);
};

test('a mute that cannot be ended stops no approved destination, and each failure is logged', async () => {
  const lines: string[] = [];
  let released = 0;
  const log = { error: ({ err }: { err: Error }, text: string) => void lines.push(`${text}: ${err.message}`) } as never;
  const releaseApproved = async (): Promise<void> => {
    released += 1;
  };
  await createRelease({ expireMutes: fail('no list'), releaseApproved, log })();
  expect(released).toBe(1);
  await createRelease({ expireMutes: fail('no list'), releaseApproved: fail('no lock'), log })();
  expect(lines).toEqual([
    'ending mutes failed; trying again: no list',
    'ending mutes failed; trying again: no list',
    'sending held alerts failed; trying again: no lock',
  ]);
});
