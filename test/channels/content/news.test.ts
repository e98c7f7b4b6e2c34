import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { lineText } from '../../../src/channels/content/content.ts';
import { describeNews } from '../../../src/channels/content/news.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { atOnce } from '../../../src/chunks.ts';
import { inspectionAlert } from '../../support/alerts.ts';

const wording = { presentation: createPresentation(), sentAt: Date.parse('2026-11-20T10:07:55.000Z') };

const of = (protocol: string, detectors: Record<string, string> = {}, assessment = 'critical'): Alert => {
  const detections = Object.entries(detectors).map(([id, message]) => [id, { status: 'detected', message }] as const);
  return inspectionAlert({ protocol, item: { assessment, detections: Object.fromEntries(detections) } });
};

const newsOf = (heard: Alert[], ...news: Alert[]) => {
  const { title, headline, subject, detections, lines, times, links, details } = atOnce(
    describeNews([...heard, ...news], heard.length, wording),
  );
  expect([times, details]).toEqual([[], []]);
  expect(links.map(({ label }) => label)).toEqual(['Check transaction']);
  return {
    title,
    headline,
    subject,
    worst: detections.map(({ name, message }) => `${name}: ${message}`),
    lines: lines.map(lineText),
  };
};

describe('what is new in a message that has grown', () => {
  test('are protocols: how many there are, which are new, and what was found at the worst', () => {
    const { title, headline, subject, worst, lines } = newsOf(
      [of('Bridge', { flashLoan: 'x' }), of('Dex', { flashLoan: 'x' }), of('Yield', { mixer: 'y' })],
      of('Opal Staking', { flashLoan: 'Flash loan of 1 WETH' }, 'suspecious'),
      of('Copper Perps', { reentrancy: 'Re-entrant call into transfer (depth 9).', drop: 'Token balance dropped 24%' }),
      of('Juno Margin', { flashLoan: 'x' }),
    );
    expect(title).toBe('🔴 CRITICAL · Now 6 protocols (+ Copper Perps, Juno Margin, Opal Staking)');
    expect(worst).toEqual([
      'CRITICAL · Copper Perps · Lending vault: Re-entrant call into transfer (depth 9); Token balance dropped 24%',
    ]);
    expect(headline).toBe(
      '🔴 CRITICAL · Copper Perps · Lending vault: “Re-entrant call into transfer (depth 9); Token balance dropped 24%” · Now 6 protocols (+ Copper Perps, Juno Margin, Opal Staking)',
    );
    expect(subject).toBe('Now 6 protocols · Copper Perps · Lending vault');
    expect(lines).toEqual(['0x5d1c…ab12 on Base', 'Already alerted: Bridge, Dex, Yield']);
  });

  test('names the protocol that differs from many decoys', () => {
    const decoys = Array.from({ length: 30 }, (_, n) => of(`Decoy ${n}`, { flashLoan: 'x', drop: 'y' }));
    const { title } = newsOf([of('Bridge', { mixer: 'm' })], ...decoys, of('Vault', { mixer: 'All funds left' }));
    expect(title).toContain('Vault');
  });

  test('names the protocol that is listed longest, though each of many decoys has a detector of its own', () => {
    const listed = (alert: Alert, day: string): Alert => ({
      ...alert,
      context: { listedSince: `2026-11-${day}T10:00:00.000Z` },
    });
    const decoys = Array.from({ length: 30 }, (_, n) =>
      listed(of(`Decoy ${n}`, { [`a${n}`]: 'x', [`b${n}`]: 'y' }), '20'),
    );
    const vault = listed(of('Vault', { mixer: 'All funds left' }), '01');
    expect(newsOf([of('Bridge', { mixer: 'm' })], ...decoys, vault).title).toContain('Vault');
  });

  test.each<[string, Alert[], Alert[], string, string[]]>([
    [
      'are protocols by which all of it is worse',
      [of('A', {}, 'suspecious')],
      [of('B', { mixer: 'm' })],
      '🔴 Now CRITICAL, 2 protocols (+ B)',
      ['CRITICAL · B · Lending vault: m'],
    ],
    [
      'is a severity',
      [of('A', { mixer: 'm' }, 'suspecious')],
      [of('A', { mixer: 'm', flashLoan: 'f' })],
      '🔴 Now CRITICAL · A',
      ['Flash loan: f'],
    ],
    [
      'is a severity of one of them',
      [of('A', { mixer: 'm' }), of('B', { mixer: 'm' }, 'suspecious')],
      [of('A', { drop: 'd' }), of('B', { mixer: 'm' })],
      '🔴 Now CRITICAL · B',
      ['CRITICAL · B · Lending vault: m'],
    ],
    [
      'are detectors',
      [of('A', { mixer: 'm' })],
      [of('A', { mixer: 'm' }), of('A', { flashLoan: 'f', drasticBalanceChange: 'd' })],
      '🔴 CRITICAL · 2 more detectors (+ Flash loan, Drastic balance change) · A',
      ['Flash loan: f; d'],
    ],
    [
      'is nothing but that it goes on, which whoever has acknowledged hears',
      [of('A', { mixer: 'm' })],
      [of('A', { mixer: 'm' })],
      '🔴 CRITICAL · 1 more finding since the acknowledgement · A',
      ['Mixer: m'],
    ],
    [
      'is critical again',
      [{ ...of('A', { mixer: 'm' }), reassessed: { was: 'critical', is: 'ok' } }],
      [of('A', { mixer: 'm' })],
      '🔴 Now CRITICAL · A',
      ['Mixer: m'],
    ],
    [
      'is what a detector says now',
      [of('A', { mixer: 'm' })],
      [of('A', { mixer: 'n' })],
      '🔴 CRITICAL · 1 more finding · A',
      ['Mixer: n'],
    ],
    [
      'is a protocol of the same name at another service',
      [of('A', { mixer: 'm' })],
      [{ ...of('A', { mixer: 'm' }), service: 'partner' }],
      '🔴 CRITICAL · Now 2 protocols (+ another A)',
      ['CRITICAL · A · Lending vault: m'],
    ],
    [
      'is a protocol that looks alike',
      [of('A', { mixer: 'm' })],
      [of('A\u200b', { mixer: 'm' })],
      '🔴 CRITICAL · Now 2 protocols (+ another A)',
      ['CRITICAL · A · Lending vault: m'],
    ],
    ['is found by no detector', [of('A')], [of('B')], '🔴 CRITICAL · Now 2 protocols (+ B)', []],
  ])('%s', (_what, heard, news, title, worst) => {
    expect(newsOf(heard, ...news)).toMatchObject({ title, worst });
  });

  test('of many protocols names a few, and names from outside close no bracket, sign nothing and are not long', () => {
    const posing = 'x) 🟢 Tocsin · all is well (';
    const decoys = Array.from({ length: 6 }, (_, n) => of(`${n}`.repeat(300)));
    const names = decoys.map(({ protocol }) => `${protocol.slice(0, 14)}…`).join(', ');
    const many = newsOf([of('A')], of(posing), ...decoys, of('Vault'), of('D'), of('E'));
    expect(many.title).toBe(`🔴 CRITICAL · Now 11 protocols (+ x Tocsin - all…, ${names}, Vault and 2 more)`);
    expect(newsOf([of('A')], of('A', { [posing]: 'm' })).title).toBe(
      '🔴 CRITICAL · 1 more detector (+ x Tocsin - all is well) · A',
    );
  });

  test('has the prefix of its protocol', () => {
    const presentation = createPresentation({ protocols: { overrides: { A: { prefix: '[staging]' } } } });
    const { title } = atOnce(describeNews([of('A'), of('A', { mixer: 'm' })], 1, { ...wording, presentation }));
    expect(title).toBe('[staging] 🔴 CRITICAL · 1 more detector (+ Mixer) · A');
  });
});
