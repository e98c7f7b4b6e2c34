/** Presses arrive from the sandbox's Slack and Telegram: at one daemon, again after every break, and a break is told. */
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Buttons, Channel, Listening, Press, PressAnswer } from '../../../src/channels/channel.ts';
import { createGuardedPost } from '../../../src/channels/http.ts';
import { slackConfig } from '../../../src/channels/slack/config.ts';
import { createSlackChannel } from '../../../src/channels/slack/transport.ts';
import { telegramConfig } from '../../../src/channels/telegram/config.ts';
import { createTelegramChannel } from '../../../src/channels/telegram/transport.ts';
import { listenForPresses } from '../../../src/features/acknowledgement/listen.ts';
import { createConditions } from '../../../src/ops/conditions.ts';
import { createLocks } from '../../../src/redis/lock.ts';
import { createSlackReceiver } from '../../../src/sandbox/receivers/slack/slack.ts';
import { createTelegramReceiver, telegramVerdict } from '../../../src/sandbox/receivers/telegram/telegram.ts';
import { destinationOf } from '../../support/alerts.ts';
import { openTestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const TOKEN = 'A'.repeat(22);
const BUTTONS = {
  token: TOKEN,
  buttons: [
    { name: 'acknowledge' as const, label: 'Acknowledge' },
    { name: 'mute' as const, label: 'Mute' },
  ],
};
const ANSWER: PressAnswer = { text: 'Acknowledged by Ann.', isRefused: false };

/** A hundred times as fast. */
const briefly = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms / 100, undefined, { signal }).catch(() => {});

interface Heard {
  press: Press;
  refusal: string | undefined;
  /** Of a mute: the person could be told before. */
  isTold?: boolean | undefined;
}

const buttonsOf = ({ buttons }: Channel): Buttons => {
  if (buttons === undefined) throw new Error('the channel has no buttons');
  return buttons;
};

/** Listens as a daemon does; several stand for several daemons. */
const listenTo = (
  channel: Channel,
  place: ReturnType<typeof openTestRedis>,
  onMute: (press: Press) => Promise<PressAnswer | undefined> = async () => undefined,
) => {
  const heard: Heard[] = [];
  const unanswered: object[] = [];
  const stop = new AbortController();
  const conditions = createConditions({ now: Date.now });
  const listening = listenForPresses({
    kind: channel.kind,
    buttons: buttonsOf(channel),
    onPress: async (press) => {
      const refusal = await press.refusal?.(stop.signal).catch((error: Error) => `not known yet: ${error.message}`);
      const isTold = press.name === 'mute' ? await press.answerFirst?.(ANSWER) : undefined;
      heard.push({ press, refusal, isTold });
      return press.name === 'mute' && press.answerFirst !== undefined ? onMute(press) : ANSWER;
    },
    locks: createLocks(place.redis, place.prefix),
    conditions,
    scrub: (text) => text,
    log: pino({ level: 'silent' }),
    onUnanswered: (facts) => void unanswered.push(facts),
    signal: stop.signal,
    sleep: briefly,
  });
  const end = async (): Promise<void> => {
    stop.abort();
    await listening;
  };
  onTestFinished(async () => {
    await end();
    await channel.close();
  });
  return { heard, unanswered, conditions, end };
};

const noPost = () => Promise.reject(new Error('nothing is posted'));
const dependencies = { post: noPost, now: Date.now };
const signal = () => AbortSignal.timeout(10_000);

describe('Slack', () => {
  const setUp = async (appToken = 'xapp-sandbox') => {
    const slack = createSlackReceiver();
    const { apiUrl } = await slack.start();
    onTestFinished(slack.stop);
    const config = slackConfig.parse({ botToken: 'xoxb-sandbox', appToken, apiUrl });
    const guard = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1'] });
    onTestFinished(guard.close);
    const open = (): Channel => createSlackChannel(config, { post: guard.post, now: Date.now }) as Channel;
    const connected = () => until('it is connected', () => slack.sockets.count() === 1);
    const send = async (channel: Channel, to = 'C0000001') => {
      const destination = destinationOf('slack', to);
      const body = { text: 'x', blocks: [{ type: 'section', text: { type: 'plain_text', text: 'x' } }] };
      const put = buttonsOf(channel).put(body, BUTTONS);
      const message = { destination, alerts: [], id: 'm', body: put, isDigest: false };
      const { providerId: ts = '', handle } = await channel.send(message, signal());
      return { destination, handle, pressed: { channel: to, ts, action: 'acknowledge' } };
    };
    return { slack, open, connected, send };
  };

  test('a press is acknowledged in time, answered to the person alone, and known by its place', async () => {
    const { slack, open, connected, send } = await setUp();
    const channel = open();
    const { heard } = listenTo(channel, openTestRedis());
    await connected();
    const { pressed, destination, handle } = await send(channel);
    await slack.press(pressed);
    await until('the person is told', () => slack.whispers().length === 1);
    expect(slack.whispers()[0]).toMatchObject({ channel: 'C0000001', user: 'U0ANN0000' });
    const [{ press, refusal } = {}] = heard;
    expect(press).toMatchObject({ name: 'acknowledge', token: TOKEN, by: 'ann', userId: 'U0ANN0000' });
    expect(refusal).toBeUndefined();
    expect(press?.isAt(destination, handle)).toBe(true);
    expect(press?.isAt(destination, 'C0000002/1.000001')).toBe(false);
    expect(press?.isAt(destination, `${handle}9`)).toBe(false);
  });

  test.each([
    ['of another workspace', { user: { id: 'U9', name: 'eve', team: 'T0OTHER' } }],
    ['without a workspace', { user: { id: 'U9', name: 'eve', team: '' } }],
    ['of no id', { user: { id: '', name: 'eve' } }],
    ['for another app', { forged: { appId: 'A0OTHER' } }],
  ])('a person %s is a stranger', async (_who, changes) => {
    const { slack, open, connected, send } = await setUp();
    const channel = open();
    const { heard } = listenTo(channel, openTestRedis());
    await connected();
    const { pressed } = await send(channel);
    await slack.press({ ...pressed, ...changes });
    await until('it is heard', () => heard.length === 1);
    expect(heard[0]?.refusal).toContain('Only members of the workspace');
  });

  const EVE = { id: 'U0EVE0000', name: 'eve' };

  test('somebody who is not in the channel is a stranger, and told so; who is in it may press', async () => {
    const { slack, open, connected, send } = await setUp();
    slack.limitScopes(['chat:write', 'channels:read']);
    const channel = open();
    const { heard, unanswered } = listenTo(channel, openTestRedis());
    await connected();
    const { pressed } = await send(channel);
    const others = Array.from({ length: 1500 }, (_, n) => `U1${n}`);
    slack.setMembers('C0000001', [...others, 'U0ANN0000']);
    await slack.press({ ...pressed, user: EVE });
    await until('the stranger is told', () => slack.whispers().length === 1);
    expect(heard[0]?.refusal).toContain('Only members of this channel');
    expect(slack.whispers()[0]).toMatchObject({ user: EVE.id, isResponse: true });
    await slack.press(pressed);
    await until('the member is told', () => slack.whispers().length === 2);
    expect(heard[1]?.refusal).toBeUndefined();
    expect(slack.whispers()[1]).toMatchObject({ user: 'U0ANN0000', isResponse: false });
    expect(unanswered).toEqual([]);
  });

  test('where the token may not ask who is in a channel, everybody of the workspace may press', async () => {
    const { slack, open, connected, send } = await setUp();
    const channel = open();
    const { heard } = listenTo(channel, openTestRedis());
    await connected();
    const { pressed } = await send(channel);
    slack.setMembers('C0000001', ['U0ANN0000']);
    await slack.press({ ...pressed, user: EVE });
    await until('it is heard', () => heard.length === 1);
    expect(heard[0]?.refusal).toBeUndefined();
    await until('it is answered', () => slack.whispers().length === 1);
  });

  test('it connects again when Slack asks for that, and when the connection breaks', async () => {
    const { slack, open, connected, send } = await setUp();
    const channel = open();
    const { heard, conditions } = listenTo(channel, openTestRedis());
    await connected();
    const { pressed } = await send(channel);
    for (const [index, reason] of (['refresh_requested', 'crash', 'refresh_requested'] as const).entries()) {
      slack.sockets.disconnect(reason);
      await until('it is connected again', () => slack.sockets.opened() === index + 2 && slack.sockets.count() === 1);
    }
    await until('no trouble is left', () => conditions.current().length === 0);
    await slack.press(pressed);
    await until('it is heard', () => heard.length === 1);
  });

  test('envelopes of other kinds are acknowledged and have no effect', async () => {
    const { slack, open, connected } = await setUp();
    const { heard } = listenTo(open(), openTestRedis());
    await connected();
    await slack.sockets.send('events_api', { event: { type: 'message' } });
    await slack.sockets.send('interactive', { type: 'view_submission' });
    await slack.sockets.send('interactive', { type: 'block_actions', actions: [{ action_id: 'link.0' }] });
    await slack.sockets.send('interactive', { type: 'block_actions', actions: 'none' });
    expect(heard).toEqual([]);
  });

  test.each([
    ['a token that Slack refuses', 'xapp-other', 'not_allowed_token_type'],
    ['Socket Mode that is off', 'xapp-sandbox', 'Socket Mode is off'],
  ])('%s is a trouble until presses arrive', async (_what, appToken, why) => {
    const { slack, open } = await setUp(appToken);
    const { conditions } = listenTo(open(), openTestRedis());
    if (appToken === 'xapp-sandbox') {
      await until('it is connected', () => slack.sockets.count() === 1);
      slack.sockets.disconnect('link_disabled');
    }
    await until('it is told', () => conditions.current().some((one) => one.why?.includes(why) === true));
    expect(conditions.current()).toMatchObject([{ name: 'buttons', of: 'slack' }]);
  });

  test('of two daemons one is connected; the other takes over when it ends', async () => {
    const { slack, open, connected, send } = await setUp();
    const place = openTestRedis();
    const [first, second] = [open(), open()];
    const one = listenTo(first, place);
    await connected();
    const other = listenTo(second, place);
    const { pressed } = await send(first);
    await slack.press(pressed);
    await until('the first one hears it', () => one.heard.length === 1);
    await one.end();
    await until('the second one is connected', () => slack.sockets.opened() === 2 && slack.sockets.count() === 1);
    await slack.press(pressed);
    await until('the second one hears it', () => other.heard.length === 1);
  });
});

describe('Telegram', () => {
  const setUp = async () => {
    const telegram = createTelegramReceiver();
    const { apiRoot } = await telegram.start();
    onTestFinished(telegram.stop);
    const config = telegramConfig.parse({ botToken: '123456789:sandbox', apiRoot, timeout: '6s' });
    const open = (): Channel => createTelegramChannel(config, dependencies) as Channel;
    const polling = () => until('it polls', () => telegram.updates.polling() === 1);
    const send = async (channel: Channel, chat = '-1001') => {
      const destination = destinationOf('telegram', chat);
      const body = buttonsOf(channel).put({ text: 'x' }, BUTTONS);
      const message = { destination, alerts: [], id: 'm', body, isDigest: false };
      const { providerId, handle } = await channel.send(message, signal());
      return { destination, handle, pressed: { chat, messageId: Number(providerId), button: 'Acknowledge' } };
    };
    return { telegram, open, polling, send };
  };

  test('a press is answered, and known by its place', async () => {
    const { telegram, open, polling, send } = await setUp();
    const channel = open();
    const { heard } = listenTo(channel, openTestRedis());
    await polling();
    const { pressed, destination, handle } = await send(channel);
    expect(await telegram.press(pressed)).toEqual({ text: 'Acknowledged by Ann.', isAlert: false });
    const [{ press, refusal } = {}] = heard;
    expect(press).toMatchObject({ name: 'acknowledge', token: TOKEN, by: 'Ann', userId: '4711' });
    expect(refusal).toBeUndefined();
    expect(press?.isAt(destination, handle)).toBe(true);
    expect(press?.isAt(destination, '-1002:1')).toBe(false);
    expect(press?.isAt(destination, '-1001:999')).toBe(false);
  });

  test.each([
    ['left', '-1001', 'Only members'],
    ['kicked', '-1001', 'Only members'],
    ['unknown', '-1001', undefined],
    ['unknown', '@public_chat', 'does not say'],
    ['left', '@public_chat', 'Only members'],
    ['restricted', '@public_chat', undefined],
    ['administrator', '@public_chat', undefined],
  ] as const)('somebody who is %s in %s: %s', async (status, chat, refusal) => {
    const { telegram, open, polling, send } = await setUp();
    const channel = open();
    const { heard } = listenTo(channel, openTestRedis());
    await polling();
    telegram.updates.setMember(chat, 4711, status);
    const { pressed, destination, handle } = await send(channel, chat);
    await telegram.press(pressed);
    if (refusal === undefined) expect(heard[0]?.refusal).toBeUndefined();
    else expect(heard[0]?.refusal).toContain(refusal);
    expect(heard[0]?.press.isAt(destination, handle)).toBe(true);
  });

  test.each([
    ['not now', 504, 'Gateway Timeout', 'not known yet'],
    ['not now', 429, 'Too Many Requests: retry after 5', 'not known yet'],
    ['no such member', 400, 'Bad Request: PARTICIPANT_ID_INVALID', 'Only members'],
    ['no such member', 400, 'Bad Request: member not found', 'Only members'],
    ['nobody', 400, 'Bad Request: user not found', 'Only members'],
    ['never', 400, 'Bad Request: CHAT_ADMIN_REQUIRED', undefined],
  ] as const)(
    'a press in a private group of which Telegram does not say who is in it: %s (%i %s)',
    async (_what, code, said, refusal) => {
      const { telegram, open, polling, send } = await setUp();
      const channel = open();
      const { heard } = listenTo(channel, openTestRedis());
      await polling();
      telegram.callScript.next(telegramVerdict(code, said), { destination: 'getChatMember' });
      await telegram.press((await send(channel)).pressed);
      if (refusal === undefined) expect(heard[0]?.refusal).toBeUndefined();
      else expect(heard[0]?.refusal).toContain(refusal);
    },
  );

  test('in a private chat there is one person', async () => {
    const { telegram, open, polling, send } = await setUp();
    const channel = open();
    const { heard } = listenTo(channel, openTestRedis());
    await polling();
    const { pressed } = await send(channel, '4711');
    await telegram.press(pressed);
    await telegram.press({ ...pressed, by: { id: 4712, firstName: 'Eve' } });
    expect(heard.map(({ refusal }) => refusal)).toEqual([undefined, expect.stringContaining('Only members')]);
  });

  test('data that is none of ours is answered and goes no further', async () => {
    const { telegram, open, polling, send } = await setUp();
    const channel = open();
    const { heard } = listenTo(channel, openTestRedis());
    await polling();
    const { pressed } = await send(channel);
    for (const data of ['x', 'z:token', '__proto__:x']) {
      expect(await telegram.press({ ...pressed, forged: { data } })).toMatchObject({ isAlert: true });
    }
    expect(heard).toEqual([]);
  });

  test('presses of the time when nobody listened are old: they are heard, but the person cannot be told before', async () => {
    const { telegram, open, send } = await setUp();
    const channel = open();
    const { pressed } = await send(channel);
    void telegram.press(pressed);
    void telegram.press({ ...pressed, button: 'Mute' });
    telegram.updates.expire();
    const { heard, unanswered } = listenTo(channel, openTestRedis());
    await until('both are heard', () => heard.length === 2);
    expect(heard.find(({ press }) => press.name === 'mute')?.isTold).toBe(false);
    expect(heard.find(({ press }) => press.name === 'acknowledge')?.refusal).toBeUndefined();
    expect(await telegram.press({ ...pressed, button: 'Mute' })).toEqual({ text: ANSWER.text, isAlert: false });
    await until('a new one is told', () => heard.at(-1)?.isTold === true);
    expect(unanswered).toEqual([]);
  });

  test('an answer that fails otherwise does not count as told', async () => {
    const { telegram, open, polling, send } = await setUp();
    const channel = open();
    const { heard, unanswered } = listenTo(channel, openTestRedis());
    await polling();
    const { pressed } = await send(channel);
    telegram.callScript.next(telegramVerdict(429, 'Too Many Requests: retry after 5', { retry_after: 5 }), {
      destination: 'answerCallbackQuery',
    });
    void telegram.press({ ...pressed, button: 'Mute' });
    await until('it is told that it failed', () => unanswered.length === 1);
    expect(heard).toEqual([]);
  });

  describe('what turns out otherwise after the person was told', () => {
    const failed = async (): Promise<PressAnswer> => ({ text: 'That mute did not work just now.', isRefused: true });
    const corrections = (telegram: Awaited<ReturnType<typeof setUp>>['telegram']) =>
      telegram.received().filter(({ text }) => text === 'That mute did not work just now.');

    test('is said in a message below the one that was pressed', async () => {
      const { telegram, open, polling, send } = await setUp();
      const channel = open();
      const { unanswered } = listenTo(channel, openTestRedis(), failed);
      await polling();
      const { pressed } = await send(channel);
      expect(await telegram.press({ ...pressed, button: 'Mute' })).toMatchObject({ text: ANSWER.text });
      await until('it is corrected', () => corrections(telegram).length === 1);
      expect(corrections(telegram)[0]?.raw).toMatchObject({ chatId: '-1001', replyTo: pressed.messageId });
      expect(unanswered).toEqual([]);
    });

    test('is logged where that cannot be said either', async () => {
      const { telegram, open, polling, send } = await setUp();
      const channel = open();
      const { unanswered } = listenTo(channel, openTestRedis(), failed);
      await polling();
      const { pressed } = await send(channel);
      telegram.script.next(telegramVerdict(403, 'Forbidden: bot was kicked from the supergroup chat'));
      await telegram.press({ ...pressed, button: 'Mute' });
      await until('it is logged', () => unanswered.length === 1);
      expect(corrections(telegram)).toEqual([]);
    });

    test('is not said of an old press, which nobody waits for', async () => {
      const { telegram, open, send } = await setUp();
      const channel = open();
      const { pressed } = await send(channel);
      void telegram.press({ ...pressed, button: 'Mute' });
      telegram.updates.expire();
      const { heard } = listenTo(channel, openTestRedis(), failed);
      await until('it is heard', () => heard.length === 1);
      await telegram.press(pressed);
      expect(corrections(telegram)).toEqual([]);
    });
  });

  test('a webhook on the bot is a trouble, which is never taken away; presses arrive again once it is gone', async () => {
    const { telegram, open, polling, send } = await setUp();
    const removeWebhook = telegram.updates.setWebhook();
    const channel = open();
    const { conditions } = listenTo(channel, openTestRedis());
    await until('it is told', () => conditions.current()[0]?.why?.includes('a webhook is set on the bot') === true);
    removeWebhook();
    await polling();
    const { pressed } = await send(channel);
    await telegram.press(pressed);
    await until('it is over', () => conditions.current().length === 0);
  });

  test('another program that reads the bot is a trouble', async () => {
    const { open, polling } = await setUp();
    const { conditions } = listenTo(open(), openTestRedis());
    await polling();
    const others = listenTo(open(), openTestRedis());
    await until('it is told', () =>
      [conditions, others.conditions].some((all) => all.current()[0]?.why?.includes('another program reads') === true),
    );
  });
});

describe('the pace of connections', () => {
  /** A clock of the test's own, and connections that do as they are told. */
  const setUp = (connect: (listening: Listening, signal: AbortSignal) => Promise<void>) => {
    const place = openTestRedis();
    let now = 0;
    let sleeping: { at: number; end(): void }[] = [];
    const begun: number[] = [];
    const stop = new AbortController();
    const conditions = createConditions({ now: () => now });
    const listening = listenForPresses({
      kind: 'slack',
      buttons: {
        listen: (given, signal) => {
          begun.push(now);
          return connect(given, signal);
        },
      },
      onPress: async () => ANSWER,
      locks: createLocks(place.redis, place.prefix),
      conditions,
      scrub: (text) => text,
      log: pino({ level: 'silent' }),
      onUnanswered: () => {},
      signal: stop.signal,
      sleep: (ms, signal) =>
        new Promise((end) => {
          if (signal.aborted) return end();
          sleeping.push({ at: now + ms, end });
          signal.addEventListener('abort', () => end(), { once: true });
        }),
    });
    onTestFinished(async () => {
      stop.abort();
      await listening;
    });
    /** Step by step, so that whatever is due happens in its time. */
    const pass = async (ms: number): Promise<void> => {
      for (const until = now + ms; now < until; ) {
        now += 100;
        const due = sleeping.filter(({ at }) => at <= now);
        sleeping = sleeping.filter((one) => !due.includes(one));
        for (const { end } of due) end();
        await new Promise(setImmediate);
      }
    };
    return { begun, conditions, pass };
  };

  const first = (begun: number[]) => until('it connects', () => begun.length > 0);

  test('one that opens and ends at once is a failure each time: pauses grow, and it is a trouble', async () => {
    const { begun, conditions, pass } = setUp(async ({ onOpen }) => onOpen());
    await first(begun);
    await pass(60_000);
    expect(begun.length).toBeGreaterThan(3);
    expect(begun.length).toBeLessThan(9);
    expect(conditions.current()).toMatchObject([
      { name: 'buttons', why: 'the connection ended as soon as it was open' },
    ]);
  });

  test('so is one that opens and breaks', async () => {
    const { begun, conditions, pass } = setUp(async ({ onOpen }) => {
      onOpen();
      throw new Error('it broke');
    });
    await first(begun);
    await pass(60_000);
    expect(begun.length).toBeLessThan(9);
    expect(conditions.current()).toMatchObject([{ why: 'it broke', since: '1970-01-01T00:00:00.000Z' }]);
  });

  test('one that holds for ten seconds is none; the trouble is over only then', async () => {
    const ends: (() => void)[] = [];
    const { begun, conditions, pass } = setUp(({ onOpen }, signal) => {
      if (begun.length === 1) return Promise.reject(new Error('not now'));
      onOpen();
      return new Promise((end) => {
        ends.push(end);
        signal.addEventListener('abort', () => end(), { once: true });
      });
    });
    await first(begun);
    await pass(2000);
    expect(begun).toHaveLength(2);
    await pass(8000);
    expect(conditions.current()).toHaveLength(1);
    await pass(4000);
    expect(conditions.current()).toEqual([]);
    ends.shift()?.();
    await pass(100);
    expect(begun).toHaveLength(3);
    expect(conditions.current()).toEqual([]);
  });

  test('a second one begins a second after the first, at least', async () => {
    const ends: (() => void)[] = [];
    const { begun, pass } = setUp(({ onOpen }) => {
      onOpen();
      return new Promise((end) => void ends.push(end));
    });
    await first(begun);
    for (let count = 0; count < 20; count += 1) {
      ends.shift()?.();
      await pass(500);
    }
    for (const end of ends) end();
    const gaps = begun.slice(1).map((at, index) => at - (begun[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000);
    for (const end of ends.splice(0)) end();
  });
});
