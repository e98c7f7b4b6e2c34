/** Every kind of message, in every format, at receivers that are as strict as Slack and Telegram: none is refused. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChannelKind, FORMATS } from '../../src/alert.ts';
import type { Channel, Message } from '../../src/channels/channel.ts';
import { createGuardedPost } from '../../src/channels/http.ts';
import { openChannels } from '../../src/channels/registry.ts';
import { slackConfig } from '../../src/channels/slack/config.ts';
import { telegramConfig } from '../../src/channels/telegram/config.ts';
import { SCENES } from '../../src/features/preview/scenes.ts';
import { createSlackReceiver } from '../../src/sandbox/receivers/slack/slack.ts';
import { createTelegramReceiver } from '../../src/sandbox/receivers/telegram/telegram.ts';
import { composeScene } from '../support/scenes.ts';

const slack = createSlackReceiver();
const telegram = createTelegramReceiver();
const guard = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1'] });
let channels: Channel[] = [];

beforeAll(async () => {
  const { apiUrl } = await slack.start();
  const { apiRoot } = await telegram.start();
  const configs = {
    slack: slackConfig.parse({ botToken: 'xoxb-sandbox', appToken: 'xapp-sandbox', apiUrl }),
    telegram: telegramConfig.parse({ botToken: '123456789:sandbox', apiRoot }),
  };
  channels = await openChannels(configs, { post: guard.post, now: Date.now });
});

afterAll(async () => {
  await Promise.all(channels.map((channel) => channel.close()));
  await Promise.all([slack.stop(), telegram.stop(), guard.close()]);
});

/** All its parts. Throws what the receiver refuses. */
const send = async (channel: Channel, message: Message): Promise<void> => {
  let progress: string | undefined;
  do {
    const whole = progress === undefined ? message : { ...message, progress };
    ({ progress } = await channel.send(whole, AbortSignal.timeout(10_000)));
  } while (progress !== undefined);
};

const sendAll = async (kind: ChannelKind, name: string): Promise<number> => {
  const channel = channels.find((one) => one.kind === kind);
  const scene = SCENES.find((one) => one.name === name);
  if (!channel || !scene) throw new Error(`no ${kind} or no ${name}`);
  let sent = 0;
  for (const format of FORMATS) {
    for (const message of composeScene(channel, scene, format)) {
      await send(channel, message);
      sent += 1;
    }
  }
  return sent;
};

const NAMES = SCENES.map(({ name }) => name);

describe('Slack takes', () => {
  test.each(NAMES)('%s', async (name) => {
    slack.clear();
    expect(await sendAll('slack', name)).toBeGreaterThanOrEqual(FORMATS.length);
    expect(slack.attempts().every(({ outcome }) => outcome === 'accepted')).toBe(true);
    expect(slack.received().flatMap(({ raw }) => raw.mentions)).toEqual([]);
  });
});

describe('Telegram takes', () => {
  test.each(NAMES)('%s', async (name) => {
    telegram.clear();
    expect(await sendAll('telegram', name)).toBeGreaterThanOrEqual(FORMATS.length);
    expect(telegram.attempts().every(({ outcome }) => outcome === 'accepted')).toBe(true);
    expect(telegram.received().flatMap(({ raw }) => raw.lost)).toEqual([]);
  });
});
