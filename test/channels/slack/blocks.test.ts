import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  beginning,
  code,
  escapeSlack,
  fits,
  fitted,
  LIMITS,
  plain,
  section,
  titleBlock,
} from '../../../src/channels/slack/blocks.ts';
import { anyText } from '../../support/texts.ts';

describe('fitted', () => {
  test('counts what escaping adds, and cuts no character', () => {
    expect(fitted('a&b', 7)).toBe('a&b');
    expect(fitted('a&b', 6)).toBe('a…');
    expect(beginning('&&&', 10)).toBe('&&');
    expect(beginning('🧨🧨', 3)).toBe('🧨');
  });

  test('keeps to the limit, for any text', () => {
    fc.assert(
      fc.property(anyText(), fc.integer({ min: 1, max: 50 }), (text, limit) => {
        expect(escapeSlack(fitted(text, limit)).length).toBeLessThanOrEqual(limit);
      }),
    );
  });
});

test('code with a backtick is shown as plain text, or it would end early', () => {
  expect(code('a')).toMatchObject({ type: 'mrkdwn', text: '```\na\n```' });
  expect(code('a`b')).toMatchObject({ type: 'plain_text', text: 'a`b' });
});

test('a title is a header while it is short enough for one', () => {
  expect(titleBlock('x'.repeat(LIMITS.header)).type).toBe('header');
  expect(titleBlock('x'.repeat(LIMITS.header + 1)).type).toBe('section');
  expect(titleBlock('&'.repeat(LIMITS.header / 2)).type).toBe('section');
});

describe('fits', () => {
  const text = (length: number) => section(plain('x'.repeat(length)));

  test.each([
    ['a text of the longest', [text(LIMITS.section)], true],
    ['a text that is longer', [text(LIMITS.section + 1)], false],
    ['an empty text', [text(0)], false],
    ['as many blocks as there may be', Array.from({ length: LIMITS.blocks }, () => text(1)), true],
    ['one block more', Array.from({ length: LIMITS.blocks + 1 }, () => text(1)), false],
    ['too much in all', Array.from({ length: 5 }, () => text(LIMITS.section)), false],
  ])('%s: %j', (_what, blocks, is) => expect(fits(blocks)).toBe(is));
});
