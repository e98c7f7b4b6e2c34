/** Buttons below messages, and messages without a sound, as the strict receiver judges them. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { createTelegramReceiver } from '../../../../src/sandbox/receivers/telegram/telegram.ts';

const CHAT = '-1001234567890';

const start = async () => {
  const receiver = createTelegramReceiver();
  onTestFinished(() => receiver.stop());
  const { apiRoot } = await receiver.start();
  const call = async (method: string, fields: object): Promise<{ ok: boolean; description?: string }> => {
    const body = JSON.stringify({ chat_id: CHAT, text: 'x', ...fields });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${apiRoot}/bot123456789:sandbox/${method}`, { method: 'POST', headers, body });
    return (await response.json()) as { ok: boolean; description?: string };
  };
  return { receiver, call };
};

const keyboard = (...rows: object[][]) => ({ reply_markup: { inline_keyboard: rows } });
const url = { text: 'Explorer', url: 'https://x.example/tx/0x1' };

describe('a keyboard', () => {
  test('is kept row by row', async () => {
    const { receiver, call } = await start();
    const rows = [
      [url, { text: 'Seen', callback_data: 'a'.repeat(64) }],
      [],
      [{ text: 'Copy', copy_text: { text: '0x1' } }],
    ];
    expect(await call('sendMessage', keyboard(...rows))).toMatchObject({ ok: true });
    const inForm = { reply_markup: JSON.stringify(keyboard([url]).reply_markup) };
    expect(await call('sendMessage', inForm)).toMatchObject({ ok: true });
    expect(receiver.received().map(({ raw }) => raw.keyboard)).toEqual([
      [[url, { text: 'Seen', callbackData: 'a'.repeat(64) }], [{ text: 'Copy', copyText: '0x1' }]],
      [[url]],
    ]);
  });

  test.each([
    ['a button without a deed', keyboard([{ text: 'a' }]), /Text buttons are unallowed in the inline keyboard$/],
    ['a button with two deeds', keyboard([{ ...url, callback_data: 'a' }]), /Text buttons are unallowed/],
    ['a button without a text', keyboard([{ ...url, text: ' ' }]), /must be non-empty$/],
    ['65 bytes', keyboard([{ text: 'a', callback_data: `${'a'.repeat(62)}é.` }]), /^Bad Request: BUTTON_DATA_INVALID$/],
    ['a host without a dot', keyboard([{ text: 'a', url: 'https://runbooks/a' }]), /is invalid: Wrong HTTP URL$/],
    ['a file', keyboard([{ text: 'a', url: 'ftp://x.example/a' }]), /Unsupported URL protocol$/],
    ['much to copy', keyboard([{ text: 'a', copy_text: { text: 'a'.repeat(257) } }]), /COPY_TEXT_INVALID$/],
    ['no rows of buttons', { reply_markup: { inline_keyboard: [url] } }, /must be an Array of Arrays$/],
    ['nine in a row', keyboard(Array(9).fill(url)), /REPLY_MARKUP_TOO_LONG$/],
    ['101 in all', keyboard(...Array(13).fill(Array(8).fill(url))), /REPLY_MARKUP_TOO_LONG$/],
    ['no object', { reply_markup: '[' }, /object expected as reply markup$/],
  ])('%s is refused', async (_name, fields, description) => {
    const { call } = await start();
    expect(await call('sendMessage', fields)).toMatchObject({
      ok: false,
      description: expect.stringMatching(description),
    });
  });

  test('is replaced by an edit, and gone after one without', async () => {
    const { receiver, call } = await start();
    await call('sendMessage', keyboard([url]));
    const edit = (fields: object) => call('editMessageText', { message_id: 1, ...fields });
    expect((await edit(keyboard([url]))).description).toMatch(/message is not modified/);
    expect(await edit(keyboard([{ ...url, text: 'Chain' }]))).toMatchObject({ ok: true });
    expect(await edit({})).toMatchObject({ ok: true });
    expect(receiver.edits().map((one) => one.keyboard)).toEqual([[[{ ...url, text: 'Chain' }]], undefined]);
  });
});

test('a message may come without a sound', async () => {
  const { receiver, call } = await start();
  await call('sendMessage', { disable_notification: true });
  await call('sendMessage', { disable_notification: false });
  expect(receiver.received().map(({ raw }) => raw.silent)).toEqual([true, undefined]);
});

test('markup that Telegram drops is told', async () => {
  const { receiver, call } = await start();
  await call('sendMessage', { text: '<b>a <code>b</code></b>', parse_mode: 'HTML' });
  expect(receiver.received()[0]?.raw.lost).toEqual([{ type: 'bold', offset: 0, length: 3 }]);
});
