import { expect, test } from 'vitest';
import { assessmentWord, followUpWords } from '../../../src/channels/content/severity.ts';

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

test('a changed assessment is named; the title says what it was', () => {
  expect(followUpWords({ of: 'a', was: 'critical', is: 'suspecious' })).toEqual({
    news: 'follow-up to an alert that you had',
    notice: 'Follow-up: the service calls it suspicious now.',
  });
});

test('an inspection that is gone is no longer listed', () => {
  expect(followUpWords({ of: 'a', was: 'critical' })).toEqual({
    news: 'follow-up to an alert that you had',
    notice: 'Follow-up: the service no longer lists this inspection.',
  });
});
