/** What is wrong stands in the title of an announcement, in every kind that people read. */
import { describe, expect, test } from 'vitest';
import type { Format } from '../../../src/alert.ts';
import { lineText } from '../../../src/channels/content/content.ts';
import { describeIncident } from '../../../src/channels/content/describe.ts';
import { ownTitled } from '../../../src/channels/content/heading.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { composeEmail } from '../../../src/channels/email/message.ts';
import { composeSlack } from '../../../src/channels/slack/message.ts';
import { composeTelegram } from '../../../src/channels/telegram/message.ts';
import { atOnce } from '../../../src/chunks.ts';
import { announcementAlert } from '../../../src/features/announcements/announce.ts';
import { destinationOf, inspectionAlert } from '../../support/alerts.ts';
import { composeAs } from '../../support/webhooks.ts';

const AT = Date.parse('2026-11-20T14:00:00Z');
const MESSAGE = 'Slack #ops is archived.\nSince 2026-11-20 13:00:00 UTC.\n\nTo do: unarchive it';
const TITLE = '❗ Tocsin: Slack #ops is archived';

const alertOf = (message = MESSAGE) => announcementAlert({ about: 'destination.broken', key: '1', message }, AT);
const wording = { presentation: createPresentation(), sentAt: AT };
const contentOf = (message?: string) => atOnce(describeIncident([alertOf(message)], wording));
const contextOf = (format: Format) => ({
  ...{ format, presentation: createPresentation(), sentAt: new Date(AT).toISOString() },
});

test('the first line is the title, and is not said again', () => {
  const { title, message, messageLines = [] } = ownTitled(contentOf());
  expect(title).toBe(TITLE);
  expect(message).toBe('Since 2026-11-20 13:00:00 UTC.\n\nTo do: unarchive it');
  expect(messageLines.map(lineText).join('\n')).toBe(message);
});

test.each([
  ['the only line', 'Slack #ops works again.'],
  [
    'a line with a time, which is shown by the clock of the reader',
    'A storm ended at 2026-11-20 13:00:00 UTC.\nAll of it.',
  ],
  ['a line that is too long for a title', `Slack ${'#ops '.repeat(40)}is archived.\nSince then.`],
  ['a line with what has to be copied', 'To do: run: tocsin dead retry --all\nAnd that.'],
])('%s stays below it', (_name, message) => {
  const alert = announcementAlert({ about: 'destination.broken', key: '1', message }, AT);
  const content = atOnce(describeIncident([alert], wording));
  expect(ownTitled(content)).toEqual(content);
});

test('several announcements, and what is not ours, stay as they are', () => {
  const [first, second] = [alertOf(), { ...alertOf('Slack #dev is archived.'), id: 'another' }];
  for (const alerts of [[first, second], [inspectionAlert()]]) {
    const content = atOnce(describeIncident(alerts, wording));
    expect(ownTitled(content)).toEqual(content);
  }
});

describe.each(['rich', 'plain'] as const)('%s', (format) => {
  const countIn = (text: string) => text.split('is archived').length - 1;

  test.each([
    [
      'slack',
      () =>
        atOnce(
          composeSlack({ destination: destinationOf('slack', 'C1'), alerts: [alertOf()] }, contextOf(format), false),
        ),
    ],
    [
      'telegram',
      () =>
        atOnce(
          composeTelegram({ destination: destinationOf('telegram', '-100'), alerts: [alertOf()] }, contextOf(format)),
        ),
    ],
    [
      'email',
      () =>
        atOnce(
          composeEmail(
            { destination: destinationOf('email', 'a@example.com'), alerts: [alertOf()] },
            contextOf(format),
          ),
        ),
    ],
  ])('in %s', (kind, compose) => {
    const [message] = compose();
    const { text = '', blocks } = (message?.body ?? {}) as { text?: string; blocks?: unknown };
    const shown = blocks === undefined ? text : JSON.stringify(blocks);
    expect(shown.replace(/[\u200b\u2060]|<\/?[a-z]+>/g, ''), kind).toContain(TITLE);
    expect(countIn(shown)).toBe(1);
  });
});

test.each(['discord', 'teams'] as const)('in %s', (format) => {
  const [message] = composeAs(
    format,
    { destination: destinationOf('webhook', 'https://x.example'), alerts: [alertOf()] },
    contextOf('rich'),
  );
  const [{ text = '' } = {}] = message?.body ?? [];
  const { embeds, attachments } = JSON.parse(text);
  const shown = JSON.stringify(embeds ?? attachments[0].content.body).replaceAll('\\\\', '');
  expect(shown).toContain(TITLE);
  expect(shown.split('is archived')).toHaveLength(2);
});
