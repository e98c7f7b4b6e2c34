import { describe, expect, test } from 'vitest';
import type { PostRequest } from '../../../src/channels/http.ts';
import { createFilePermits, createFiles } from '../../../src/channels/slack/bot.ts';
import { DeliveryError } from '../../../src/errors.ts';

const FILE = { name: 'alerts.txt', text: 'zwölf\n' };
const UPLOAD = { upload_url: 'https://files.slack.example/upload/1', file_id: 'F1' };
const PLACE = { channel: 'C1', ts: '1.2', thread: '1.2' };
const never = new AbortController().signal;

interface Answers {
  call?: object | Error;
  post?: { status: number } | Error;
}

const setUp = ({ call = UPLOAD, post = { status: 200 } }: Answers = {}) => {
  const calls: [string, object][] = [];
  const posts: PostRequest[] = [];
  const files = createFiles(
    async (method, args) => {
      calls.push([method, args]);
      if (call instanceof Error) throw call;
      return { ...call };
    },
    async (request) => {
      posts.push(request);
      if (post instanceof Error) throw post;
      return { ...post, headers: {}, text: '' };
    },
    1000,
  );
  return { files, calls, posts };
};

describe('a file', () => {
  test('is uploaded where Slack says, by its size in bytes and without the token', async () => {
    const { files, calls, posts } = setUp();
    expect(await files.upload(FILE, never)).toBe('F1');
    expect(calls).toEqual([['files.getUploadURLExternal', { filename: 'alerts.txt', length: 7 }]]);
    expect(posts).toMatchObject([{ url: UPLOAD.upload_url, body: FILE.text }]);
    expect(Object.keys(posts[0]?.headers ?? {})).toEqual(['content-type', 'user-agent']);
  });

  test('is shown in the thread of its message', async () => {
    const { files, calls } = setUp();
    await files.share('F1', FILE, PLACE, never);
    const args = { files: [{ id: 'F1', title: 'alerts.txt' }], channel_id: 'C1', thread_ts: '1.2' };
    expect(calls).toEqual([['files.completeUploadExternal', args]]);
  });

  test.each<[string, Answers, object]>([
    ['no upload URL', { call: { file_id: 'F1' } }, { reason: 'bad-message', code: 'unreadable' }],
    ['a file host that answers 403', { post: { status: 403 } }, { reason: 'bad-message', code: '403' }],
    [
      'a file host that cannot be reached',
      { post: new DeliveryError('unavailable', 'no answer', { code: 'ETIMEDOUT' }) },
      { reason: 'bad-message', code: 'ETIMEDOUT' },
    ],
    [
      'a token without the scope',
      { call: new DeliveryError('sender-misconfigured', 'refused', { code: 'missing_scope' }) },
      { reason: 'bad-message', code: 'missing_scope' },
    ],
    [
      'a token that is revoked',
      { call: new DeliveryError('sender-misconfigured', 'refused', { code: 'token_revoked' }) },
      { reason: 'sender-misconfigured', code: 'token_revoked' },
    ],
    [
      'a wait',
      { call: new DeliveryError('rate-limited', 'slow down', { code: '429', retryAfterMs: 5000 }) },
      { reason: 'rate-limited', retryAfterMs: 5000 },
    ],
  ])('%s costs the message no more than it has to', async (_name, answers, expected) => {
    await expect(setUp(answers).files.upload(FILE, never)).rejects.toMatchObject({
      ...expected,
      maybeDelivered: false,
    });
  });

  test('that is not shown may leave its message delivered', async () => {
    const { files } = setUp({ call: new DeliveryError('destination-dead', 'refused', { code: 'not_in_channel' }) });
    const expected = { reason: 'bad-message', code: 'not_in_channel', maybeDelivered: true };
    await expect(files.share('F1', FILE, PLACE, never)).rejects.toMatchObject(expected);
  });
});

describe('whether a file may go along', () => {
  test('depends on the scopes of the token, once they are known', () => {
    const { may, learn } = createFilePermits(() => 0);
    expect(may('C1')).toBe(true);
    learn(['chat:write']);
    expect(may('C1')).toBe(false);
    learn(['chat:write', 'files:write:user']);
    expect(may('C1')).toBe(true);
  });

  test('a channel that refused one is asked again after an hour, and the others go on', () => {
    const time = { now: 0 };
    const { may, refuse } = createFilePermits(() => time.now);
    refuse('C1');
    expect([may('C1'), may('C2')]).toEqual([false, true]);
    time.now = 3_600_000 - 1;
    expect(may('C1')).toBe(false);
    time.now += 1;
    expect(may('C1')).toBe(true);
  });
});
