/** A locked phone shows Tocsin's name above a few lines: what somebody else says there must not pass for Tocsin's words. */
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import type { ComposeContext } from '../../src/channels/channel.ts';
import { createPresentation } from '../../src/channels/content/presentation.ts';
import { composeEmail } from '../../src/channels/email/message.ts';
import { composeSlack } from '../../src/channels/slack/message.ts';
import { composeTelegram } from '../../src/channels/telegram/message.ts';
import { pagerduty } from '../../src/channels/webhook/formats/pagerduty.ts';
import { teams } from '../../src/channels/webhook/formats/teams.ts';
import { atOnce } from '../../src/chunks.ts';
import { unescapeHtml } from '../../src/sandbox/screens/reader.ts';
import { destinationOf, inspectionAlert, notificationAlert } from '../support/alerts.ts';
import { stormAlert } from '../support/parcels.ts';

const POSED = 'Tocsin: all is well, ignore';
/** It closes our quotation, if it can, and is long where a cut would leave it open. */
const CLOSING = `x” "″ ${POSED}. “\u202e\u200b`;

const CONTEXT: ComposeContext = {
  ...{ format: 'rich', presentation: createPresentation(), sentAt: '2026-11-20T10:20:00.000Z' },
};

const WEBHOOK = destinationOf('webhook', 'https://hooks.example.com/x');

const preheaderIn = (html = ''): string => unescapeHtml(/<body[^>]*>\s*<div[^>]*>([^<]*)</.exec(html)?.[1] ?? '');

const slack = (alerts: Alert[], context = CONTEXT): string[] => {
  const destination = destinationOf('slack', 'C024BE91L');
  return atOnce(composeSlack({ destination, alerts }, context, true)).map(({ body }) => unescapeHtml(body.text));
};

const telegram = (alerts: Alert[], context = CONTEXT): string[] => {
  const destination = destinationOf('telegram', '-1001234567890');
  return atOnce(composeTelegram({ destination, alerts }, context)).map(({ body }) =>
    unescapeHtml(
      body.text
        .replace(/<[^>]*>/g, '')
        .split('\n')
        .slice(0, 4)
        .join('\n'),
    ),
  );
};

/** Where they are inspections of one transaction, as news in a message that people have. */
const asNews = (alerts: Alert[]): [Alert[], ComposeContext] => {
  const isOne = alerts.every(({ source, txHash }) => source === 'inspections' && txHash === alerts[0]?.txHash);
  return isOne ? [[inspectionAlert({ protocol: 'Known' }), ...alerts], { ...CONTEXT, heard: 1 }] : [alerts, CONTEXT];
};

/** What each kind shows before anything is opened. */
const LOCK_SCREENS: Record<string, (alerts: Alert[]) => string[]> = {
  slack: (alerts) => slack(alerts),
  telegram: (alerts) => telegram(alerts),
  'a reply in Slack': (alerts) => slack(...asNews(alerts)),
  'a reply in Telegram': (alerts) => telegram(...asNews(alerts)),
  mail: (alerts) => {
    const destination = destinationOf('email', 'oncall@example.com');
    return atOnce(composeEmail({ destination, alerts }, CONTEXT)).flatMap(({ body }) => [
      body.subject,
      preheaderIn(body.html),
    ]);
  },
  teams: (alerts) =>
    atOnce(teams.compose({ destination: WEBHOOK, alerts }, CONTEXT, { batch: 1 })).map(({ body }) => {
      const { summary, attachments } = JSON.parse(body[0]?.text ?? '{}');
      return String(summary ?? attachments?.[0]?.content?.fallbackText);
    }),
  pagerduty: (alerts) =>
    atOnce(pagerduty.compose({ destination: WEBHOOK, alerts }, CONTEXT, { batch: 1 })).map(({ body }) =>
      String(JSON.parse(body[0]?.text ?? '{}').payload?.summary),
    ),
};

const fired = (message: string, name = 'Tocsin') => ({ detections: { [name]: { status: 'detected', message } } });

const SAYING: Record<string, (text: string) => Alert[]> = {
  'a detector says': (text) => [inspectionAlert({ item: fired(text) })],
  'a detector is called': (text) => [inspectionAlert({ item: fired('', text) })],
  'a stored notification says': (text) => [notificationAlert(text)],
  'a stored notification, which states that it is critical, says': (text) => [notificationAlert(`Critical: ${text}`)],
  'a detector of a digest says': (text) => Array.from({ length: 9 }, (_, n) => stormAlert(n, { item: fired(text) })),
  'the only protocol of a digest is called': (text) =>
    Array.from({ length: 9 }, (_, n) => stormAlert(n, { item: { ...fired('x'), protocol: text } })),
};

/** Whether it stands outside of every quotation of ours, and of the name of who says it. */
const outsideOf = (screen: string): string =>
  screen
    .replace(/“[^”]*(?:”|$)/g, '')
    // What the service wrote stands below the words that say so.
    .replace(/\nThe service wrote:\n[\s\S]*/, '')
    // A title parts names with dots, which no name has.
    .replace(/ · [^·\n]*(?= · )/g, '');

describe.each(Object.entries(SAYING))('what %s', (_what, saying) => {
  test.each(Object.keys(LOCK_SCREENS))('is marked as foreign by %s', (kind) => {
    for (const text of [POSED, CLOSING, `${POSED} ${'and so on '.repeat(60)}`]) {
      const screens = LOCK_SCREENS[kind]?.(saying(text)) ?? [];
      expect(screens.join('\n')).toContain(text === CLOSING ? 'x' : 'Tocsin');
      for (const screen of screens) {
        expect(screen).not.toMatch(/[\u202e\u200b]/);
        expect(outsideOf(screen), screen).not.toContain('all is well');
      }
    }
  });
});

test('a subject closes the quotation that it cuts', () => {
  const [subject = ''] = LOCK_SCREENS.mail?.([inspectionAlert({ item: fired('yes '.repeat(100)) })]) ?? [];
  expect(subject).toMatch(/: “[yes ]+…” \(0x[0-9a-f]{4}…[0-9a-f]{4}\)$/);
});
