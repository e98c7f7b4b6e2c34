import { expect, test } from 'vitest';
import { isHook, parseChannel } from '../../../src/channels/slack/address.ts';

test.each([
  ['C024BE91L', 'C024BE91L'],
  [' G024BE91L ', 'G024BE91L'],
  ['#alerts', '#alerts'],
  ['alerts_2-x', '#alerts_2-x'],
  ['#警報', '#警報'],
])('%j is the channel %j', (text, channel) => expect(parseChannel(text)).toBe(channel));

test.each([
  '',
  '#',
  'Alerts',
  '#a b',
  `#${'a'.repeat(81)}`,
  'xoxb-1-token',
  '#xoxp-1',
  'U024BE91L',
  'https://x.example/',
])('%j is no channel', (text) => expect(parseChannel(text)).toBeUndefined());

test('an incoming webhook is known by its URL', () => {
  expect(['https://hooks.slack.com/services/x', 'http://hooks.example.com/x'].every(isHook)).toBe(true);
  expect(['C024BE91L', '#alerts', 'hooks.slack.com'].some(isHook)).toBe(false);
});
