/** Announcements in Slack: commands as code, what a mute hid with times and links, and all of it where blocks have no room. */
import { expect, test } from 'vitest';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { singleBody } from '../../../src/channels/slack/message.ts';
import { atOnce } from '../../../src/chunks.ts';
import { announcementAlert } from '../../../src/features/announcements/announce.ts';
import { muteReportTexts } from '../../../src/features/mutes/report.ts';
import { hashOf } from '../../support/numbered.ts';

const AT = Date.parse('2026-11-20T14:00:00Z');

const bodyOf = (text: { message: string }) =>
  atOnce(
    singleBody([announcementAlert({ about: 'mute.ended', key: 'x', ...text }, AT)], {
      ...{ sentAt: '2026-11-20T14:00:01Z', format: 'rich', presentation: createPresentation() },
    }),
  );

const reportOf = (count: number, protocol = 'Lending Pool') => {
  const items = Array.from({ length: count }, (_, n) => ({
    ...{ protocol, type: 'inspection.critical', detectors: ['flashLoan'], itemId: `i${n}` },
    ...{ txHash: hashOf(n + 1), severity: 'CRITICAL', chainId: '8453', at: '2026-11-20T13:00:00.000Z' },
  }));
  const mute = {
    ...{ id: 'mute-1', protocols: ['*'], detectors: [], destinations: [], reason: 'an upgrade', hid: count },
    ...{ from: '2026-11-20T12:00:00.000Z', until: '2026-11-20T14:00:00.000Z' },
  };
  return muteReportTexts(mute, AT, { hid: count, items });
};

test('a command is code', () => {
  const { blocks } = bodyOf({
    message: 'Slack C1 is archived.\nTo do: unarchive it; then run: tocsin dead retry --all',
  });
  expect(JSON.stringify(blocks)).toContain('{"type":"text","text":"tocsin dead retry --all","style":{"code":true}}');
});

test('what a mute hid is linked and has the reader’s clock; with the whole hash, as text, where there is no room', () => {
  const { blocks, text } = bodyOf(reportOf(2)[0] ?? { message: '' });
  const shown = JSON.stringify(blocks);
  expect(text).toMatch(/^🔵 Tocsin: A mute ended: 2 alerts were not sent, all of them critical/);
  for (const n of [1, 2]) {
    expect(shown).toContain(`{"type":"link","url":"https://basescan.org/tx/${hashOf(n)}","text":"0x0000…000${n}"}`);
  }
  expect(shown).toContain(`"timestamp":${Date.parse('2026-11-20T13:00:00Z') / 1000}`);
  const many = bodyOf(reportOf(150)[0] ?? { message: '' });
  expect(many.blocks).toBeUndefined();
  expect(many.text.match(/0x[0-9a-f]{64}/g)).toHaveLength(150);
});

test('no entry is left out, however its name is written for Slack', () => {
  const parts = reportOf(150, '&<>'.repeat(30)).map(bodyOf);
  expect(parts.length).toBeGreaterThan(1);
  for (const { text } of parts) expect(text).not.toContain('left out');
  expect(new Set(JSON.stringify(parts).match(/0x[0-9a-f]{64}/g)).size).toBe(150);
});
