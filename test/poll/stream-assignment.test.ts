import { expect, test } from 'vitest';
import { createAssignment, streamsOf } from '../../src/poll/stream.ts';

const STREAMS = streamsOf(
  'main',
  Array.from({ length: 3000 }, (_, n) => `Protocol ${n}`),
  ['inspections'],
);
const ownerOf = (readers: readonly string[]) =>
  STREAMS.map((stream) => readers.filter((own) => createAssignment(own, readers)(stream)));

test('each stream has one owner, and each daemon about as many', () => {
  const readers = ['a', 'b', 'c'];
  const owners = ownerOf(readers);
  expect(owners.every((all) => all.length === 1)).toBe(true);
  for (const reader of readers) expect(owners.filter(([one]) => one === reader).length / 1000).toBeCloseTo(1, 0);
});

test('a daemon that goes leaves its streams to the others, and those keep theirs', () => {
  const [before, after] = [ownerOf(['a', 'b', 'c']).flat(), ownerOf(['a', 'c']).flat()];
  const isKept = (owner: string | undefined, index: number): boolean => owner === 'b' || owner === after[index];
  expect(before.every(isKept)).toBe(true);
  const inherited = after.filter((_, index) => before[index] === 'b');
  expect(new Set(inherited)).toEqual(new Set(['a', 'c']));
});

test('one that is alone has all', () => {
  expect(STREAMS.every(createAssignment('a', ['a']))).toBe(true);
});

test('one that does not share a service has nothing of it', () => {
  expect(STREAMS.filter(createAssignment('a', ['b', 'c']))).toEqual([]);
});
