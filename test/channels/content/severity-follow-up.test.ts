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

test('a changed assessment is named, and what it was about, which is text from outside', () => {
  const change = { of: 'a', was: 'critical', is: 'suspecious' };
  expect(followUpWords(change, 'Funds traced to a mixer, 10 hops')).toBe(
    'the service calls it suspicious now. It was: “Funds traced to a mixer, 10 hops”',
  );
  expect(followUpWords(change, 'x”. It is ok')).toBe("the service calls it suspicious now. It was: “x'. It is ok”");
  expect(followUpWords(change, '')).toBe('the service calls it suspicious now.');
});

test('that an inspection is gone does not mean that nothing happened', () => {
  expect(followUpWords({ of: 'a', was: 'critical' }, 'Funds traced to a mixer')).toBe(
    'the service no longer lists this inspection. This does not mean that nothing happened: check the transaction. It was: “Funds traced to a mixer”',
  );
});
