/** Who hears that a destination is broken, in which words, and only once from all daemons. */
import { describe, expect, test } from 'vitest';
import type { Destination } from '../../../src/alert.ts';
import {
  type BrokenInput,
  brokenText,
  movedText,
  recoveredText,
} from '../../../src/features/broken-destinations/message.ts';
import { createOutageStore } from '../../../src/features/conditions/outages.ts';
import { destinationOf } from '../../support/alerts.ts';
import { TOLD } from '../../support/outages.ts';
import { openTestRedis } from '../../support/redis.ts';

const SLACK = destinationOf('slack', 'C1');
const EMAIL = destinationOf('email', 'a@example.com');
const CHAT = destinationOf('telegram', '-100');
const HOOK = destinationOf('webhook', 'https://hooks.example.com/x');

describe('the words', () => {
  const input: BrokenInput = {
    destination: SLACK,
    isSender: false,
    reason: 'destination-dead',
    message: 'the channel is archived (slack.com answered is_archived)',
    explanation: { is: 'is archived', todo: 'unarchive the channel' },
    said: 'slack.com answered is_archived',
    since: '2026-11-20T12:00:05.120Z',
    waiting: 0,
    dead: 3,
    hasFallback: true,
  };
  /** Of a failure that nobody has words for. */
  const { explanation: _explanation, said: _said, ...unexplained } = input;

  test('say what is wrong, since when, how many alerts, what becomes of them, what to do, and the answer as a quote', () => {
    expect(brokenText(input)).toBe(
      [
        'Slack channel C1 is archived.',
        'Since 2026-11-20 12:00:05 UTC. 3 alerts could not be delivered and went to the fallback. New alerts for it go to the fallback, too.',
        'To do: unarchive the channel; then, to send what it missed, run: tocsin dead retry --destination C1',
        'Its answer: “slack.com answered is_archived”',
      ].join('\n'),
    );
  });

  test('name the protocols whose alerts do not arrive, and the chat that has moved', () => {
    expect(brokenText({ ...input, protocols: ['Vault', 'Bridge'] })).toContain(
      'Since 2026-11-20 12:00:05 UTC. Alerts of “Vault”, “Bridge” do not arrive there. Nobody knows its name here: ask the team of “Vault”, “Bridge”. 3 alerts could not be delivered',
    );
    expect(brokenText({ ...input, isSender: true, protocols: ['Vault'] })).not.toContain('Vault');
    const chat = { id: 'telegram-1', kind: 'telegram', address: '-1', label: '-1', name: 'Ops room' } as const;
    expect(movedText(chat, '-100')).toMatch(/^Telegram chat “Ops room” \(-1\) has a new id: -100\./);
  });

  test('say of what died without a fallback that it is kept, and of one that it is one', () => {
    const text = brokenText({ ...input, dead: 1, waiting: 1, hasFallback: false });
    expect(text).toContain(
      'One alert could not be delivered and is kept. One alert is waiting. New alerts for it are kept, too, and not delivered.',
    );
    expect(brokenText({ ...input, dead: 0 })).not.toContain('could not be delivered');
  });

  test('name the command so that a shell takes it', () => {
    const commandFor = (destination: Destination) => /run: (.*)$/m.exec(brokenText({ ...input, destination }))?.[1];
    expect(commandFor(EMAIL)).toBe('tocsin dead retry --destination a@example.com');
    expect(commandFor(CHAT)).toBe('tocsin dead retry --destination=-100');
    expect(commandFor(HOOK)).toBe(`tocsin dead retry --destination ${HOOK.id}`);
    const sly = { ...SLACK, label: 'C1; rm -rf /' };
    expect(commandFor(sly)).toBe(`tocsin dead retry --destination ${SLACK.id}`);
  });

  test('of a receiver that wants nothing more name the command that enables it, and the one that sends what died', () => {
    const text = brokenText({ ...input, destination: HOOK, isDisabled: true });
    expect(text).toContain(`\`tocsin destinations enable ${HOOK.id}\``);
    expect(text).toContain(`tocsin dead retry --destination ${HOOK.id}`);
    expect(brokenText(input)).not.toContain('destinations enable');
  });

  test('of a token say what is wrong with it, that what waits is delivered by itself, and how to see whether it works', () => {
    const explanation = {
      who: 'Slack',
      is: 'has revoked the bot token of Tocsin',
      todo: 'install the Slack app again',
    };
    const sender = {
      ...input,
      isSender: true,
      reason: 'sender-misconfigured',
      explanation,
      dead: 0,
      waiting: 2,
    } as const;
    expect(brokenText(sender).split('\n').slice(0, 3)).toEqual([
      'Slack has revoked the bot token of Tocsin: no Slack channel gets alerts.',
      'Since 2026-11-20 12:00:05 UTC. 2 alerts are waiting. They are delivered by themselves when it works; what nobody has accepted in time goes to the fallback.',
      'To do: install the Slack app again. To see whether it works, run: tocsin check --online',
    ]);
    expect(brokenText({ ...sender, waiting: 1 })).toContain(
      'One alert is waiting. It is delivered by itself when it works; what nobody has accepted in time goes to the fallback.',
    );
    // Only this channel is concerned.
    expect(brokenText({ ...sender, isSender: false })).toMatch(
      /^Slack channel C1 takes no alerts: Slack has revoked the bot token of Tocsin\.\n/,
    );
  });

  test('say in the words of the error what nobody has better words for', () => {
    const text = brokenText({ ...unexplained, isSender: true, reason: 'sender-misconfigured', message: 'it said no.' });
    expect(text).toMatch(/^Every Slack channel takes no alerts: it said no\.\n/);
    expect(text).toMatch(/To do: correct channels\.slack/);
    expect(text).not.toContain('Its answer');
  });

  test('say of a passing fault that nothing has to be sent again', () => {
    const text = brokenText({
      ...unexplained,
      reason: 'unavailable',
      message: 'it timed out',
      dead: 0,
      hasFallback: false,
    });
    expect(text.split('\n')).toEqual([
      'Slack channel C1 takes no alerts: it timed out.',
      'Since 2026-11-20 12:00:05 UTC. No alerts are waiting. New ones wait, and are delivered by themselves when it works.',
      expect.stringMatching(/^To do: see why .* Nothing has to be sent again\. .* run: tocsin status$/),
    ]);
  });

  test('say that it works again, how long it did not, and what becomes of the alerts that waited and that died', () => {
    const { message, since, hasFallback } = input;
    const over = {
      destination: SLACK,
      isSender: false,
      message,
      since,
      hasFallback,
      now: Date.parse(since) + 7_200_000,
    };
    expect(recoveredText({ ...over, waiting: 12, dead: 3 })).toBe(
      [
        'Slack channel C1 works again: 12 alerts come late.',
        'Read them: nobody may have seen them yet.',
        '3 alerts could not be delivered and went to the fallback.',
        'To do: to send them after all, run: tocsin dead retry --destination C1',
        'No alerts arrived there for 2 h, from 2026-11-20 12:00:05 UTC on. The reason was: “the channel is archived (slack.com answered is_archived)”',
      ].join('\n'),
    );
    expect(
      recoveredText({ ...over, waiting: 0, dead: 0 })
        .split('\n')
        .slice(0, 2),
    ).toEqual(['Slack channel C1 works again.', 'No alerts are waiting. Nothing has to be done.']);
    expect(recoveredText({ ...over, isSender: true, waiting: 0, dead: 1 })).toMatch(
      /run: tocsin dead retry --destination slack$/m,
    );
  });

  test('say where a chat has moved to', () => {
    expect(movedText(CHAT, '-200')).toMatch(
      /^Telegram chat -100 has a new id: -200\.[\s\S]*To do: write -200 wherever -100 is/,
    );
  });
});

describe('what is announced', () => {
  const setUp = () => {
    const { redis, prefix } = openTestRedis();
    return createOutageStore(redis, prefix);
  };
  const first = {
    ...TOLD,
    since: '2026-11-20T12:00:00.000Z',
    reason: 'unavailable' as const,
    message: 'no',
    announcedTo: [EMAIL],
  };
  const second = { ...first, since: '2026-11-20T13:00:00.000Z' };

  test('stands until it is taken back, whoever notes it again', async () => {
    const outageStore = setUp();
    const noted = await outageStore.note(SLACK.id, first);
    expect(noted).toMatchObject(first);
    expect(await outageStore.note(SLACK.id, second)).toEqual(noted);
    expect(await outageStore.get([EMAIL.id, SLACK.id])).toEqual(new Map([[SLACK.id, noted]]));
    await outageStore.forget(SLACK.id);
    expect(await outageStore.get([SLACK.id])).toEqual(new Map());
    expect(await outageStore.note(SLACK.id, second)).toMatchObject(second);
  });

  test('one that an operator enabled holds no more, its end can be told, and the next one is another', async () => {
    const outageStore = setUp();
    await outageStore.note(SLACK.id, first);
    await outageStore.enabled(SLACK.id, second.since);
    expect(await outageStore.get([SLACK.id])).toEqual(new Map());
    expect(await outageStore.find(SLACK.id)).toMatchObject({ ...first, enabledAt: second.since });
    const next = await outageStore.note(SLACK.id, second);
    expect(next).toMatchObject(second);
    expect(next.enabledAt).toBeUndefined();
    expect(await outageStore.get([SLACK.id])).toEqual(new Map([[SLACK.id, next]]));
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
