/** Remarks that somebody knows of: which can be, for how long, and when they count again. */
import { expect, test } from 'vitest';
import { CONDITION_NAMES, type Condition, rowOf } from '../../../src/condition.ts';
import { acceptanceBy, createKnownRemarks, newKnown, remarkId } from '../../../src/features/conditions/known.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const DAY = 86_400_000;
const REMARK: Condition = { name: 'routing', of: 'x', what: '“Vault”: it has no channels' };
const WANTED = { reason: 'the team looks at the page', author: 'Ann', until: '30d' };

const setUp = (most?: number) => {
  const time = { now: T0 };
  const { redis, prefix } = openTestRedis();
  return { time, known: createKnownRemarks(redis, prefix, () => time.now, most) };
};

test('only what stands as it is said can be known, and nothing that stops, delays or loses alerts', () => {
  const knowable = CONDITION_NAMES.filter((name) => remarkId({ ...REMARK, name }) !== undefined);
  expect(knowable).toEqual(['unwatched', 'slow-polls', 'routing']);
  expect(knowable.every((name) => rowOf(name).severity === 'note')).toBe(true);
  expect(() => newKnown({ ...REMARK, name: 'dead' }, WANTED, T0)).toThrow('only a standing remark');
});

test('a remark is known until its end, by itself', async () => {
  const { time, known } = setUp();
  const one = newKnown(REMARK, WANTED, T0);
  await known.add(one);
  expect(acceptanceBy(await known.list())(REMARK)).toEqual({
    ...{ reason: WANTED.reason, author: 'Ann', from: '2026-11-20T12:00:00.000Z', until: '2026-12-20T12:00:00.000Z' },
  });
  time.now = T0 + 30 * DAY - 1;
  expect(await known.list()).toHaveLength(1);
  time.now += 1;
  expect(await known.list()).toEqual([]);
});

test.each<[string, Partial<Condition>]>([
  ['what it says', { what: '“Vault”, “Bridge”: it has no channels' }],
  ['what it is of, where the sentence only counts', { of: 'y' }],
  ['why', { why: 'because' }],
  ['its name', { name: 'unwatched' }],
])('a remark that differs in %s is another one', async (_, changes) => {
  const { known } = setUp();
  await known.add(newKnown(REMARK, WANTED, T0));
  expect(acceptanceBy(await known.list())({ ...REMARK, ...changes })).toBeUndefined();
  expect(remarkId({ ...REMARK, ...changes })).not.toBe(remarkId(REMARK));
});

test('two remarks with the same id are not taken for each other', async () => {
  const { known } = setUp();
  await known.add({ ...newKnown(REMARK, WANTED, T0), print: 'of another text' });
  expect(acceptanceBy(await known.list())(REMARK)).toBeUndefined();
});

test('it is said again with another end, and ended by hand', async () => {
  const { known } = setUp();
  const one = newKnown(REMARK, WANTED, T0);
  await known.add(one);
  await known.add(newKnown(REMARK, { ...WANTED, until: '2026-12-31' }, T0));
  expect(await known.list()).toMatchObject([{ id: one.id, until: '2026-12-31T00:00:00.000Z' }]);
  await known.end(one.id);
  expect(await known.list()).toEqual([]);
});

test('so many are known at most; those that are over make room', async () => {
  const { time, known } = setUp(2);
  const of = (n: number, until = '30d') => newKnown({ ...REMARK, of: String(n) }, { ...WANTED, until }, time.now);
  await known.add(of(1, '1d'));
  await known.add(of(2));
  await expect(known.add(of(3))).rejects.toThrow('2 remarks are known, which is the most');
  await known.add(of(2, '60d'));
  time.now += DAY;
  await known.add(of(3));
  expect(await known.list()).toHaveLength(2);
});

test.each(['366d', '0s', 'soon', '2026-11-20', '2026-02-31', '2028-01-01', ''])(
  'it cannot be known until %j',
  (until) => {
    expect(() => newKnown(REMARK, { ...WANTED, until }, T0, (field) => `--${field}`)).toThrow(
      `--until must be a duration like 30d or a date like 2026-12-31, at most 365d from now (got '${until}')`,
    );
  },
);

test('a reason has to say something, and is one line', () => {
  expect(() => newKnown(REMARK, { ...WANTED, reason: ' \u200b\n' }, T0)).toThrow('reason must say why');
  expect(newKnown(REMARK, { ...WANTED, reason: `a\n\u001b[2Jb${'x'.repeat(999)}` }, T0).reason).toMatch(/^a \[2Jbx+…$/);
});
