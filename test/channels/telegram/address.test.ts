import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { formatChatAddress, parseChatAddress } from '../../../src/channels/telegram/address.ts';
import { telegramConfig } from '../../../src/channels/telegram/config.ts';
import { telegram } from '../../../src/channels/telegram/module.ts';

const TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';

describe('addresses', () => {
  test.each([
    ['-1001234567890', { chat: '-1001234567890' }],
    ['42', { chat: '42' }],
    ['9223372036854775807', { chat: '9223372036854775807' }],
    ['@lending_alerts', { chat: '@lending_alerts' }],
    ['-100123/77', { chat: '-100123', topic: 77 }],
    ['-100123/1', { chat: '-100123' }],
  ])('%s is one', (text, address) => expect(parseChatAddress(text)).toEqual(address));

  test.each([
    '',
    '0',
    '-0',
    '007',
    '1.5',
    '1e9',
    '+5',
    '--5',
    '99999999999999999999',
    '@a',
    '@1abc',
    '@a-bcd',
    'lending_alerts',
    '5/',
    '5/0',
    '5/x',
    '5/99999999999',
    '5/6/7',
    ' 5',
    '5\n',
    '٥',
  ])('%j is none', (text) => expect(parseChatAddress(text)).toBeUndefined());

  test('the General topic and its chat are one destination', () => {
    const entry = { name: 'telegram', contacts: ['-100123/1', ' -100123 ', '-100123/2'] };
    expect(telegram.addressesOf(entry)).toEqual({ addresses: ['-100123', '-100123/2'], problems: [] });
    expect(formatChatAddress({ chat: '@abcd', topic: 3 })).toBe('@abcd/3');
  });

  test('a token among the contacts is not repeated in the problem', () => {
    const { problems } = telegram.addressesOf({ name: 'telegram', contacts: [`bot${TOKEN}`] });
    expect(problems).toHaveLength(1);
    expect(problems.join()).not.toContain(TOKEN);
  });
});

describe('config', () => {
  test.each([
    [{}, /botToken/],
    [{ botToken: 'abc' }, /bot token as BotFather gives it/],
    [{ botToken: `${TOKEN}/x` }, /bot token/],
    [{ botToken: TOKEN, apiRoot: 'api.telegram.org' }, /http or https URL/],
    [{ botToken: TOKEN, token: 'x' }, /token/],
  ])('%j is refused', (config, why) => {
    const { error } = telegramConfig.safeParse(config);
    expect(error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join()).toMatch(why);
  });

  test('keeps the token to itself', () => {
    const config = telegramConfig.parse({ botToken: TOKEN });
    expect(`${inspect(config, { depth: 9 })}${JSON.stringify(config)}`).not.toContain(TOKEN);
    expect(config.botToken.reveal()).toBe(TOKEN);
  });
});
