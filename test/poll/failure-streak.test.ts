import { expect, test } from 'vitest';
import { ServiceError, type ServiceReason } from '../../src/errors.ts';
import { createStrikes } from '../../src/poll/failure-streak.ts';

const after = (...events: (ServiceReason | 'worked' | 'ours')[]): boolean => {
  const strikes = createStrikes();
  for (const event of events) {
    if (event === 'worked') strikes.worked();
    else strikes.failed(event === 'ours' ? new Error('ours') : new ServiceError(event, 'no answer'));
  }
  return strikes.isOut();
};

const five = <T>(event: T): T[] => Array.from({ length: 5 }, () => event);

test.each(['unauthorized', 'limited', 'held'] as const)('%s counts for every protocol at once', (reason) => {
  expect(after(reason)).toBe(true);
});

test.each(['failed', 'unreachable'] as const)('%s does when five in a row are', (reason) => {
  expect(after(...five(reason).slice(1))).toBe(false);
  expect(after(...five(reason))).toBe(true);
  expect(after(...five(reason).slice(1), 'worked', ...five(reason).slice(1))).toBe(false);
});

test.each(['missing', 'rejected', 'unreadable', 'ours'] as const)('%s is its own trouble, or ours', (reason) => {
  expect(after(...five(reason), ...five(reason))).toBe(false);
});
