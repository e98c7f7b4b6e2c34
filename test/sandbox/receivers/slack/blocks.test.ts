/** Block Kit's newer shapes: rich text, dates, buttons and attachments, as the strict receiver judges and reads them. */
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../src/sandbox/json.ts';
import { findBlockProblems } from '../../../../src/sandbox/receivers/slack/blocks.ts';
import { readableText, readSlackMessage } from '../../../../src/sandbox/receivers/slack/message.ts';

const rich = (...elements: JsonValue[]): JsonObject => ({ type: 'rich_text', elements });
const part = (type: string, ...elements: JsonValue[]): JsonObject => ({ type: `rich_text_${type}`, elements });
const text = (words: string, style?: JsonObject): JsonObject => ({
  type: 'text',
  text: words,
  ...(style && { style }),
});
const list = (fields: JsonObject, ...elements: JsonValue[]): JsonObject => ({
  ...part('list', ...elements),
  ...fields,
});
const date = (fields: JsonObject = {}): JsonObject => ({
  ...{ type: 'date', timestamp: 1_790_000_000, format: '{date_short_pretty} {time_secs}', fallback: '02:40:47 UTC' },
  ...fields,
});
const link = (fields: JsonObject = {}): JsonObject => ({ type: 'link', url: 'https://x.example/tx/0x1', ...fields });
const button = (fields: JsonObject = {}): JsonObject => ({
  ...{ type: 'button', text: { type: 'plain_text', text: 'Explorer' } },
  ...fields,
});

const WELL: [name: string, block: JsonObject][] = [
  ['every part', rich(part('section', text('a')), part('quote', text('b')), part('preformatted', text('c')))],
  ['styles', rich(part('section', text('a', { bold: true, code: true }), link({ text: 'x', style: { bold: true } })))],
  ['a list', rich(list({ style: 'ordered', indent: 8, border: 0 }, part('section', text('a'))))],
  ['a date', rich(part('section', date({ url: 'https://x.example/' })))],
  ['a link in code', rich(part('preformatted', link(), text('\n')))],
  ['buttons', { type: 'actions', elements: [button({ action_id: 'a' }), button({ action_id: 'b', style: 'danger' })] }],
  [
    'a date in mrkdwn',
    {
      type: 'context',
      elements: [{ type: 'mrkdwn', text: 'at <!date^1790000000^{date_pretty} {time}^https://x.example/|02:40 UTC>' }],
    },
  ],
];

const ILL: [name: string, block: JsonObject, pointer: string][] = [
  ['no elements', rich(), '/elements'],
  ['an empty section', rich(part('section')), '/elements/0/elements'],
  ['an empty text', rich(part('section', text(''))), '/elements/0/elements/0/text'],
  ['an unknown part', rich(part('heading', text('a'))), '/elements/0'],
  ['an unknown element', rich(part('section', { type: 'mrkdwn', text: 'a' })), '/elements/0/elements/0'],
  ['an unknown style', rich(part('section', text('a', { small: true }))), '/elements/0/elements/0/style'],
  ['a style of another type', rich(part('section', text('a', { bold: 1 }))), '/elements/0/elements/0/style/bold'],
  ['an unknown field', rich(part('section', { ...text('a'), url: 'https://x.example' })), '/elements/0/elements/0'],
  ['a person in code', rich(part('preformatted', { type: 'user', user_id: 'U1' })), '/elements/0/elements/0'],
  ['text in a list', rich(list({ style: 'bullet' }, text('a'))), '/elements/0/elements/0'],
  ['a list without a style', rich(list({}, part('section', text('a')))), '/elements/0/style'],
  ['an indent of 9', rich(list({ style: 'bullet', indent: 9 }, part('section', text('a')))), '/elements/0/indent'],
  ['a link to a script', rich(part('section', link({ url: 'javascript:1' }))), '/elements/0/elements/0/url'],
  ['a link without a scheme', rich(part('section', link({ url: 'x.example' }))), '/elements/0/elements/0/url'],
  ['milliseconds', rich(part('section', date({ timestamp: 1.5 }))), '/elements/0/elements/0/timestamp'],
  ['an unknown token', rich(part('section', date({ format: '{clock}' }))), '/elements/0/elements/0/format'],
  ['no token', rich(part('section', date({ format: 'now' }))), '/elements/0/elements/0/format'],
  [
    'a button id of 256',
    { type: 'actions', elements: [button({ action_id: 'x'.repeat(256) })] },
    '/elements/0/action_id',
  ],
  [
    'one id twice',
    { type: 'actions', elements: [button({ action_id: 'a' }), button({ action_id: 'a' })] },
    '/elements',
  ],
  ['26 buttons', { type: 'actions', elements: Array(26).fill(button()) }, '/elements'],
  ['a green button', { type: 'actions', elements: [button({ style: 'green' })] }, '/elements/0/style'],
  ['a button to nowhere', { type: 'actions', elements: [button({ url: 'runbook' })] }, '/elements/0/url'],
  ['a button with a colour', { type: 'actions', elements: [button({ color: '#f00' })] }, '/elements/0'],
  [
    'a date without a fallback',
    { type: 'section', text: { type: 'mrkdwn', text: '<!date^1790000000^{time}>' } },
    '/text/text',
  ],
];

describe('Block Kit', () => {
  test.each(WELL)('%s is taken', (_name, block) => {
    expect(findBlockProblems([block])).toEqual([]);
  });

  test.each(ILL)('%s is refused', (_name, block, pointer) => {
    expect(findBlockProblems([block])[0]).toContain(`[json-pointer:/blocks/0${pointer}]`);
  });
});

const read = (fields: JsonObject): string => {
  const message = readSlackMessage({ text: 'push', ...fields }, true);
  if ('error' in message) throw new Error(`${message.error} ${message.messages.join()}`);
  return `${readableText(message)}\n${message.mentions.join()}`;
};

describe('what a reader sees', () => {
  test('rich text is no markup: what looks like it stays, and calls nobody', () => {
    const blocks = [
      rich(
        part('section', text('*a* <!channel> &lt; '), link({ text: '0x1' })),
        part('quote', text('> b\nc')),
        list({ style: 'bullet' }, part('section', text('one')), part('section', date())),
      ),
    ];
    expect(read({ blocks })).toBe(
      'push\n*a* <!channel> &lt; 0x1 (https://x.example/tx/0x1)\n> b\nc\none\n02:40:47 UTC\n',
    );
  });

  test('elements that call people are mentions', () => {
    const blocks = [rich(part('section', { type: 'broadcast', range: 'channel' }, { type: 'user', user_id: 'U1' }))];
    expect(read({ blocks })).toBe('push\n<!channel><@U1>\n<!channel>,<@U1>');
  });

  test('a date in mrkdwn is its fallback', () => {
    const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: 'at <!date^1790000000^{time}|02:40 UTC>.' } }];
    expect(read({ blocks })).toBe('push\nat 02:40 UTC.\n');
  });
});

describe('attachments', () => {
  const blocks = [{ type: 'header', text: { type: 'plain_text', text: 'Title' } }];

  test('show their blocks beside a colour', () => {
    expect(read({ attachments: [{ color: '#d32f2f', blocks, fallback: 'for push' }] })).toBe('push\nTitle\n');
  });

  test.each([
    [{ color: 'red' }, '/attachments/0/color'],
    [{ blocks: [{ type: 'header' }] }, '/attachments/0/blocks/0/text'],
    [{ blocks: 'x' }, '/attachments/0/blocks'],
    [{ footer: 'x'.repeat(301) }, '/attachments/0/footer'],
    ['x', '/attachments/0'],
  ])('%j is refused', (attachment, pointer) => {
    const refusal = readSlackMessage({ text: 'push', attachments: [attachment] }, true);
    expect(refusal).toMatchObject({ error: 'invalid_blocks', messages: [expect.stringContaining(pointer)] });
  });

  test('count towards the length of all blocks', () => {
    const long = Array(5).fill({ type: 'section', text: { type: 'plain_text', text: 'x'.repeat(2700) } });
    expect(readSlackMessage({ text: 'push', attachments: [{ blocks: long }] }, true)).toMatchObject({
      error: 'msg_blocks_too_long',
    });
  });
});
