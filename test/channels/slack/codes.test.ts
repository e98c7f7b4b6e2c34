import { expect, test } from 'vitest';
import { hookFailure } from '../../../src/channels/slack/call.ts';
import { hookMeaningOf, meaningOf, SLACK_CODES } from '../../../src/channels/slack/codes.ts';

/** Of our program, not of the operator's: nobody can mend these by a setting. */
const OURS = [
  'enterprise_is_restricted',
  'send_on_behalf_not_allowed',
  'as_user_not_supported',
  'is_bot',
  'metadata_must_be_sent_from_app',
  'method_deprecated',
  'deprecated_endpoint',
  'unknown_method',
];

const codesOf = (reason: string): string[] =>
  Object.keys(SLACK_CODES).filter((code) => SLACK_CODES[code]?.reason === reason && !OURS.includes(code));

test.each(codesOf('destination-dead'))('%s is said of the channel in words, with what mends it', (code) => {
  const { who, is = '', todo } = meaningOf(code)?.explanation ?? {};
  expect(who).toBeUndefined();
  expect(is).toMatch(/^(is|has|does|takes) /);
  expect(is).not.toMatch(/_/);
  expect(todo).toMatch(/^[a-z]{3,} .*[^.]$/);
});

test.each(codesOf('sender-misconfigured'))('%s is said of Slack in words, with what mends it', (code) => {
  const { who, is = '', todo } = meaningOf(code)?.explanation ?? {};
  expect(who).toBe('Slack');
  expect(is).toMatch(/^[a-z]/);
  expect(is).not.toMatch(/_/);
  expect(todo).toMatch(/^[a-z]{3,} .*[^.]$/);
});

test('a code that says nothing about channel or token has no words', () => {
  expect(meaningOf('invalid_blocks')?.explanation).toBeUndefined();
  expect([meaningOf('constructor'), hookMeaningOf('brand_new')]).toEqual([undefined, undefined]);
});

test('an incoming webhook is never blamed on the bot token', () => {
  const failure = (text: string) => hookFailure({ status: 403, headers: {}, text }, 'hooks.slack.com', undefined);
  const { message, reason } = failure('token_revoked');
  expect(reason).toBe('destination-dead');
  expect(message).toBe(
    'the channel is an incoming webhook that was removed or disabled (hooks.slack.com answered 403 token_revoked)',
  );
  expect(failure('channel_is_archived').message).toMatch(/^the channel is archived \(/);
});
