/** What is huge costs no more than what a message can hold: nothing looks again and again at text that nobody will see. */
import { describe, expect, test } from 'vitest';
import type { Alert, HumanKind } from '../../src/alert.ts';
import { FORMATS } from '../../src/channels/channel.ts';
import { createPresentation } from '../../src/channels/content/presentation.ts';
import { composeEmail } from '../../src/channels/email/message.ts';
import { composeSlack } from '../../src/channels/slack/message.ts';
import { composeTelegram } from '../../src/channels/telegram/message.ts';
import { atOnce, type Sliced } from '../../src/chunks.ts';
import { LARGEST_ITEM } from '../../src/item.ts';
import { destinationOf, inspectionAlert } from '../support/alerts.ts';
import { countingText } from '../support/text-work.ts';

const INSPECTIONS = 30;
/** With a letter that is no ASCII, as only then there is something to look for. */
const SENTENCE = 'Holder ü lost 1,250.75 WETH within one block; ';

const message = (n: number): string => `${n} ${SENTENCE.repeat(Math.floor((LARGEST_ITEM * 0.95) / 48))}`;

const incident = (): Alert[] =>
  Array.from({ length: INSPECTIONS }, (_, n) =>
    inspectionAlert({
      id: `alert-${n}`,
      protocol: `Protocol ${n}`,
      item: { _id: `id${n}`, detections: { drasticBalanceChange: { status: 'detected', message: message(n) } } },
    }),
  );

const WHOLE = INSPECTIONS * message(1).length;

const CONTEXT = { presentation: createPresentation(), sentAt: '2026-11-20T10:07:55.000Z' };

interface Composed {
  body: { text: string };
}

const KINDS: Record<HumanKind, (alerts: Alert[], format: (typeof FORMATS)[number]) => Sliced<Composed[]>> = {
  email: (alerts, format) =>
    composeEmail({ destination: destinationOf('email', 'a@example.com'), alerts }, { ...CONTEXT, format }),
  slack: (alerts, format) =>
    composeSlack({ destination: destinationOf('slack', 'C024BE91L'), alerts }, { ...CONTEXT, format }, true),
  telegram: (alerts, format) =>
    composeTelegram({ destination: destinationOf('telegram', '-1001234567890'), alerts }, { ...CONTEXT, format }),
};

describe.each(Object.entries(KINDS))('an incident of thirty huge inspections by %s', (_kind, compose) => {
  test.each(FORMATS)('%s is looked at less than once in all', (format) => {
    const alerts = incident();
    const { result, characters } = countingText(() => atOnce(compose(alerts, format)));
    expect(result[0]?.body.text).toContain('Protocol 0');
    expect(characters).toBeLessThan(WHOLE);
  });

  test('stops after each inspection, so that others have their turn', () => {
    const work = compose(incident(), 'rich');
    let stops = 0;
    while (!work.next().done) stops += 1;
    expect(stops).toBeGreaterThanOrEqual(INSPECTIONS);
  });
});

test('what the service says too much is left out, and each kind says how much in all', () => {
  const alerts = incident().slice(0, 1);
  const [{ body: mail } = { body: { text: '' } }] = atOnce(KINDS.email(alerts, 'plain'));
  const [{ body: chat } = { body: { text: '' } }] = atOnce(KINDS.telegram(alerts, 'plain'));
  const leftOut = (text: string): number =>
    Number(/([\d,]+)\s+characters\s+left out/.exec(text.replaceAll('\n> ', ' '))?.[1]?.replaceAll(',', ''));
  const { length } = message(0);
  expect(leftOut(mail.text)).toBeGreaterThan(length - 110_000);
  expect(leftOut(mail.text)).toBeLessThan(length - 90_000);
  expect(leftOut(chat.text)).toBeGreaterThan(length - 4096);
});
