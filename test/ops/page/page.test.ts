import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { READER } from '../../../src/ops/page/details.ts';
import { renderPage, renderTraces } from '../../../src/ops/page/page.ts';
import type { StatusReport } from '../../../src/ops/status.ts';
import { html } from '../../../src/text.ts';
import { anyCharacter } from '../../support/texts.ts';
import { filledWith, knownOf, MUTE, REPORT, remarkOf, WITH_BROKEN } from '../report.ts';
import { DETAILS, detailsWith, TRACED, tracedWith, viewOf } from './details.ts';

const HOSTILE = '"><script>alert(1)</script>\'&\u202e\u001b[31m\u0000';

const pageOf = (report: StatusReport, details = DETAILS): string => renderPage(viewOf({ report, details }));

const headOf = (page: string): string => /<h1>(?:<img[^>]*>)? ?(.*?)<\/h1>/.exec(page)?.[1] ?? '';

const stateOf = (report: StatusReport): string => headOf(pageOf(report));

const withoutScript = (page: string): string => page.replace(/<script>[\s\S]*?<\/script>/, '');

/** Tags that the page itself makes. */
const tagsOf = (page: string): string[] =>
  [...new Set(Array.from(withoutScript(page).matchAll(/<\/?([a-z!]+)/g), ([, tag = '']) => tag))].sort();

const everythingWith = (text: string): string =>
  renderPage(
    viewOf({ report: filledWith(text), details: detailsWith(text), viewer: { canSignIn: true, csrf: text } }),
  ) +
  renderPage(viewOf({ filter: text })) +
  renderPage(viewOf({ outdated: { problems: [{ text, since: REPORT.now }] } })) +
  renderTraces(text, [tracedWith(text)], READER);

describe('the page', () => {
  test('says that all is well only when it is', () => {
    expect(stateOf(REPORT)).toBe('All is well');
    expect(stateOf({ ...REPORT, remarks: [remarkOf('x')] })).toBe('One thing needs a look');
    expect(stateOf({ ...REPORT, remarks: [remarkOf('x'), remarkOf('y')] })).toBe('2 things need a look');
    expect(stateOf({ ...REPORT, dead: 1 })).toBe('Needs a look: 1 dead delivery is kept');
    expect(stateOf({ ...REPORT, services: [{ name: 'main', up: false, state: 'fails' }] })).toBe(
      'Needs a look: 1 service is down',
    );
    expect(stateOf({ ...REPORT, protocols: [] })).toBe('Nothing is watched');
    const failing = REPORT.destinations.map((destination) => ({ ...destination, lastError: 'refused' }));
    expect(stateOf({ ...REPORT, destinations: failing })).toBe('Needs a look: 1 destination fails');
    const busy = REPORT.destinations.map((destination) => ({ ...destination, waiting: 1200 }));
    expect(stateOf({ ...REPORT, destinations: busy })).toBe('Busy: 1,200 alerts wait');
    const late = REPORT.protocols.map((protocol) => ({ ...protocol, sources: [{ source: 'inspections' as const }] }));
    expect(stateOf({ ...REPORT, protocols: late })).toMatch(/^Needs a look: \d+ protocols? (?:is|are) read late$/);
  });

  test('is green where somebody knows of every remark, and shows who, why and until when', () => {
    const page = pageOf({ ...REPORT, known: [knownOf('Vault has no channels', 'it is retired')] });
    expect(headOf(page)).toBe('All is well');
    expect(page).toContain('1 remark is <a href="#known">known</a>');
    expect(page).toMatch(
      /id="known">[\s\S]*Vault has no channels[\s\S]*To do: correct the channel\.[\s\S]*it is retired[\s\S]*in 29 d/,
    );
    expect(page).not.toContain('/actions/known-end');
  });

  test('shows a protocol without channels in no red: it is a remark; and where an override of the config leads', () => {
    const protocols = REPORT.protocols.map((one) => ({ ...one, channels: [] }));
    const without = pageOf({ ...REPORT, protocols }, { ...DETAILS, destinationsOf: new Map() });
    expect(without).toContain('<span class="quiet">nobody: it has no channels</span>');
    expect(pageOf({ ...REPORT, protocols })).not.toContain('it has no channels');
  });

  test('says above the latest alerts how many criticals nobody has acknowledged', () => {
    const unacknowledged = { count: 1, since: '2026-11-21T07:00:00.000Z' };
    expect(pageOf({ ...REPORT, unacknowledged })).toContain(
      '<p>Nobody has acknowledged yet: 1 critical alert of the last day, the oldest 3 h ago.</p>',
    );
    expect(pageOf(REPORT)).not.toContain('Nobody has acknowledged yet:');
  });

  test('has the button for what the page can do about a trouble, for those who are signed in', () => {
    const about = (name: 'dead' | 'destination' | 'held' | 'disk', of = '') => ({
      ...{ name, of, what: name, severity: 'x', todo: `see ${name}` },
    });
    const troubles = [about('dead'), about('destination', 'slack-1'), about('disk')];
    const remarks = [about('held', 'slack-2'), about('held'), remarkOf('Vault has no channels')];
    const report = { ...REPORT, troubles, remarks };
    const buttonsOf = (page: string) =>
      Array.from(
        page
          .slice(page.indexOf('class="hero'), page.indexOf('class="tiles'))
          .matchAll(/actions\/([a-z-]+)"[\s\S]*?name="id" value="([^"]+)"/g),
        ([, action, id]) => `${action} ${id}`,
      );
    const signedIn = renderPage(viewOf({ report, viewer: { canSignIn: true, csrf: 'c' } }));
    expect(buttonsOf(signedIn)).toEqual(['retry all', 'test slack-1', 'approve slack-2', 'known remark-1a2b3c4d']);
    expect(buttonsOf(pageOf(report))).toEqual([]);
  });

  test('says that a table is empty only where it is', () => {
    expect(pageOf(REPORT)).not.toContain('None is set up.');
    expect(pageOf({ ...REPORT, services: [] })).toContain('None is set up.');
  });

  test('says which build it is of', () => {
    expect(pageOf(REPORT)).toContain('<p>Version 1.2.3 (0123456789ab), started ');
  });

  test('shows its state in the title and the icon of the tab', () => {
    const [well, look] = [pageOf(REPORT), pageOf({ ...REPORT, remarks: [remarkOf('x'), remarkOf('y')] })];
    expect(well).toContain('<title>Tocsin: All is well</title>');
    expect(look).toContain('<title>(2) Tocsin: 2 things need a look</title>');
    const iconOf = (page: string): string => /<link rel="icon" href="([^"]+)"/.exec(page)?.[1] ?? '';
    expect(iconOf(well)).toMatch(/^data:image\/svg\+xml,/);
    expect(iconOf(look)).not.toBe(iconOf(well));
  });

  test('shows how long a trouble lasts, and each moment as people read it', () => {
    const since = '2026-11-21T09:56:00.000Z';
    const [what, why] = ['slack C1 takes no alerts', 'channel_not_found'];
    const trouble = {
      name: 'destination',
      severity: 'needs somebody',
      of: 'slack-1',
      what,
      why,
      since,
      todo: '`tocsin status` shows it',
    } as const;
    const page = pageOf({
      ...REPORT,
      troubles: [trouble],
      remarks: [remarkOf(`held since ${since}`)],
    });
    expect(page).toMatch(/slack C1 takes no alerts: channel_not_found <span class="age">for <time[^>]*>4 min</);
    expect(page).toContain('To do: <code>tocsin status</code> shows it.');
    expect(page).toContain('held since <time datetime="2026-11-21T09:56:00.000Z">2026-11-21 09:56:00 UTC</time>');
    expect(headOf(page)).toBe('2 things need a look');
    const several = pageOf({ ...REPORT, troubles: [trouble, { ...trouble, what: 'slack C2 takes no alerts' }] });
    expect(several.match(/To do:/g)).toHaveLength(1);
  });

  test('escapes everything that comes from outside', () => {
    const page = everythingWith(HOSTILE);
    expect(withoutScript(page.replaceAll(/<script>\n[\s\S]*?<\/script>/g, ''))).not.toContain('<script');
    for (const character of ['\u202e', '\u001b', '\u0000']) expect(page).not.toContain(character);
    expect(page).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;');
  });

  test('links nothing but web addresses', () => {
    const [alert] = DETAILS.alerts;
    const alerts = [{ ...(alert ?? expect.unreachable()), explorer: 'javascript:alert(1)' }];
    expect(pageOf(REPORT, { ...DETAILS, alerts })).not.toContain('javascript:');
    expect(pageOf(REPORT)).toContain('href="https://etherscan.io/tx/0x');
  });

  test('has the same tags whatever the texts are', () => {
    const tags = tagsOf(everythingWith('x'));
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), (text) => {
        expect(tagsOf(everythingWith(text))).toEqual(tags);
      }),
      { numRuns: 100 },
    );
  });

  test('holds thousands of protocols and problems at bay, and says so', () => {
    const [protocol] = REPORT.protocols;
    const protocols = Array.from({ length: 5000 }, () => protocol ?? expect.unreachable());
    const page = pageOf({
      ...REPORT,
      protocols,
      remarks: Array.from({ length: 100 }, (_, index) => remarkOf(`p${index}`)),
    });
    expect(page).toContain('and 4,975 more');
    expect(page).toContain('and 70 more');
    expect(page.length).toBeLessThan(100_000);
  });

  test('shows by a part of its name what the first rows do not', () => {
    const [protocol = expect.unreachable()] = REPORT.protocols;
    const protocols = Array.from({ length: 500 }, (_, index) => ({ ...protocol, name: `Vault ${index}` }));
    const view = viewOf({ report: { ...REPORT, protocols } });
    expect(renderPage(view)).not.toContain('Vault 499');
    const page = renderPage({ ...view, filter: 'VAULT 49' });
    expect(page).toContain('Vault 499');
    expect(page).not.toContain('Vault 300');
    expect(page).toContain('No name fits.');
  });

  test('shows what is muted, and until when, where something is', () => {
    expect(pageOf(REPORT)).not.toContain('<h2>Mutes');
    const page = pageOf({ ...REPORT, mutes: [MUTE] });
    expect(page).toMatch(/<h2>Mutes <small>1<\/small>[\s\S]*>12<[\s\S]*2026-11-21 11:00:00 UTC[\s\S]*mute-3f9a2c1b/);
    expect(stateOf({ ...REPORT, mutes: [MUTE] })).toBe('All is well');
  });

  test('shows what needs attention first', () => {
    const lost = { service: 'main', name: 'Nobody hears', channels: [], sources: [] };
    const page = pageOf(
      { ...REPORT, ...WITH_BROKEN, protocols: [...REPORT.protocols, lost] },
      { ...DETAILS, alerts: [] },
    );
    expect(page.indexOf('Nobody hears')).toBeLessThan(page.indexOf('Lending Pool'));
    expect(page.indexOf('C0BROKEN01')).toBeLessThan(page.indexOf('C024BE91L'));
  });

  test('counts what is held, where something is', () => {
    expect(pageOf(REPORT)).not.toContain('<dt>Held');
    const held = [
      { id: 'slack-9', kind: 'slack' as const, label: 'C9', protocols: [], since: REPORT.now, waiting: 25 },
    ];
    expect(pageOf({ ...REPORT, held: [...held, ...held] })).toMatch(/<dt>Held<\/dt><dd><span class="bad">50</);
  });

  test('says beside the destinations what hangs on one token', () => {
    const text = 'Everything of Vault and the fallback hangs on channels.slack.botToken: list another kind';
    expect(pageOf({ ...REPORT, hanging: [text] })).toContain(`<p class="quiet">${text}.</p>`);
    expect(stateOf({ ...REPORT, hanging: [text] })).toBe('All is well');
  });

  test('counts the same in its tiles as in its table', () => {
    const [one] = REPORT.destinations;
    const destinations = [2, 0, 6].flatMap((waiting, n) => (one ? [{ ...one, id: `slack-${n}`, waiting }] : []));
    // Jobs are counted where the queues are: one may have many alerts.
    const queues = REPORT.queues.map((queue) => ({ ...queue, waiting: 1, delayed: 0 }));
    const page = pageOf({ ...REPORT, destinations, queues });
    expect(page).toMatch(/<dt>Waiting<\/dt><dd><span>8<\/span><\/dd>/);
    expect(page).toMatch(/<dt>Destinations<\/dt><dd><span>3<\/span><\/dd>/);
    expect(page).toContain('<h2>Destinations <small>3</small>');
    expect(page).toMatch(/Queues <small>in jobs/);
  });

  test('shows where alerts went, how long that took, and what did not arrive', () => {
    const page = pageOf(REPORT);
    expect(page).toMatch(/slack C024BE91L<\/bdi> <span>2\.1 s</);
    expect(page).toMatch(/class="chip dead" title="email ops@example.com: dead [^"]*mailbox full"/);
    expect(page).toContain('26 more delivered');
  });

  test('draws a day of alerts and of delivery times, and says in words what it draws', () => {
    const page = pageOf(REPORT);
    expect(page).toMatch(/aria-label="Alerts of the last 24 hours: 288 alerts, most of them at 09:50 UTC: 145/);
    expect(page).toMatch(/aria-label="Delivery times of the last 24 hours: usually half within 2\.0 s; slowest 2 min"/);
    const quiet = DETAILS.activity.map(({ at }) => ({ at, alerts: 0 }));
    expect(pageOf(REPORT, { ...DETAILS, activity: quiet })).toContain('none in 24 hours');
  });

  test('has no button for those who only read', () => {
    expect(pageOf({ ...REPORT, mutes: [MUTE], dead: 1 })).not.toContain('method="post"');
    const viewer = { canSignIn: true, csrf: 'c5' };
    expect(renderPage(viewOf({ report: { ...REPORT, mutes: [MUTE], dead: 1 }, viewer }))).toMatch(
      /method="post" action="\/actions\/mute-end"[^>]*><input type="hidden" name="csrf" value="c5">/,
    );
  });

  test('shows what was known while Redis gives no answer', () => {
    const page = renderPage(
      viewOf({ outdated: { problems: [{ text: 'redis: refused' }] }, now: '2026-11-21T10:04:00.000Z' }),
    );
    expect(headOf(page)).toBe('2 things need a look');
    expect(page).toContain('Redis does not answer');
    expect(page).toMatch(/What follows was known <time[^>]*>4 min ago/);
    expect(page).toContain('Lending Pool');
  });
});

describe('a search', () => {
  test('shows each attempt at each destination', () => {
    const page = renderTraces('0xabc', [TRACED], READER);
    expect(page).toMatch(/failed, will be tried again[\s\S]*delivered, 112 ms/);
  });

  test('renews itself while a delivery waits', () => {
    const [delivery = expect.unreachable()] = TRACED.deliveries;
    const waiting = { ...TRACED, deliveries: [delivery, { ...delivery, state: 'waiting' as const }] };
    expect(renderTraces('0xabc', [TRACED], READER)).not.toContain('data-live');
    expect(renderTraces('0xabc', [waiting], READER)).toContain('data-live');
  });

  test('says what to try where nothing is found', () => {
    expect(renderTraces('0xabc', [], READER)).toContain('Nothing is known of');
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
