import { expect, test } from 'vitest';
import { serviceStates } from '../../src/poll/service-states.ts';

test('a service is up where nothing of it fails, and names its oldest failure otherwise', () => {
  const failing = [
    { group: 'queue', message: 'Redis went away' },
    { group: 'second', message: 'answered 500' },
    { group: 'second', message: 'answered 502' },
  ];
  expect(serviceStates(['main', 'second'], failing)).toEqual([
    { name: 'main', up: true },
    { name: 'second', up: false, lastError: 'answered 500' },
  ]);
});
