import { expect, test } from 'vitest';
import { assessmentWord, followUpNews, followUpNotice } from '../../../src/channels/content/severity.ts';

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
  expect(followUpNews(change, 'Funds traced to a mixer, 10 hops')).toBe(
    'the service calls it suspicious now. It was: “Funds traced to a mixer, 10 hops”',
  );
  expect(followUpNews(change, 'x”. It is ok')).toBe("the service calls it suspicious now. It was: “x'. It is ok”");
  expect(followUpNews(change, '')).toBe('the service calls it suspicious now.');
});

test('that an inspection is gone does not mean that nothing happened', () => {
  const gone = { of: 'a', was: 'critical' };
  const news = followUpNews(gone, 'Funds traced to a mixer');
  expect(news).toBe(
    'It was: “Funds traced to a mixer”. This does not mean that nothing happened: check the transaction.',
  );
  expect(followUpNotice(gone, news)).toBe(`The service has taken this finding off its list. ${news}`);
  expect(followUpNotice({ ...gone, is: 'ok' }, 'the service calls it ok now.')).toBe(
    'The service calls it ok now. The service gives no reason: check the transaction before you stand down.',
  );
  expect(followUpNotice({ ...gone, is: 'ok' }, 'the service calls it ok now. It was: “x”')).toBe(
    'The service calls it ok now. It was: “x”. The service gives no reason: check the transaction before you stand down.',
  );
});
