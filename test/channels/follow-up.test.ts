import { expect, test } from 'vitest';
import { assessmentWord, followUpWords } from '../../src/channels/follow-up.ts';

test.each([
  ['suspecious', 'suspicious'],
  ['Suspecious', 'suspicious'],
  ['critical', 'critical'],
  ['not suspecious', 'not suspecious'],
  ['under\nreview', 'under review'],
  [' ', 'unknown'],
])('%j reads %j', (assessment, word) => expect(assessmentWord(assessment)).toBe(word));

test('a changed assessment is named with the one before it', () => {
  expect(followUpWords({ of: 'a', was: 'critical', is: 'suspecious' })).toEqual({
    news: 'now SUSPICIOUS (was CRITICAL)',
    notice:
      'Follow-up to an alert you had: the service now assesses this inspection as suspicious. It was critical before.',
  });
});

test('an inspection that is gone is no longer listed', () => {
  expect(followUpWords({ of: 'a', was: 'critical' })).toEqual({
    news: 'no longer listed (was CRITICAL)',
    notice: 'Follow-up to an alert you had: the service no longer lists this inspection. It was assessed as critical.',
  });
});
