/** Who hears that a destination is broken, in which words, and only once from all daemons. */
import { describe, expect, test } from 'vitest';
import {
  type AudienceInput,
  audienceOf,
  type BrokenInput,
  brokenText,
  movedText,
  recoveredText,
} from '../../../src/features/outages/message.ts';
import { createOutageStore } from '../../../src/features/outages/store.ts';
import { destinationOf } from '../../support/alerts.ts';
import { openTestRedis } from '../../support/redis.ts';

const SLACK = destinationOf('slack', 'C1');
const OTHER_SLACK = destinationOf('slack', 'C2');
const EMAIL = destinationOf('email', 'a@example.com');
const ONCALL = destinationOf('email', 'oncall@example.com');
const CHAT = destinationOf('telegram', '-100');
const HOOK = destinationOf('webhook', 'https://hooks.example.com/x');

describe('announced are', () => {
  const audience = (changes: Partial<AudienceInput> = {}) =>
    audienceOf({
      destination: SLACK,
      isSender: false,
      fallback: [],
      routed: [SLACK, OTHER_SLACK, EMAIL, HOOK],
      isBroken: () => false,
      ...changes,
    }).map(({ address }) => address);

  test('the fallback, whatever it is', () => {
    expect(audience({ fallback: [ONCALL, HOOK] })).toEqual([ONCALL.address, HOOK.address]);
  });
  test('the other people of the protocol, where there is no fallback, or none that works', () => {
    expect(audience()).toEqual([OTHER_SLACK.address, EMAIL.address]);
    expect(audience({ fallback: [ONCALL], isBroken: ({ id }) => id === ONCALL.id })).toEqual([
      OTHER_SLACK.address,
      EMAIL.address,
    ]);
    expect(audience({ destination: ONCALL, fallback: [ONCALL], routed: [CHAT] })).toEqual([CHAT.address]);
  });
  test('never those who hear by the same sender, nor those whose channel is broken', () => {
    expect(audience({ isSender: true, fallback: [OTHER_SLACK] })).toEqual([EMAIL.address]);
    expect(audience({ isBroken: ({ id }) => id === EMAIL.id })).toEqual([OTHER_SLACK.address]);
    expect(audience({ routed: [SLACK, HOOK] })).toEqual([]);
  });
});

describe('the words', () => {
  const input: BrokenInput = {
    destination: SLACK,
    isSender: false,
    reason: 'destination-dead',
    message: 'Slack answered channel_not_found',
    since: '2026-11-20T12:00:05.120Z',
    waiting: 2,
    hasFallback: true,
    outagesThisHour: 1,
  };

  test('say what broke, what it said, since when, how many wait and what to do', () => {
    const [first, second, ...rest] = brokenText(input).split('\n');
    expect(first).toBe('Slack C1 takes no alerts: Slack answered channel_not_found.');
    expect(second).toBe('Since 2026-11-20 12:00:05 UTC. 2 alerts are waiting for it.');
    expect(rest.join('\n')).toMatch(/go to the fallback[\s\S]*To do: [\s\S]*tocsin dead list/);
    expect(brokenText({ ...input, hasFallback: false })).not.toContain('fallback');
  });

  test('of a receiver that wants nothing more name the command that enables it, and the one that sends what died', () => {
    const text = brokenText({ ...input, isDisabled: true });
    expect(text).toContain(`\`tocsin destinations enable ${SLACK.id}\``);
    expect(text).toContain(`\`tocsin dead retry --destination ${SLACK.id}\``);
    expect(brokenText(input)).not.toContain('destinations enable');
  });

  test('name a kind whose sender is misconfigured as a whole, and say that what waits is kept', () => {
    const text = brokenText({ ...input, isSender: true, reason: 'sender-misconfigured', message: 'it said no.' });
    expect(text).toMatch(/^Every Slack channel takes no alerts: it said no\.\n/);
    expect(text).toMatch(/Alerts for it wait[\s\S]*channels\.slack[\s\S]*tocsin check --online/);
  });

  test('say of a passing fault that nothing has to be sent again', () => {
    expect(brokenText({ ...input, reason: 'unavailable' })).toMatch(/sent by themselves when it does/);
  });

  test('say at the last of many outages that the rest is not announced', () => {
    expect(brokenText({ ...input, outagesThisHour: 2 })).not.toContain('comes and goes');
    expect(brokenText({ ...input, outagesThisHour: 3 })).toContain('It comes and goes');
  });

  test('say that it works again, and where a chat has moved to', () => {
    const well = recoveredText({ ...input, waiting: 0 });
    expect(well).toMatch(/^Slack C1 works again\.\nIt was broken since 2026-11-20 12:00:05 UTC: [\s\S]*dead retry/);
    expect(recoveredText({ ...input, reason: 'unavailable' })).not.toContain('dead');
    expect(movedText(CHAT, '-200')).toMatch(/^Telegram -100 has moved to -200\.[\s\S]*update the contact to -200/);
  });
});

describe('what is announced', () => {
  const setUp = () => {
    const { redis, prefix } = openTestRedis();
    return createOutageStore(redis, prefix);
  };
  const first = { since: '2026-11-20T12:00:00.000Z', reason: 'unavailable' as const, message: 'no', told: [EMAIL] };
  const second = { ...first, since: '2026-11-20T13:00:00.000Z' };

  test('stands until it is taken back, whoever notes it again', async () => {
    const outageStore = setUp();
    expect(await outageStore.note(SLACK.id, first)).toEqual(first);
    expect(await outageStore.note(SLACK.id, second)).toEqual(first);
    expect(await outageStore.get([EMAIL.id, SLACK.id])).toEqual(new Map([[SLACK.id, first]]));
    await outageStore.remove(SLACK.id, first);
    expect(await outageStore.get([SLACK.id])).toEqual(new Map());
    expect(await outageStore.note(SLACK.id, second)).toEqual(second);
  });

  test('a break that was noted meanwhile is not taken back with an earlier one', async () => {
    const outageStore = setUp();
    await outageStore.note(SLACK.id, second);
    await outageStore.remove(SLACK.id, first);
    expect((await outageStore.get([SLACK.id])).size).toBe(1);
  });

  test('one that an operator enabled holds no more, its end can be told, and the next one is another', async () => {
    const outageStore = setUp();
    await outageStore.note(SLACK.id, first);
    await outageStore.enabled(SLACK.id, second.since);
    expect(await outageStore.get([SLACK.id])).toEqual(new Map());
    expect(await outageStore.find(SLACK.id)).toEqual({ ...first, enabledAt: second.since });
    expect(await outageStore.note(SLACK.id, second)).toEqual(second);
    expect(await outageStore.get([SLACK.id])).toEqual(new Map([[SLACK.id, second]]));
    await outageStore.enabled(EMAIL.id, second.since);
    expect(await outageStore.find(EMAIL.id)).toBeUndefined();
  });

  test('breaks are counted by subject', async () => {
    const outageStore = setUp();
    expect(await outageStore.count(SLACK.id)).toBe(1);
    expect(await outageStore.count(SLACK.id)).toBe(2);
    expect(await outageStore.count(EMAIL.id)).toBe(1);
  });
});
