/** Messages at Discord that change, and what Teams says where they cannot. */
import { afterEach, expect, test } from 'vitest';
import type { Alert } from '../../../../src/alert.ts';
import { createPresentation } from '../../../../src/channels/content/presentation.ts';
import { formOf } from '../../../../src/channels/webhook/formats/discord-file.ts';
import { atOnce } from '../../../../src/chunks.ts';
import { createDiscordReceiver } from '../../../../src/sandbox/receivers/formats/discord.ts';
import { createTeamsReceiver } from '../../../../src/sandbox/receivers/formats/teams.ts';
import { inspectionAlert, notificationAlert } from '../../../support/alerts.ts';
import { openVendor } from '../../../support/webhooks.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const first = inspectionAlert();
const second = inspectionAlert({ item: { _id: 'second', protocol: 'Copper Perps' } });

const open = async (format: 'discord' | 'teams' = 'discord', query = '') => {
  const discord = createDiscordReceiver();
  const receiver = format === 'discord' ? discord : createTeamsReceiver();
  const { url } = await receiver.start();
  const { channel, destination, close } = openVendor(`${url}${query}`, { format });
  closers.push(receiver.stop, close);
  const compose = (alerts: Alert[], heard?: number) => {
    const context = { format: 'rich', presentation: createPresentation(), sentAt: '2026-11-20T10:08:00.000Z' } as const;
    const more = heard === undefined ? {} : { heard };
    const [message] = atOnce(channel.compose({ destination, alerts }, { ...context, ...more }));
    if (message === undefined) throw new Error('no message');
    return message;
  };
  const send = (alerts: Alert[], heard?: number) => channel.send(compose(alerts, heard), AbortSignal.timeout(20_000));
  const amend = async (handle: string, alerts: Alert[]) =>
    channel.amend?.(handle, compose(alerts), AbortSignal.timeout(20_000));
  return { discord, receiver, send, amend };
};

test('a message is changed in its place, in its thread, and without a flag', async () => {
  const { discord, send, amend } = await open('discord', '?thread_id=41771983423143937');
  const { handle = '', providerId } = await send([first]);
  expect(handle).toBe(providerId);
  expect(await amend(handle, [first, second])).toEqual({ handle, providerId });
  expect(discord.received()).toHaveLength(1);
  const [edit, ...more] = discord.edits();
  expect(more).toEqual([]);
  expect(edit?.raw).toMatchObject({
    path: expect.stringMatching(new RegExp(`/messages/${handle}$`)),
    query: 'thread_id=41771983423143937',
    body: { allowed_mentions: { parse: [] } },
  });
  expect(edit?.text).toContain('2 protocols');
});

test('one that somebody has deleted cannot be changed', async () => {
  const { discord, send, amend } = await open();
  const { handle = '' } = await send([first]);
  discord.forget(handle);
  await expect(amend(handle, [first, second])).rejects.toMatchObject({ reason: 'bad-message', code: '404' });
});

test('what is new is a short message of its own', async () => {
  const { discord, send } = await open();
  await send([first, second], 1);
  expect(discord.received()[0]?.text).toContain('Now 2 protocols');
});

test('an id that is none is no way to another path', async () => {
  const { discord, send } = await open();
  discord.script.next({ kind: 'answer', status: 200, body: { id: '..' } });
  expect(await send([first])).toEqual({ providerId: '..' });
});

test('Teams changes no message', async () => {
  const { send, amend } = await open('teams');
  expect(await send([first])).not.toHaveProperty('handle');
  await expect(amend('1', [first, second])).rejects.toMatchObject({ reason: 'bad-message' });
});

test('of a long notification has the beginning, and all of it in a file beside it', async () => {
  const { discord, send } = await open();
  const said = Array.from({ length: 3000 }, (_, n) => `Line ${n} of what the guardian found: “80 %”.`);
  await send([notificationAlert(said.join('\n'))]);
  const text = JSON.stringify(discord.received()[0]?.raw.body);
  expect(text).toContain('Line 0 of what the guardian found');
  expect(text).toMatch(/\d{3},\d{3} characters more are in the file/);
  const [file, ...others] = discord.files();
  expect(others).toEqual([]);
  expect(file?.name).toMatch(/^tocsin-alert-[0-9a-f]{8}\.txt$/);
  for (const line of said) expect(file?.text).toContain(`> ${line}\n`);
});

test.each([
  [
    'what looks like the end of a part',
    'x\r\n----\r\n--tocsin-0\r\ncontent-disposition: form-data; name="payload_json"\r\n\r\n{}',
  ],
  ['any character', 'é 🔴 \u0000 \u2028 end'],
])('a form holds %s, as another reader of forms reads it', async (_what, text) => {
  const { contentType, text: body } = formOf('{"content":"“x”"}', { name: 'tocsin-alert-0.txt', text });
  const form = await new Response(body, { headers: { 'content-type': contentType } }).formData();
  expect([...form.keys()]).toEqual(['payload_json', 'files[0]']);
  const payload = form.get('payload_json');
  expect(typeof payload === 'string' ? payload : await payload?.text()).toBe('{"content":"“x”"}');
  const file = form.get('files[0]') as File;
  expect([file.name, await file.text()]).toEqual(['tocsin-alert-0.txt', text]);
});
