/** What a template of the config words, in every kind that people read. */
import { describe, expect, test } from 'vitest';
import { type Alert, FORMATS, type Format, type HumanKind } from '../../src/alert.ts';
import { createPresentation } from '../../src/channels/content/presentation.ts';
import { createTemplates } from '../../src/channels/content/template.ts';
import { composeEmail } from '../../src/channels/email/message.ts';
import { composeSlack } from '../../src/channels/slack/message.ts';
import { composeTelegram } from '../../src/channels/telegram/message.ts';
import { atOnce } from '../../src/chunks.ts';
import { announcementAlert } from '../../src/features/announcements/announce.ts';
import { destinationOf, inspectionAlert, notificationAlert } from '../support/alerts.ts';

const contextOf = (kind: HumanKind, format: Format) => {
  const source = { kinds: [kind], protocols: ['*'], types: ['*'], title: 'Wake up, Ann', text: 'Look at the vaults.' };
  const onFailed = (_index: number, why: string): void => expect.fail(why);
  const presentation = createPresentation({}, createTemplates([source], { kind, onFailed }));
  return { format, presentation, sentAt: '2026-11-20T10:07:55.000Z' };
};

/** What a reader sees, each part of a message that stands alone. */
const KINDS = {
  email: (alert: Alert, format: Format): string[] => {
    const destination = destinationOf('email', 'oncall@example.com');
    const [message] = atOnce(composeEmail({ destination, alerts: [alert] }, contextOf('email', format)));
    const { subject = '', text = '', html } = message?.body ?? {};
    return [`${subject}\n${text}`, ...(html === undefined ? [] : [html])];
  },
  slack: (alert: Alert, format: Format): string[] => {
    const destination = destinationOf('slack', 'C024BE91L');
    const [message] = atOnce(composeSlack({ destination, alerts: [alert] }, contextOf('slack', format), false));
    const { text = '', blocks } = message?.body ?? {};
    return [blocks === undefined ? text : JSON.stringify(blocks)];
  },
  telegram: (alert: Alert, format: Format): string[] => {
    const destination = destinationOf('telegram', '-1001234567890');
    const [message] = atOnce(composeTelegram({ destination, alerts: [alert] }, contextOf('telegram', format)));
    return [message?.body.text ?? ''];
  },
} satisfies Record<HumanKind, (alert: Alert, format: Format) => string[]>;

const ROWS = Object.entries(KINDS).flatMap(([kind, textsOf]) =>
  FORMATS.filter((format) => format !== 'minimal').map((format) => ({ kind, format, textsOf })),
);

test('what happened is quoted where a template has no place, after refusals', () => {
  const [text = ''] = KINDS.telegram(inspectionAlert(), 'minimal');
  expect(text).toMatch(/^Wake up, Ann\n> Borrowed 12,400 ETH/);
});

const ANNOUNCED = 'Slack #ops is archived.\n\nTo do: unarchive it.';
const ALERTS: [what: string, alert: Alert, ours: string][] = [
  ['an inspection', inspectionAlert(), 'Flash loan:'],
  ['a stored notification', notificationAlert('Paused.\nBy the guardian.'), 'By the guardian.'],
  [
    'an announcement',
    announcementAlert({ about: 'destination.broken', key: '1', message: ANNOUNCED }, Date.now()),
    'To do: unarchive it.',
  ],
];

describe.each(ROWS)('$kind, $format', ({ format, textsOf }) => {
  test.each(ALERTS)(
    '%s has the title and the text of the template, and no words of ours beside them',
    (_what, alert, ours) => {
      for (const text of textsOf(alert, format)) {
        expect(text).toContain('Wake up, Ann');
        expect(text.split('Look at the vaults.')).toHaveLength(2);
        expect(text).not.toContain(ours);
      }
    },
  );
});
