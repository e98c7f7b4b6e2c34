import { expect, test } from 'vitest';
import { streamsOf } from '../../src/poll/stream.ts';

const names = (count: number, length = 1): string[] =>
  Array.from({ length: count }, (_, n) => `${'é'.repeat(length)} ${n}`);
const groupsOf = (protocols: readonly string[]) =>
  streamsOf('main', protocols, ['notifications']).map((stream) => stream.protocols);

test('inspections are read one protocol at a time, notifications of up to forty together', () => {
  const streams = streamsOf('main', ['B', 'A'], ['inspections', 'notifications']);
  expect(streams.map(({ source, protocols }) => [source, protocols])).toEqual([
    ['inspections', ['B']],
    ['inspections', ['A']],
    ['notifications', ['A', 'B']],
  ]);
  expect(groupsOf(names(100)).map(({ length }) => length)).toEqual([40, 40, 20]);
});

test('long names make smaller groups, so that each fits a URL; a longer one is alone', () => {
  const groups = groupsOf([...names(10, 150), 'é'.repeat(600)]);
  const bytes = groups.map((group) => encodeURIComponent(group.join('')).length);
  expect(groups.flat()).toHaveLength(11);
  expect(groups.filter((group, index) => (bytes[index] ?? 0) > 3000 && group.length > 1)).toEqual([]);
  expect(groups.find((group) => group.includes('é'.repeat(600)))).toHaveLength(1);
});

test('the same names give the same groups, in whatever order they are listed', () => {
  const all = names(90);
  expect(groupsOf(all.toReversed())).toEqual(groupsOf(all));
});

test('inspections of a protocol that no URL can carry are not asked for; its notifications are', () => {
  const streams = streamsOf('main', ['..', '../x', '.hidden', '.'], ['inspections', 'notifications']);
  expect(streams.map(({ protocols }) => protocols)).toEqual([['../x'], ['.hidden'], ['.', '..', '../x', '.hidden']]);
});
