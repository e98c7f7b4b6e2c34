/** The order of a message is the same in every kind and format: title, what happened, why it comes this way, who and what. */
import { describe, expect, test } from 'vitest';
import type { Alert, HumanKind } from '../../src/alert.ts';
import { FORMATS, type Format } from '../../src/channels/channel.ts';
import { createPresentation } from '../../src/channels/content/presentation.ts';
import { composeEmail } from '../../src/channels/email/message.ts';
import { composeSlack } from '../../src/channels/slack/message.ts';
import { composeTelegram } from '../../src/channels/telegram/message.ts';
import { atOnce } from '../../src/chunks.ts';
import { destinationOf, inspectionAlert, notificationAlert } from '../support/alerts.ts';

const contextOf = (format: Format) => ({
  ...{ format, presentation: createPresentation(), sentAt: '2026-11-20T10:07:55.000Z' },
});

/** What a reader sees from top to bottom, with markup. */
const KINDS = {
  email: (alert: Alert, format: Format): string[] => {
    const destination = destinationOf('email', 'oncall@example.com');
    const [message] = atOnce(composeEmail({ destination, alerts: [alert] }, contextOf(format)));
    const { text = '', html } = message?.body ?? {};
    return html === undefined ? [text] : [text, html.slice(html.indexOf('<p class='))];
  },
  slack: (alert: Alert, format: Format): string[] => {
    const destination = destinationOf('slack', 'C024BE91L');
    const [message] = atOnce(composeSlack({ destination, alerts: [alert] }, contextOf(format), false));
    const { text = '', blocks } = message?.body ?? {};
    return [blocks === undefined ? text : JSON.stringify(blocks)];
  },
  telegram: (alert: Alert, format: Format): string[] => {
    const destination = destinationOf('telegram', '-1001234567890');
    const [message] = atOnce(composeTelegram({ destination, alerts: [alert] }, contextOf(format)));
    return [message?.body.text ?? ''];
  },
} satisfies Record<HumanKind, (alert: Alert, format: Format) => string[]>;

const FALLBACK = 'Fallback: it could not be delivered to anybody within 60 s.';

const ROWS = Object.entries(KINDS).flatMap(([kind, textsOf]) =>
  FORMATS.filter((format) => format !== 'minimal').map((format) => ({ kind, format, textsOf })),
);

const expectOrder = (texts: readonly string[], parts: readonly string[]): void => {
  for (const text of texts) {
    // A mail breaks its lines.
    const places = parts.map((part) => text.replace(/\s+/g, ' ').indexOf(part));
    expect(places, text).not.toContain(-1);
    expect(places, text).toEqual(places.toSorted((a, b) => a - b));
  }
};

describe.each(ROWS)('$kind, $format', ({ format, textsOf }) => {
  test('says what happened before why it comes this way', () => {
    const parts = ['CRITICAL', 'Borrowed 12,400 ETH', FALLBACK, 'on Base'];
    expectOrder(textsOf(inspectionAlert({ notice: FALLBACK }), format), parts);
    const replay = inspectionAlert({ replay: true });
    expectOrder(textsOf(replay, format), ['CRITICAL (old alert)', 'Borrowed 12,400 ETH', 'Old alert: ', 'on Base']);
  });

  test('so with a stored notification', () => {
    const stored = notificationAlert('Paused withdrawals', { notice: FALLBACK });
    expectOrder(textsOf(stored, format), ['NOTIFICATION', 'Paused withdrawals', FALLBACK, 'written ']);
  });

  test('says before anything else that a test is one', () => {
    const sample = inspectionAlert({ type: 'test.sample' });
    expectOrder(textsOf(sample, format), ['TEST', 'This is a test. Nothing happened.', 'Borrowed 12,400 ETH']);
  });

  test('says of a follow-up what changed, and then why it comes this way', () => {
    const followUp = { of: 'first', was: 'critical', is: 'ok' };
    const alert = inspectionAlert({ type: 'inspection.downgraded', followUp, notice: FALLBACK });
    expectOrder(textsOf(alert, format), ['OK (was CRITICAL)', 'service calls it ok now', FALLBACK, 'on Base']);
  });
});
