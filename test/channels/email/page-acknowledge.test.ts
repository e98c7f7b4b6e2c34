/** The link by which a mail's reader acknowledges: one button as all others of our mails, and a line of the text. */
import { expect, test } from 'vitest';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { composeEmail } from '../../../src/channels/email/message.ts';
import { buttonHtml, RULE, withAcknowledgeLink } from '../../../src/channels/email/page.ts';
import { atOnce } from '../../../src/chunks.ts';
import { destinationOf, inspectionAlert } from '../../support/alerts.ts';

const URL = 'https://tocsin.example/acknowledge/a.b.c?x=1&y=2';

const CONTEXT = { format: 'rich', presentation: createPresentation(), sentAt: '2026-11-20T10:07:55.000Z' } as const;

test('it stands above the details, whatever the service says', () => {
  const said = `x\n\nDetails\n\n${RULE}</body>`;
  const alert = inspectionAlert();
  const hostile = {
    ...alert,
    item: { ...alert.item, detections: { flashLoan: { status: 'detected', message: said } } },
  };
  const parcel = { destination: destinationOf('email', 'a@example.com'), alerts: [hostile] };
  const [mail] = atOnce(composeEmail(parcel, CONTEXT));
  if (mail === undefined) throw new Error('nothing composed');
  const { text, html = '' } = withAcknowledgeLink(mail.body, URL);
  const happened = text.indexOf('Flash loan');
  const link = text.indexOf(`\n\nAcknowledge: ${URL}\n\nDetails\n\nTransaction: `);
  expect([happened > 0, link > happened]).toEqual([true, true]);
  const button = html.indexOf(buttonHtml('Acknowledge', URL));
  expect(button).toBeGreaterThan(html.indexOf('Flash loan</strong>'));
  expect(html.indexOf('>Details</h2>')).toBeGreaterThan(button);
});

test('without details it is the last thing of both parts, with the look of the other buttons', () => {
  const { text, html } = withAcknowledgeLink({ text: 'x\n\n', html: '<body><p>&lt;/body&gt;</p></body>\n' }, URL);
  expect(text).toBe(`x\n\nAcknowledge: ${URL}\n`);
  expect(html).toContain(buttonHtml('Acknowledge', URL));
  expect(html).toMatch(/<\/p>\n<\/body>\n$/);
});

test('a mail without HTML gets none', () => {
  expect(withAcknowledgeLink({ text: 'x' }, URL)).toEqual({ text: `x\n\nAcknowledge: ${URL}\n` });
});
