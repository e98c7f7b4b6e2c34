/** Messages at Discord that change, and what Teams says where they cannot. */
import { afterEach, expect, test } from 'vitest';
import type { Alert } from '../../../../src/alert.ts';
import { createPresentation } from '../../../../src/channels/content/presentation.ts';
import { atOnce } from '../../../../src/chunks.ts';
import { createDiscordReceiver } from '../../../../src/sandbox/receivers/formats/discord.ts';
import { createTeamsReceiver } from '../../../../src/sandbox/receivers/formats/teams.ts';
import { inspectionAlert } from '../../../support/alerts.ts';
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
