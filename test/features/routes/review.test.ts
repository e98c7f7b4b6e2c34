/** Which channel entries lead nowhere is found once for each listing. */
import { expect, test } from 'vitest';
import { createRouteReview } from '../../../src/features/routes/review.ts';
import { createLines } from '../../ops/lines.ts';

const SETTINGS = { overrides: {}, kinds: [] } as unknown as Parameters<typeof createRouteReview>[0];

test('a listing that has not changed is not gone through again; a changed one is', () => {
  const { log } = createLines();
  const review = createRouteReview(SETTINGS, log);
  let looks = 0;
  const protocol = {
    name: 'Vault',
    get channels() {
      looks += 1;
      return [];
    },
  };
  const listed = new Map([['Vault', protocol]]);
  review.review('main', listed);
  const once = looks;
  expect(once).toBeGreaterThan(0);
  review.review('main', listed);
  expect(looks).toBe(once);
  expect(review.problems()).toEqual(['“Vault”: it has no channels, so its alerts reach nobody']);
  review.review('main', new Map(listed));
  expect(looks).toBeGreaterThan(once);
});

test('for people, protocols with the same problem are one sentence, and the first few are named', () => {
  const { log, lines } = createLines();
  const review = createRouteReview(SETTINGS, log, ['the fallback has no channel']);
  const names = ['Vault', 'Bridge', 'Swap', 'Pool', 'Lend'];
  review.review('main', new Map(names.map((name) => [name, { name, channels: [] }])));
  expect(review.problems()).toHaveLength(6);
  expect(review.problemsTogether()).toMatchObject([
    { text: 'the fallback has no channel', entries: 1 },
    { text: '“Bridge”, “Lend”, “Pool” and 2 more: it has no channels, so its alerts reach nobody', entries: 5 },
  ]);
  // The log names each.
  expect(lines).toHaveLength(6);
});
