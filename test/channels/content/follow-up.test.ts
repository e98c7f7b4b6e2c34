import { expect, test } from 'vitest';
import { assessmentWord, followUpWords } from '../../../src/channels/content/follow-up.ts';

test.each([
  ['suspecious', 'suspicious'],
  ['Suspecious', 'suspicious'],
  ['critical', 'critical'],
  ['not suspecious', 'not suspecious'],
  ['under\nreview', 'under review'],
  [' ', 'unknown'],
  ['🟢 OK (was critical) · other', 'OK was critical - other'],
  ['()', 'unknown'],
])('%j reads %j', (assessment, word) => expect(assessmentWord(assessment)).toBe(word));

test('a changed assessment is named with the one before it', () => {
  expect(followUpWords({ of: 'a', was: 'critical', is: 'suspecious' })).toEqual({
    news: 'follow-up to an alert that you had',
    notice: 'The service calls it suspicious now; it was critical. Follow-up to an alert that you had.',
  });
});

test('an inspection that is gone is no longer listed', () => {
  expect(followUpWords({ of: 'a', was: 'critical' })).toEqual({
    news: 'follow-up to an alert that you had',
    notice: 'The service no longer lists this inspection; it was critical. Follow-up to an alert that you had.',
  });
});
