/** Anybody can name a protocol, a chat or themselves: a name must not go on as a sentence of ours does. */
import { describe, expect, test } from 'vitest';
import { scopeText } from '../../../src/alert.ts';
import { mailboxText } from '../../../src/features/acknowledgement/acknowledge.ts';
import { acknowledgedText } from '../../../src/features/acknowledgement/words.ts';
import { heldText } from '../../../src/features/approval/hold.ts';
import { readAgainText, unreadText } from '../../../src/features/blindness/message.ts';
import { brokenText, recoveredText } from '../../../src/features/broken-destinations/message.ts';
import { deadNotice, unacknowledgedNotice } from '../../../src/features/fallback/notice.ts';
import { muteReportTexts } from '../../../src/features/mutes/report.ts';
import { createRouteReview } from '../../../src/features/routes/review.ts';
import { heardText, silentText } from '../../../src/features/silence/message.ts';
import { changesText } from '../../../src/features/tripwire/message.ts';

const EVIL = 'X is well. Nothing to do';
/** It tries to end our quotation, to begin a line, and to turn one around. */
const WORSE = 'X” is well.\nTo do: nothing\u202e\u200b “';

const SINCE = '2026-11-20T10:00:00.000Z';
const AT = Date.parse('2026-11-20T12:00:00.000Z');

const unread = (protocols: string[]) => ({ service: 'main', protocols, since: SINCE, reason: 'none' });

const chat = (name: string) => ({ id: 'telegram-1', kind: 'telegram' as const, address: '-1', label: '-1', name });

const broken = (name: string) => ({
  ...{
    destination: chat(name),
    isSender: false,
    reason: 'unavailable' as const,
    message: 'it timed out',
    since: SINCE,
  },
  ...{ waiting: 1, dead: 0, hasFallback: true },
});

const change = (protocol: string, row = 'slack C1') => ({
  ...{ protocol, kind: 'changed' as const, isCritical: false },
  differences: [{ aspect: 'channels' as const, old: ['slack C0'], now: [row] }],
});

const mute = (name: string) => ({
  ...{ id: 'mute-1', protocols: [name], detectors: [name], destinations: [], reason: 'why', hid: 1 },
  ...{ from: SINCE, until: SINCE },
});

const reviewed = (name: string): string => {
  const settings = { channels: {}, overrides: {}, secrets: {}, unset: [] } as never;
  const review = createRouteReview(settings, { warn: () => {} } as never);
  review.review('main', new Map([[name, { name, channels: [] }]]));
  return [...review.problems(), ...review.problemsTogether().map(({ text }) => text)].join('\n');
};

const TEXTS: Record<string, (name: string) => string> = {
  'protocol.silent, one': (name) => silentText('main', [{ protocol: name, forMs: 1, usualMs: 1 }]),
  'protocol.silent, several': (name) =>
    silentText(
      'main',
      [name, 'B'].map((protocol) => ({ protocol, forMs: 1, usualMs: 1 })),
    ),
  'protocol.heard': (name) => heardText('main', { protocols: [name, 'B'], gone: 0, since: SINCE, forMs: 1 }),
  'protocol.changed, one': (name) => changesText('main', [change(name)]),
  'protocol.changed, several': (name) => changesText('main', [change(name), change('B')]),
  'protocol.changed, a row': (name) => changesText('main', [change('B', name.replace(/\s+/g, ' '))]),
  'service.unread, one': (name) => unreadText({ ...unread([name]), watched: 5 }),
  'service.unread, several': (name) => unreadText({ ...unread([name, 'B']), watched: 5 }),
  'service.read': (name) =>
    readAgainText({ ...unread([name]), gone: 0, forMs: 1, caughtUp: { alerts: 0, isBound: false } }),
  'destination.new': (name) => heldText(chat(name), { isRevoked: false, protocols: [name], held: 1 }),
  'destination.broken': (name) => brokenText({ ...broken(name), said: name }),
  'destination.well': (name) => recoveredText({ ...broken(name), now: AT }),
  'alert.acknowledged': (name) =>
    mailboxText({ by: name, via: 'telegram', to: '-1', at: SINCE }, name, [{ protocol: name }]),
  'an acknowledged alert': (name) => acknowledgedText({ by: name, at: SINCE }),
  'mute.ended': (name) =>
    muteReportTexts(mute(name), AT, { hid: 0, items: [] })
      .map(({ message }) => message)
      .join('\n'),
  'the scope of a mute': (name) => scopeText(mute(name)),
  'a notice of the fallback': (name) => deadNotice(chat(name), 'it is gone'),
  'a notice that nobody acknowledged it': (name) =>
    unacknowledgedNotice({
      deliveries: [{ state: 'delivered', destination: chat(name), at: SINCE, attempts: [] }],
      afterMs: 60_000,
    }),
  'a channel that leads nowhere': reviewed,
};

describe.each(Object.entries(TEXTS))('%s', (_what, textOf) => {
  test.each([EVIL, WORSE])('has each name in quotes: %j', (name) => {
    const text = textOf(name);
    // A command has quotes that a shell reads.
    const rest = text.replace(/“[^”]*”|(?<=tocsin [a-z ]+)"[^"]*"/g, '');
    expect(text).toContain('X');
    expect(rest).not.toContain('is well');
    expect(rest).not.toMatch(/[“”\u202e\u200b]/);
    expect(text).not.toMatch(/^To do: nothing/m);
  });
});
