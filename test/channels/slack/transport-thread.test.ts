/** Threads, edits and files of the Slack channel, against the sandbox's Slack and against scripted answers. */

import { afterEach, describe, expect, test } from 'vitest';
import type { Alert, Destination } from '../../../src/alert.ts';
import type { Format, Message } from '../../../src/channels/channel.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { createGuardedPost } from '../../../src/channels/http.ts';
import { slackConfig } from '../../../src/channels/slack/config.ts';
import { createSlackChannel } from '../../../src/channels/slack/transport.ts';
import { atOnce } from '../../../src/chunks.ts';
import { createSlackReceiver, slackError } from '../../../src/sandbox/receivers/slack/slack.ts';
import { destinationOf, inspectionAlert } from '../../support/alerts.ts';
import { type Answer, startHttpReceiver } from '../../support/http-receiver.ts';
import { makeAlert } from '../../support/numbered.ts';

const CHANNEL = destinationOf('slack', 'C0SANDBOX01');
const HOUR_MS = 3_600_000;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const soon = (): AbortSignal => AbortSignal.timeout(20_000);

const openChannel = (apiUrl: string, allowNetworks = ['127.0.0.1']) => {
  const clock = { now: Date.now() };
  const guard = createGuardedPost({ allowHttp: true, allowNetworks });
  const config = slackConfig.parse({ botToken: 'xoxb-sandbox', apiUrl });
  const channel = createSlackChannel(config, { post: guard.post, now: () => clock.now });
  closers.push(guard.close, channel.close);
  const compose = (alerts: Alert[], destination: Destination = CHANNEL, format: Format = 'rich'): Message[] =>
    atOnce(
      channel.compose(
        { destination, alerts },
        { format, presentation: createPresentation(), sentAt: '2026-11-20T10:08:00.000Z' },
      ),
    );
  const one = (...given: Parameters<typeof compose>): Message => {
    const [message, ...others] = compose(...given);
    if (message === undefined || others.length > 0) throw new Error(`${others.length} messages too many`);
    return message;
  };
  const amend = (handle: string, message: Message) => {
    if (channel.amend === undefined) throw new Error('this channel cannot amend');
    return channel.amend(handle, message, soon());
  };
  return { channel, clock, compose, one, amend, send: (message: Message) => channel.send(message, soon()) };
};

const open = async (allowNetworks?: string[]) => {
  const receiver = createSlackReceiver();
  const { apiUrl, webhookUrl } = await receiver.start();
  closers.push(receiver.stop);
  return { ...openChannel(apiUrl, allowNetworks), receiver, hook: destinationOf('slack', webhookUrl) };
};

/** Answers of a scripted Slack. */
const openScripted = async () => {
  const taken = { status: 200, body: '{"ok":true,"channel":"C0SANDBOX01","ts":"1763633275.000400"}' };
  const provider = await startHttpReceiver(() => taken);
  closers.push(provider.close);
  const methods = () => provider.arrived.map(({ path }) => path.slice(1));
  return { ...openChannel(provider.origin), provider, methods };
};

const refusal = (error: string): Answer => ({ status: 200, body: JSON.stringify({ ok: false, error }) });

const handleOf = ({ handle }: { handle?: string }): string => {
  if (handle === undefined) throw new Error('no handle');
  return handle;
};

const storm = (count = 60): Alert[] => Array.from({ length: count }, (_, n) => makeAlert(n));

describe('threads', () => {
  test('what belongs to a message stands below it, also what belongs to a reply', async () => {
    const { one, send, receiver } = await open();
    const first = await send(one([makeAlert(1)]));
    const reply = await send({ ...one([makeAlert(2)]), replyTo: handleOf(first) });
    await send({ ...one([makeAlert(3)]), replyTo: handleOf(reply) });
    const root = first.providerId;
    expect(receiver.received().map(({ raw }) => raw.threadTs)).toEqual([undefined, root, root]);
  });

  test('a reply stands in the channel, too, unless it plays down or is our own', async () => {
    const { one, send, receiver } = await open();
    const replyTo = handleOf(await send(one([makeAlert(1)])));
    const followUp = { of: makeAlert(1).id, was: 'suspecious', is: 'critical' };
    const replies: Alert[] = [
      { ...makeAlert(2), type: 'inspection.upgraded', followUp },
      { ...makeAlert(3), type: 'inspection.downgraded', followUp: { ...followUp, is: 'ok' } },
      { ...makeAlert(4), source: 'notifications', type: 'tocsin.alert.acknowledged', item: { message: 'Ann has it.' } },
      makeAlert(5),
    ];
    for (const alert of replies) await send({ ...one([alert]), replyTo });
    const broadcasts = receiver.received().map(({ raw }) => raw.isBroadcast === true);
    expect(broadcasts).toEqual([false, true, false, false, true]);
  });

  test('a channel by name gives a handle of its id, which finds the message', async () => {
    const { one, send, amend, receiver } = await open();
    const named = destinationOf('slack', '#ops');
    const { handle = '' } = await send(one([makeAlert(1)], named));
    expect(handle).toMatch(/^C0[A-F0-9]{9}\/\d+\.\d{6}$/);
    await amend(handle, one([makeAlert(1)], named));
    expect(receiver.edits()).toMatchObject([{ destination: '#ops' }]);
  });

  test('where the first message is gone, or the handle is none, it stands by itself', async () => {
    const { one, send, receiver } = await open();
    for (const replyTo of ['C0SANDBOX01/1700000000.000001', 'no handle', '']) {
      await send({ ...one([makeAlert(1)]), replyTo });
    }
    expect(receiver.received().map(({ raw }) => raw.threadTs)).toEqual([undefined, undefined, undefined]);
    expect(receiver.attempts().map(({ code }) => code)).toEqual(['thread_not_found', 'ok', 'ok', 'ok']);
  });

  // Sources: docs.slack.dev/reference/methods/chat.postMessage; slackapi/bolt-js#2307; jenkinsci/slack-plugin#584.
  test.each([
    'cannot_reply_to_message',
    'restricted_action_thread_locked',
    'restricted_action_non_threadable_channel',
    'thread_not_found',
    'invalid_thread_ts',
  ])('%s: sent again at once, once, without the thread', async (code) => {
    const { one, send, provider } = await openScripted();
    const message = { ...one([makeAlert(1)]), replyTo: 'C0SANDBOX01/1700000000.000001' };
    provider.script(refusal(code));
    expect(await send(message)).toMatchObject({ handle: 'C0SANDBOX01/1763633275.000400' });
    const threads = provider.arrived.map(({ body }) => new URLSearchParams(body).get('thread_ts'));
    expect(threads).toEqual(['1700000000.000001', null]);
    provider.script(refusal(code), refusal('is_archived'));
    await expect(send(message)).rejects.toMatchObject({ reason: 'destination-dead' });
    expect(provider.arrived).toHaveLength(4);
  });

  test('another refusal of a reply is what it says', async () => {
    const { one, send, provider } = await openScripted();
    provider.script(refusal('is_archived'));
    await expect(send({ ...one([makeAlert(1)]), replyTo: 'C0SANDBOX01/1700000000.000001' })).rejects.toMatchObject({
      reason: 'destination-dead',
    });
    expect(provider.arrived).toHaveLength(1);
  });

  test('an incoming webhook has no threads', async () => {
    const { one, send, receiver, hook } = await open();
    const message = { ...one([makeAlert(1)], hook), replyTo: 'C0SANDBOX01/1700000000.000001' };
    expect(await send(message)).toEqual({});
    expect(receiver.received()[0]?.raw.threadTs).toBeUndefined();
  });
});

describe('edits', () => {
  test('take the place of what was there, and call nobody', async () => {
    const { one, send, amend, receiver } = await open();
    const { handle = '', providerId } = await send(one([makeAlert(1)]));
    const grown = [makeAlert(1), makeAlert(1, { id: 'other', protocol: 'Vault <!here>' })];
    expect(await amend(handle, one(grown))).toEqual({ providerId, handle });
    const [edit, ...others] = receiver.edits();
    expect(others).toEqual([]);
    expect(edit).toMatchObject({ ts: providerId, destination: CHANNEL.address, mentions: [] });
    expect(edit?.readable).toContain('Vault <!here>');
    expect(edit?.blocks[0]).toMatchObject({ type: 'header' });
    expect(receiver.received()).toHaveLength(1);
  });

  // Source: docs.slack.dev/reference/methods/chat.update.
  test.each([
    ['message_not_found', 'bad-message'],
    ['cant_update_message', 'bad-message'],
    ['edit_window_closed', 'bad-message'],
    ['is_inactive', 'bad-message'],
    ['block_mismatch', 'bad-message'],
    ['update_failed', 'unavailable'],
    ['external_channel_migrating', 'unavailable'],
    ['streaming_state_conflict', 'unavailable'],
    ['token_revoked', 'sender-misconfigured'],
  ])('%s is %s', async (code, reason) => {
    const { one, amend, provider } = await openScripted();
    provider.script(refusal(code));
    await expect(amend('C0SANDBOX01/1700000000.000001', one([makeAlert(1)]))).rejects.toMatchObject({ reason, code });
    expect(provider.arrived).toHaveLength(1);
  });

  test('an incoming webhook, a handle that is none, text alone, and a digest with a file cannot', async () => {
    const { one, send, amend, receiver, hook } = await open();
    const cannot = { reason: 'bad-message', maybeDelivered: false };
    await expect(amend('', one([makeAlert(1)], hook))).rejects.toMatchObject(cannot);
    await expect(amend('12345', one([makeAlert(1)]))).rejects.toMatchObject(cannot);
    const { handle = '' } = await send(one([makeAlert(1)]));
    await expect(amend(handle, one([makeAlert(1)], CHANNEL, 'plain'))).rejects.toMatchObject(cannot);
    await expect(amend(handle, one(storm()))).rejects.toMatchObject(cannot);
    expect(receiver.edits()).toEqual([]);
  });
});

describe('files', () => {
  const long = (n: number) =>
    makeAlert(n, {
      item: { _id: `item-${n}`, detections: { a: { status: 'detected', message: `${n} ${'word '.repeat(4000)}end` } } },
    });

  test('hold what a message has no room for, and again what it has when it is changed', async () => {
    const { one, send, amend, receiver } = await open();
    const { handle = '' } = await send(one([long(1)]));
    expect(receiver.received()[1]).toMatchObject({ raw: { threadTs: receiver.received()[0]?.id } });
    await amend(handle, one([long(1), { ...long(2), txHash: long(1).txHash ?? '' }]));
    expect(receiver.edits()).toHaveLength(1);
    const [, first, second] = receiver.received();
    expect(first?.text).toMatch(/1 word .* end/);
    expect(second?.text).toMatch(/1 word .* end\n> .*2 word .* end/);
    expect(second).toMatchObject({ raw: { threadTs: receiver.received()[0]?.id } });
  });

  test('stand in the thread of their digest, with every hash', async () => {
    const { one, send, receiver } = await open();
    const alerts = storm();
    const receipt = await send(one(alerts));
    const [digest, file, ...others] = receiver.received();
    expect(others).toEqual([]);
    expect(receipt).toEqual({ providerId: digest?.id, handle: `${CHANNEL.address}/${digest?.id}` });
    expect(file).toMatchObject({ destination: CHANNEL.address, raw: { threadTs: digest?.id } });
    expect(file?.raw.files[0]?.filename).toMatch(/^tocsin-digest-/);
    for (const { txHash } of alerts) expect(file?.text).toContain(txHash);
  });

  test('go to the thread that the digest belongs to, and to the id of a channel that has a name', async () => {
    const { one, send, receiver } = await open();
    const named = destinationOf('slack', '#ops');
    const first = await send(one([makeAlert(1)], named));
    await send({ ...one(storm(), named), replyTo: handleOf(first) });
    const root = first.providerId;
    expect(receiver.received().map(({ destination, raw }) => [destination, raw.threadTs])).toEqual([
      ['#ops', undefined],
      ['#ops', root],
      ['#ops', root],
    ]);
  });

  test('their host gets the bytes and no token', async () => {
    const { one, send, provider, methods } = await openScripted();
    const host = await startHttpReceiver();
    closers.push(host.close);
    const told = { ok: true, upload_url: `${host.origin}/upload/v1/key`, file_id: 'F1' };
    provider.script({ status: 200, body: JSON.stringify(told) });
    await send(one(storm()));
    expect(methods()).toEqual(['files.getUploadURLExternal', 'chat.postMessage', 'files.completeUploadExternal']);
    const [bytes] = host.arrived;
    expect(bytes?.body).toContain(makeAlert(59).txHash);
    expect(JSON.stringify(bytes)).not.toContain('xoxb');
    const asked = new URLSearchParams(provider.arrived[0]?.body);
    expect(Number(asked.get('length'))).toBe(Buffer.byteLength(bytes?.body ?? ''));
  });

  test('without the scope nothing is posted; then texts hold every hash, for an hour', async () => {
    const { one, compose, send, receiver, clock } = await open();
    const restore = receiver.limitScopes(['chat:write']);
    await expect(send(one(storm()))).rejects.toMatchObject({
      reason: 'bad-message',
      code: 'missing_scope',
      maybeDelivered: false,
    });
    expect(receiver.received()).toEqual([]);
    for (const message of compose(storm(), CHANNEL, 'plain')) await send(message);
    await send(one(storm()));
    const texts = receiver.received().map(({ text }) => text);
    for (const { txHash } of storm()) for (const text of texts) expect(text).toContain(txHash);
    restore();
    clock.now += HOUR_MS;
    await send(one([makeAlert(1)]));
    await send(one(storm()));
    expect(receiver.received().at(-1)?.raw.method).toBe('files.completeUploadExternal');
  });

  test('any answer shows whether files may go along, and verify says so', async () => {
    const { one, channel, receiver } = await open();
    receiver.limitScopes(['chat:write']);
    expect(one(storm()).body).toHaveProperty('file');
    expect(await channel.verify(soon())).toMatch(/^posts as tocsin in Sandbox; without the scope files:write/);
    expect(one(storm()).body).not.toHaveProperty('file');
  });

  // The bot may post to public channels that it is not in, but bring no file there: getnao/nao#1372.
  test.each(['not_in_channel', 'channel_not_found', 'posting_to_channel_denied', 'file_not_found', 'no_permission'])(
    '%s below a posted digest ends neither channel nor token, and is not tried again soon',
    async (code) => {
      const { one, send, receiver } = await open();
      receiver.callScript.next(slackError(code), { destination: 'files.completeUploadExternal' });
      const failed = { reason: 'bad-message', code, maybeDelivered: true };
      await expect(send(one(storm()))).rejects.toMatchObject(failed);
      expect(one(storm()).body).not.toHaveProperty('file');
      await send(one(storm(), CHANNEL, 'plain'));
      expect(receiver.received()).toHaveLength(2);
    },
  );

  test('a digest whose file fails on the way is not posted again', async () => {
    const { one, send, receiver } = await open();
    receiver.callScript.next(slackError('internal_error'), { destination: 'files.completeUploadExternal' });
    receiver.callScript.next({ kind: 'reset' }, { destination: 'files.getUploadURLExternal' });
    await expect(send(one(storm()))).rejects.toMatchObject({ reason: 'unavailable', maybeDelivered: false });
    await expect(send(one(storm()))).rejects.toMatchObject({ reason: 'unavailable', maybeDelivered: true });
    const receipt = await send(one(storm()));
    expect(receiver.received().map(({ raw }) => raw.method)).toEqual([
      'chat.postMessage',
      'files.completeUploadExternal',
    ]);
    expect(receipt.providerId).toBe(receiver.received()[0]?.id);
    await send(one(storm()));
    expect(receiver.received()).toHaveLength(4);
  });

  test('a wait for files is a wait', async () => {
    const { one, send, receiver } = await open();
    const limited = { kind: 'answer', status: 429, headers: { 'retry-after': '9' } } as const;
    receiver.callScript.next(limited, { destination: 'files.getUploadURLExternal' });
    await expect(send(one(storm()))).rejects.toMatchObject({ reason: 'rate-limited', retryAfterMs: 9000 });
    expect(one(storm()).body).toHaveProperty('file');
  });

  test('a worthless token is one', async () => {
    const { one, send, receiver } = await open();
    const repair = receiver.revokeToken();
    await expect(send(one(storm()))).rejects.toMatchObject({ reason: 'sender-misconfigured', code: 'token_revoked' });
    repair();
    await send(one(storm()));
    expect(receiver.received()).toHaveLength(2);
  });

  test.each([
    ['answers 500', { kind: 'answer', status: 500 }],
    ['drops the connection', { kind: 'reset' }],
  ] as const)('a file host that %s holds up nothing', async (_name, verdict) => {
    const { one, send, receiver } = await open();
    receiver.callScript.next(verdict, { destination: 'upload' });
    await expect(send(one(storm()))).rejects.toMatchObject({ reason: 'bad-message', maybeDelivered: false });
    expect(receiver.received()).toEqual([]);
  });

  test('a file host that is not public is not written to', async () => {
    const { one, send, receiver } = await open([]);
    await expect(send(one(storm()))).rejects.toMatchObject({ reason: 'bad-message', code: 'blocked' });
    expect(receiver.received()).toEqual([]);
  });

  test('a stop on the way is no refusal', async () => {
    const { channel, one, receiver } = await open();
    receiver.callScript.next({ kind: 'hang' }, { destination: 'upload' });
    const sending = channel.send(one(storm()), AbortSignal.timeout(300));
    await expect(sending).rejects.toMatchObject({ reason: 'unavailable', maybeDelivered: false });
    expect(one(storm()).body).toHaveProperty('file');
  });

  test('an incoming webhook gets none', async () => {
    const { compose, send, receiver, hook } = await open();
    for (const message of compose(storm(200), hook)) await send(message);
    expect(receiver.received().every(({ raw }) => raw.method === 'webhook')).toBe(true);
    const all = receiver.received().map(({ text }) => text);
    for (const { txHash } of storm(200)) expect(all.join('\n')).toContain(txHash);
  });
});

test('an incident is one message to Slack, whoever it concerns', async () => {
  const { one, send, receiver } = await open();
  const alerts = ['A', 'B', 'C'].map((name) => inspectionAlert({ protocol: name, item: { _id: `i-${name}` } }));
  await send(one(alerts));
  expect(receiver.received()).toHaveLength(1);
});
