import { expect, test } from 'vitest';
import { chatName } from '../../../src/channels/telegram/transport.ts';

test.each([
  ['a group', { type: 'supergroup', title: 'On-call', username: 'oncall' }, 'On-call'],
  ['a person', { type: 'private', first_name: 'Ada', last_name: 'Byron', username: 'ada' }, 'Ada Byron'],
  ['a person with one name', { type: 'private', first_name: 'Ada' }, 'Ada'],
  ['who has only a handle', { type: 'private', first_name: '', username: 'ada' }, '@ada'],
  ['a title of several lines', { title: 'On\n-call\u202e' }, 'On -call'],
  ['a long title', { title: 'x'.repeat(300) }, `${'x'.repeat(59)}…`],
  ['nothing', { title: '\u200b' }, undefined],
  ['another shape', { title: 7 }, undefined],
  ['no object', null, undefined],
])('the name of %s', (_what, chat, name) => expect(chatName(chat)).toBe(name));
