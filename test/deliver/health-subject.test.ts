import { expect, test } from 'vitest';
import { subjectId } from '../../src/deliver/health.ts';
import { subjectName } from '../../src/features/broken-destinations/message.ts';
import { senderId } from '../../src/item.ts';
import { destinationOf } from '../support/alerts.ts';

const SLACK = destinationOf('slack', 'C1');
const MAIL = destinationOf('email', 'a@example.com');

test('a destination is its own subject; a sender is one for every destination of its kind', () => {
  const ids = (isSender: boolean) =>
    [SLACK, destinationOf('slack', 'C2'), MAIL].map((destination) => subjectId({ destination, isSender }));
  expect(ids(false)).toEqual([SLACK.id, destinationOf('slack', 'C2').id, MAIL.id]);
  expect(ids(true)).toEqual([senderId('slack'), senderId('slack'), senderId('email')]);
});

test.each([
  [SLACK, false, 'Slack channel C1'],
  [SLACK, true, 'every Slack channel'],
  [MAIL, true, 'e-mail to every mailbox'],
])('people read which it is: %#', (destination, isSender, name) => {
  expect(subjectName({ destination, isSender })).toBe(name);
});
