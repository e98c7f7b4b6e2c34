import { describe, expect, test } from 'vitest';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { type Line, lengthOf, TEXT_LIMIT, toPlain } from '../../../src/channels/telegram/lines.ts';
import { composeTelegram } from '../../../src/channels/telegram/message.ts';
import { cutLine, fitLines } from '../../../src/channels/telegram/said.ts';
import { atOnce } from '../../../src/chunks.ts';
import { destinationOf, inspectionAlert } from '../../support/alerts.ts';
import { parseTelegramHtml } from '../../support/telegram-reader.ts';

const linesOf = (...texts: string[]): Line[] => texts.map((text) => [{ text }]);

describe('fitLines', () => {
  test('changes nothing that fits', () => {
    expect(fitLines(linesOf('a', 'b'), 4)).toEqual(linesOf('a', 'b'));
  });

  test('keeps to the limit and says how much is left out', () => {
    const fitted = fitLines(linesOf('a'.repeat(100), 'b'.repeat(5000)), 400);
    expect(lengthOf(fitted)).toBeLessThanOrEqual(400);
    expect(toPlain(fitted)).toMatch(/^a{100}\nb+…\n\[4,\d{3} characters left out\]$/);
  });
});

test('cutLine shortens the last piece, and drops it where that is not enough', () => {
  const line: Line = [{ text: 'Sender: ' }, { text: 'a'.repeat(9), mark: 'code' }, { text: ' (not an admin)' }];
  expect(toPlain([cutLine(line, 25)])).toBe('Sender: aaaaaaaaa (not a…');
  expect(toPlain([cutLine(line, 14)])).toBe('Sender: aaaaa…');
  expect(cutLine(line, 3)).toEqual([{ text: 'Se…' }]);
  expect(cutLine(line, 0)).toEqual([]);
});

/** One transaction that hit many protocols, in each of which a detector has so much to say. */
const incident = (protocols: number, words: number) =>
  Array.from({ length: protocols }, (_, n) => {
    const protocol = `Protocol ${n}`;
    const message = `${n} ${'lost '.repeat(words)}`;
    const detections = { drasticBalanceChange: { status: 'detected', message } };
    return inspectionAlert({ id: `many-${n}`, protocol, item: { _id: `many${n}`, protocol, detections } });
  });

const presentation = createPresentation({ links: [{ label: 'Trace', url: 'https://trace.example/{chain}/{hash}' }] });

test.each(['rich', 'plain'] as const)(
  'an incident of many protocols fits, however long its detectors are: %s',
  (format) => {
    const destination = destinationOf('telegram', '-1001234567890');
    const context = { format, presentation, sentAt: '2026-11-20T10:07:55.000Z' };
    const lengths = [6, 11, 30].flatMap((protocols) =>
      Array.from({ length: 30 }, (_, step) => incident(protocols, step * 3)).flatMap((alerts) =>
        atOnce(composeTelegram({ destination, alerts }, context)).map(({ body }) =>
          format === 'rich' ? parseTelegramHtml(body.text).text.length : body.text.length,
        ),
      ),
    );
    expect(lengths).toHaveLength(90);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(TEXT_LIMIT);
  },
);
