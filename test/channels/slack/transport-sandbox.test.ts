/** The Slack channel against the sandbox's Slack, which was written from Slack's documents and not from our code. */

import { afterEach, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { FORMATS, type Format } from '../../../src/channels/channel.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { createGuardedPost } from '../../../src/channels/http.ts';
import { slackConfig } from '../../../src/channels/slack/config.ts';
import { createSlackChannel } from '../../../src/channels/slack/transport.ts';
import { atOnce } from '../../../src/chunks.ts';
import { HOSTILE_NAME, HOSTILE_TEXTS } from '../../../src/sandbox/hostile.ts';
import { createSlackReceiver } from '../../../src/sandbox/receivers/slack/slack.ts';
import { cleanLine } from '../../../src/text.ts';
import { destinationOf, inspectionAlert, notificationAlert, TX_HASH } from '../../support/alerts.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const open = async (botToken = 'xoxb-sandbox') => {
  const receiver = createSlackReceiver({ channels: ['C0SANDBOX01'] });
  const { apiUrl, webhookUrl } = await receiver.start();
  const guard = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1'] });
  const channel = createSlackChannel(slackConfig.parse({ botToken, apiUrl }), { post: guard.post, now: Date.now });
  closers.push(receiver.stop, guard.close, channel.close);
  const send = async (alert: Alert, address = 'C0SANDBOX01', format: Format = 'rich') => {
    const parcel = { destination: destinationOf('slack', address), alerts: [alert] };
    const context = { format, presentation: createPresentation(), sentAt: '2026-11-20T10:08:00.000Z' };
    for (const message of atOnce(channel.compose(parcel, context))) {
      const receipt = await channel.send(message, AbortSignal.timeout(20_000));
      const sent = receiver.received().findLast(({ partOf }) => partOf === undefined);
      if (address === 'C0SANDBOX01') expect(receipt.providerId).toBe(sent?.id);
    }
    // With its file, if it has one.
    const [message, file] = receiver.received().slice(receiver.received().at(-1)?.partOf === undefined ? -1 : -2);
    return [message, file].map((part) => part?.text ?? '').join('\n');
  };
  return { channel, receiver, send, webhookUrl };
};

test.each(HOSTILE_TEXTS)('hostile text is accepted and readable: %j', async (hostile) => {
  const { send, webhookUrl } = await open();
  const detections = { [HOSTILE_NAME]: { status: 'detected', message: hostile } };
  const alert = inspectionAlert({ protocol: HOSTILE_NAME, item: { invokedMethodName: hostile, detections } });
  for (const format of FORMATS) {
    for (const address of ['C0SANDBOX01', webhookUrl]) {
      const text = await send(alert, address, format);
      expect(text).toContain(HOSTILE_NAME);
      expect(text).toContain(TX_HASH);
      if (format !== 'minimal') expect(cleanLine(text)).toContain(cleanLine(hostile));
      await send(notificationAlert(hostile), address, format);
    }
  }
});

test('errors come back as they are meant', async () => {
  const { send, webhookUrl } = await open();
  await expect(send(inspectionAlert(), 'C0NOWHERE1')).rejects.toMatchObject({ reason: 'destination-dead' });
  const wrongHook = webhookUrl.replace('/services/', '/service/');
  await expect(send(inspectionAlert(), wrongHook)).rejects.toMatchObject({ code: 'no_service' });
  const stranger = await open('xoxb-wrong');
  await expect(stranger.send(inspectionAlert())).rejects.toMatchObject({ reason: 'sender-misconfigured' });
  await expect(stranger.channel.verify(AbortSignal.timeout(5000))).rejects.toMatchObject({ code: 'invalid_auth' });
});

test('verify names the bot and its workspace', async () => {
  const { channel } = await open();
  expect(await channel.verify(AbortSignal.timeout(5000))).toBe('posts as tocsin in Sandbox');
});

test('names of channels are read where the token may', async () => {
  const { channel, receiver, webhookUrl } = await open();
  const nameOf = (address: string) => channel.nameOf?.(address, AbortSignal.timeout(5000));
  await expect(nameOf('C0SANDBOX01')).rejects.toMatchObject({ code: 'missing_scope', reason: 'sender-misconfigured' });
  receiver.limitScopes(['chat:write', 'channels:read']);
  expect(await nameOf('C0SANDBOX01')).toBe('#alerts-ox01');
  await expect(nameOf('C0NOWHERE1')).rejects.toMatchObject({ reason: 'destination-dead' });
  expect(await nameOf('#ops')).toBeUndefined();
  expect(await nameOf(webhookUrl)).toBeUndefined();
});
