/** Who is in a Slack channel: asked page by page within a bound, and not again within a minute. */
import { describe, expect, test } from 'vitest';
import { createMembers } from '../../../src/channels/slack/listen.ts';
import { DeliveryError } from '../../../src/errors.ts';

const CHANNEL = 'C0000001';

const setUp = (answer: (args: Record<string, unknown>) => Record<string, unknown>) => {
  const calls: Record<string, unknown>[] = [];
  const clock = { now: 1_000_000 };
  const isMember = createMembers(
    async (method, args) => {
      expect(method).toBe('conversations.members');
      calls.push(args);
      return answer(args);
    },
    () => clock.now,
  );
  const ask = (user: string, channel = CHANNEL) => isMember(channel, user, new AbortController().signal);
  return { ask, calls, clock };
};

/** Pages of two names each. */
const paged =
  (pages: number) =>
  ({ cursor }: Record<string, unknown>): Record<string, unknown> => {
    const page = Number(cursor ?? 0);
    const next = page + 1 < pages ? String(page + 1) : '';
    return { members: [`U${page}A`, `U${page}B`], response_metadata: { next_cursor: next } };
  };

test('a person on a later page is a member, and pages behind it are not asked for', async () => {
  const { ask, calls } = setUp(paged(5));
  expect(await ask('U2B')).toBe(true);
  expect(calls).toEqual([
    { channel: CHANNEL, limit: 999 },
    { channel: CHANNEL, limit: 999, cursor: '1' },
    { channel: CHANNEL, limit: 999, cursor: '2' },
  ]);
});

test('a person on no page is none; on too many pages it is not known', async () => {
  const { ask, calls } = setUp(paged(5));
  expect(await ask('U9')).toBe(false);
  expect(calls).toHaveLength(5);
  const huge = setUp(paged(1000));
  expect(await huge.ask('U9')).toBeUndefined();
  expect(huge.calls).toHaveLength(10);
});

test('an answer holds for a minute, for that person in that channel', async () => {
  const { ask, calls, clock } = setUp(paged(1));
  expect(await Promise.all([ask('U0A'), ask('U0A')])).toEqual([true, true]);
  expect(await ask('U9')).toBe(false);
  clock.now += 59_999;
  expect(await ask('U0A')).toBe(true);
  expect(await ask('U9')).toBe(false);
  expect(calls).toHaveLength(2);
  await ask('U0A', 'C0000002');
  expect(calls).toHaveLength(3);
  clock.now += 1;
  await ask('U0A');
  expect(calls).toHaveLength(4);
});

test('of many people the answers for the first ones are forgotten', async () => {
  const { ask, calls } = setUp(paged(1));
  for (let count = 0; count < 1001; count += 1) await ask(`U9${count}`);
  await ask('U91000');
  expect(calls).toHaveLength(1001);
  await ask('U90');
  expect(calls).toHaveLength(1002);
});

describe('where Slack does not say', () => {
  const refusal = (code: string, reason: 'sender-misconfigured' | 'destination-dead' | 'unavailable') => () => {
    throw new DeliveryError(reason, `slack.com answered ${code}`, { code });
  };

  test.each([
    ['missing_scope', 'sender-misconfigured'],
    ['channel_not_found', 'destination-dead'],
    ['method_not_supported_for_channel_type', 'sender-misconfigured'],
  ] as const)('as with %s, it is not known, for a minute', async (code, reason) => {
    const { ask, calls } = setUp(refusal(code, reason));
    expect(await ask('U0A')).toBeUndefined();
    expect(await ask('U0A')).toBeUndefined();
    expect(calls).toHaveLength(1);
  });

  test('just now, the press fails, and the next one asks again', async () => {
    const { ask, calls } = setUp(refusal('internal_error', 'unavailable'));
    await expect(ask('U0A')).rejects.toThrow('internal_error');
    await expect(ask('U0A')).rejects.toThrow('internal_error');
    expect(calls).toHaveLength(2);
  });

  test.each([[{}], [{ members: 'U0A' }], [{ members: [] }]])('an answer like %j names nobody', async (answer) => {
    expect(await setUp(() => answer).ask('U0A')).toBe(false);
  });
});
