import { expect, test } from 'vitest';
import { serviceStates } from '../../src/poll/read-watch.ts';

test('a service is up where nothing of it fails, and names its oldest failure otherwise', () => {
  const failing = [
    { group: 'queue', since: 0, message: 'Redis went away' },
    { group: 'second', since: Date.UTC(2026, 10, 21), message: 'answered 500' },
    { group: 'second', since: Date.UTC(2026, 10, 22), message: 'answered 502' },
  ];
  expect(serviceStates(['main', 'second'], failing)).toEqual([
    { name: 'main', up: true },
    { name: 'second', up: false, since: '2026-11-21T00:00:00.000Z', lastError: 'answered 500' },
  ]);
});
