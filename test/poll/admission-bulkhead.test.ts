import { expect, test } from 'vitest';
import { createBulkhead } from '../../src/poll/admission.ts';

const setUp = (places: number, ...hanging: string[]) => {
  const slow = new Set(hanging);
  return { slow, bulkhead: createBulkhead(places, { isHanging: (subject) => slow.has(subject) }) };
};

test('has room for so many that may hang, and counts none of the others', () => {
  const { bulkhead } = setUp(2, 'a', 'b', 'c');
  expect(['a', 'b', 'c', 'd', 'e', 'f'].map(bulkhead.enter)).toEqual([true, true, false, true, true, true]);
  bulkhead.leave('a');
  expect(bulkhead.enter('c')).toBe(true);
});

test('a place is free again when its poll ends, whether it hung or not', () => {
  const { slow, bulkhead } = setUp(1, 'a', 'b');
  expect(bulkhead.enter('a')).toBe(true);
  expect(bulkhead.enter('b')).toBe(false);
  slow.delete('a');
  bulkhead.leave('a');
  expect([bulkhead.enter('a'), bulkhead.enter('b')]).toEqual([true, true]);
  slow.clear();
  expect(bulkhead.enter('c')).toBe(true);
});

test('one that did not hang leaves nobody else a place', () => {
  const { bulkhead } = setUp(1, 'a', 'b');
  bulkhead.enter('a');
  bulkhead.leave('c');
  expect(bulkhead.enter('b')).toBe(false);
});
