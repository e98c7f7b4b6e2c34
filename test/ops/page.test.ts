import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { html } from '../../src/html.ts';
import { renderPage } from '../../src/ops/page.ts';
import type { StatusReport } from '../../src/ops/status.ts';
import { filledWith, MUTE, REPORT, WITH_BROKEN } from './report.ts';

const HOSTILE = '"><script>alert(1)</script>\'&\u202e\u001b[31m\u0000';

const stateOf = (report: StatusReport): string =>
  /<h1>Tocsin: <span class="(?:good|bad)">(.*?)<\/span>/.exec(renderPage(report))?.[1] ?? '';

/** Tags that the page itself makes. */
const tagsOf = (page: string): string[] =>
  [...new Set(Array.from(page.matchAll(/<\/?([a-z!]+)/g), ([, tag = '']) => tag))].sort();

describe('the page', () => {
  test('says that all is well only when it is', () => {
    expect(stateOf(REPORT)).toBe('all is well');
    expect(stateOf({ ...REPORT, problems: ['x'] })).toBe('one thing needs a look');
    expect(stateOf({ ...REPORT, problems: ['x', 'y'] })).toBe('2 things need a look');
    expect(stateOf({ ...REPORT, dead: 1 })).toBe('needs a look');
    expect(stateOf({ ...REPORT, services: [{ name: 'main', up: false, state: 'fails' }] })).toBe('needs a look');
    expect(stateOf({ ...REPORT, protocols: [] })).toBe('nothing is watched');
    const failing = REPORT.destinations.map((destination) => ({ ...destination, lastError: 'refused' }));
    expect(stateOf({ ...REPORT, destinations: failing })).toBe('needs a look');
    const late = REPORT.protocols.map((protocol) => ({ ...protocol, sources: [{ source: 'inspections' as const }] }));
    expect(stateOf({ ...REPORT, protocols: late })).toBe('needs a look');
  });

  test('escapes everything that comes from outside', () => {
    const page = renderPage(filledWith(HOSTILE));
    expect(page).not.toContain('<script');
    for (const character of ['\u202e', '\u001b', '\u0000']) expect(page).not.toContain(character);
    expect(page).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;');
  });

  test('has the same tags whatever the texts are', () => {
    const tags = tagsOf(renderPage(filledWith('x')));
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        expect(tagsOf(renderPage(filledWith(text)))).toEqual(tags);
      }),
      { numRuns: 300 },
    );
  });

  test('holds thousands of protocols and problems at bay, and says so', () => {
    const [protocol] = REPORT.protocols;
    const protocols = Array.from({ length: 5000 }, () => protocol ?? expect.unreachable());
    const page = renderPage({ ...REPORT, protocols, problems: Array.from({ length: 100 }, (_, index) => `p${index}`) });
    expect(page).toContain('and 4000 more');
    expect(page).toContain('and 70 more');
    expect(page.length).toBeLessThan(1_000_000);
  });

  test('shows what is muted, and until when, where something is', () => {
    expect(renderPage(REPORT)).not.toContain('Mutes');
    const page = renderPage({ ...REPORT, mutes: [MUTE] });
    expect(page).toMatch(/<h2>Mutes <small>1<\/small>[\s\S]*mute-3f9a2c1b[\s\S]*2026-11-21 11:00:00 UTC[\s\S]*>12</);
    expect(stateOf({ ...REPORT, mutes: [MUTE] })).toBe('all is well');
  });

  test('shows what needs attention first', () => {
    const lost = { service: 'main', name: 'Nobody hears', channels: [], sources: [] };
    const page = renderPage({ ...REPORT, ...WITH_BROKEN, protocols: [...REPORT.protocols, lost] });
    expect(page.indexOf('Nobody hears')).toBeLessThan(page.indexOf('Lending Pool'));
    expect(page.indexOf('C0BROKEN01')).toBeLessThan(page.indexOf('C024BE91L'));
  });

  test('counts what is held, where something is', () => {
    expect(renderPage(REPORT)).not.toContain('Held');
    const held = [
      { id: 'slack-9', kind: 'slack' as const, label: 'C9', protocols: [], since: REPORT.now, waiting: 25 },
    ];
    expect(renderPage({ ...REPORT, held: [...held, ...held] })).toMatch(/<dt>Held<\/dt><dd><span class="bad">50</);
  });

  test('breaks no kind into two lines', () => {
    expect(renderPage(REPORT)).toMatch(/<td data-label="Kind" class="word">slack</);
  });
});

describe('html', () => {
  test('escapes texts and leaves what it made itself', () => {
    const inner = html`<b>${'<i>'}</b>`;
    expect(html`<p title="${'"'}">${inner}${[inner, inner]}${3}</p>`.html).toBe(
      '<p title="&quot;"><b>&lt;i&gt;</b><b>&lt;i&gt;</b><b>&lt;i&gt;</b>3</p>',
    );
  });
});
