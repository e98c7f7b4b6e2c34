/** Which of the daemons that live share a service. */
import { expect, test } from 'vitest';
import { readersOf } from '../../src/app/membership.ts';
import type { Member } from '../../src/redis/members.ts';

const member = (id: string, changes: Partial<Member> = {}): Member => ({
  ...{ id, host: 'here', pid: 1, workers: [], services: ['main'], blindTo: [], reads: 'all' },
  ...changes,
});

test('those that poll it, but for those that it does not answer, unless it answers nobody', () => {
  const [one, other] = [member('one'), member('other', { blindTo: ['main'] })];
  expect(readersOf('main', [one, other, member('third', { services: [] })], 'one')).toEqual(['one']);
  expect(readersOf('main', [one, other], 'other')).toEqual(['one']);
  expect(readersOf('main', [{ ...one, blindTo: ['main'] }, other], 'one')).toEqual(['one', 'other']);
});

test('a daemon with another config has a share of its own: it would not read what the others leave to it', () => {
  const members = [member('one'), member('other', { reads: 'inspections only' }), member('third')];
  expect(readersOf('main', members, 'one')).toEqual(['one', 'third']);
  expect(readersOf('main', members, 'other')).toEqual(['other']);
});
