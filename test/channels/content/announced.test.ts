import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/alert.ts';
import { announcedText } from '../../../src/channels/content/announced.ts';
import { type Line, lineText } from '../../../src/channels/content/content.ts';
import { createPresentation, type PresentationConfig } from '../../../src/channels/content/presentation.ts';
import { iso } from '../../../src/time.ts';
import { hashOf } from '../../support/numbered.ts';

const NOW = Date.parse('2026-11-20T14:00:00Z');

const linesOf = (item: JsonObject, config: PresentationConfig = {}): Line[] =>
  announcedText(item, createPresentation(config), NOW).messageLines;

const codeIn = (lines: readonly Line[]): string[] => lines.flat().flatMap(({ text, code }) => (code ? [text] : []));

test('commands are code, without the backticks that a plain text needs; the longest counts', () => {
  const item = {
    message:
      'Slack C1 is archived.\nTo do: see `tocsin dead list`, or run `tocsin dead`; then run: tocsin dead retry --all',
    steps: ['tocsin dead', 'tocsin dead list', 'tocsin dead retry --all'],
  };
  const lines = linesOf(item);
  expect(lines.map(lineText)).toEqual([
    'Slack C1 is archived.',
    'To do: see tocsin dead list, or run tocsin dead; then run: tocsin dead retry --all',
  ]);
  expect(codeIn(lines)).toEqual(['tocsin dead list', 'tocsin dead', 'tocsin dead retry --all']);
});

const ENTRY = {
  ...{ at: '2026-11-20T13:59:59.000Z', severity: 'CRITICAL', protocol: 'Lending Pool' },
  ...{ detectors: ['flashLoan', 'mixer'], txHash: hashOf(1), chainId: '8453' },
};

test('each entry of a list has its severity by sign and word, its time, its detectors as people read them, and a linked short hash', () => {
  const lines = linesOf({ message: 'whole', lead: 'A mute ended.\nReason: x', listed: [ENTRY] });
  expect(lines.slice(0, 3).map(lineText)).toEqual(['A mute ended.', 'Reason: x', '']);
  expect(lines.slice(3)).toEqual([
    [
      { text: '🔴 CRITICAL ' },
      { text: '13:59:59 UTC', at: Date.parse(ENTRY.at) },
      { text: ' Lending Pool: Flash loan, Mixer ' },
      { text: '0x0000…0001', url: `https://basescan.org/tx/${hashOf(1)}`, copy: hashOf(1) },
    ],
  ]);
});

test('has the whole hash where there is no explorer, and the id where there is no transaction', () => {
  const { txHash: _txHash, detectors: _detectors, ...stored } = ENTRY;
  const lines = linesOf(
    {
      lead: 'x',
      listed: [
        { ...ENTRY, chainId: '4711' },
        { ...stored, severity: 'NOTIFICATION', what: 'stored notification', itemId: 'id-1' },
      ],
    },
    { timeZone: 'Europe/Berlin' },
  );
  expect(lines.slice(2).map(lineText)).toEqual([
    `🔴 CRITICAL 14:59:59 CET Lending Pool: Flash loan, Mixer ${hashOf(1)}`,
    '🟠 NOTIFICATION 14:59:59 CET Lending Pool: stored notification id-1',
  ]);
});

test('a severity from outside has one line, and no sign of ours', () => {
  const [, , line = []] = linesOf({ lead: 'x', listed: [{ ...ENTRY, severity: `\n🔴 ${'very '.repeat(50)}bad` }] });
  expect(lineText(line)).toMatch(/^🟠 very very [^\n🔴]{0,50}… 13:59:59 UTC/u);
});

test('what is not as we write it is shown as the text that it is', () => {
  expect(linesOf({ message: 'a\nb', steps: 'x', listed: 4 }).map(lineText)).toEqual(['a', 'b']);
  expect(linesOf({ message: 'a', lead: 'b', listed: [] }).map(lineText)).toEqual(['a']);
  expect(linesOf({ lead: 'b', listed: [null, 7, { at: 'soon' }] })).toHaveLength(5);
  expect(linesOf({})).toEqual([[]]);
});

test('its times are by the clock of the reader, in the zone of the config, with the name of the zone', () => {
  const item = {
    message: 'Slack C1 is archived.\nSince 2026-11-20 13:48:00 UTC. Nothing is lost.\nTo do: run: tocsin dead retry',
    steps: ['tocsin dead retry'],
    createdAt: '2026-11-20T14:00:00.000Z',
  };
  const berlin = announcedText(item, createPresentation({ timeZone: 'Europe/Berlin' }), NOW);
  expect(berlin.message).toContain('Since 2026-11-20 14:48:00 CET. Nothing is lost.');
  expect(berlin.messageLines[1]).toEqual([
    { text: 'Since ' },
    { text: '2026-11-20 14:48:00 CET', at: Date.parse('2026-11-20T13:48:00Z') },
    { text: '. Nothing is lost.' },
  ]);
  expect(announcedText(item, createPresentation(), NOW).message).toBe(item.message);
});

test('a list reads the same as text, with whole hashes, and in the same clock as the rest', () => {
  const item = {
    message: 'in UTC',
    lead: 'A mute ended, from 12:00 to 14:00 UTC.',
    listed: [ENTRY],
    createdAt: iso(NOW),
  };
  expect(announcedText(item, createPresentation({ timeZone: 'Asia/Kolkata' }), NOW).message).toBe(
    `A mute ended, from 17:30 to 19:30 IST.\n\n🔴 CRITICAL 19:29:59 IST Lending Pool: Flash loan, Mixer ${hashOf(1)}`,
  );
});

test.each([
  ['From 2026-11-20 02:40:12 to 02:41:12 UTC.', 'From 2026-11-19 21:40:12 to 21:41:12 EST.'],
  ['From 2026-11-20 04:59:00 to 05:01:00 UTC.', 'From 2026-11-19 23:59:00 to 2026-11-20 00:01:00 EST.'],
  ['2026-11-19 23:00:00 UTC to 2026-11-20 03:00:00 UTC', '2026-11-19 18:00:00 EST to 2026-11-19 22:00:00 EST'],
  ['from 2026-11-19 23:00 to 2026-11-20 03:00 UTC', 'from 2026-11-19 18:00 to 2026-11-19 22:00 EST'],
  ['from 02:00 to 03:00 UTC', 'from 2026-11-19 21:00 to 22:00 EST'],
  ['from 12:00 to 13:00 UTC', 'from 07:00 to 08:00 EST'],
  ['2026-11-01 05:30:00 to 06:30:00 UTC', '2026-11-01 01:30:00 EDT to 01:30:00 EST'],
  ['at 2026-13-40 25:61:00 UTC, since 10:00', 'at 2026-13-40 25:61:00 UTC, since 10:00'],
  ['until 2026-11-20T14:00:00.000Z', 'until 2026-11-20T14:00:00.000Z'],
])('%s', (message, shown) => {
  expect(
    announcedText({ message, createdAt: iso(NOW) }, createPresentation({ timeZone: 'America/New_York' }), NOW).message,
  ).toBe(shown);
});
