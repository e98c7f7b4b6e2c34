import fc from 'fast-check';
import { expect, describe as suite, test } from 'vitest';
import type { Alert, JsonObject } from '../../../src/alert.ts';
import { type Content, fairShares, lineText, noticesOf } from '../../../src/channels/content/content.ts';
import { describe } from '../../../src/channels/content/describe.ts';
import { createPresentation, type PresentationConfig } from '../../../src/channels/content/presentation.ts';
import { firedDetections } from '../../../src/channels/content/reading.ts';
import { cleanText } from '../../../src/text.ts';
import { inspectionAlert, notificationAlert, TX_HASH, TX_ORIGIN } from '../../support/alerts.ts';
import { anyJson, anyText } from '../../support/texts.ts';

const SENT_AT = '2026-11-20T10:07:55.900Z';

const contentOf = (alert: Alert = inspectionAlert(), sentAt = SENT_AT, config: PresentationConfig = {}): Content =>
  describe(alert, { presentation: createPresentation(config), sentAt: Date.parse(sentAt) });

const linesOf = (item: JsonObject, changes: Partial<Alert> = {}): string[] =>
  contentOf(inspectionAlert({ item, ...changes })).lines.map(lineText);

const detailsOf = ({ details }: Content): [string, string][] => details.map(({ label, value }) => [label, value]);

const CONTEXT = {
  trigger: { groups: 3, matched: { number: 1, detectors: ['flashLoan'] } },
  adminOf: [],
  privilegedOn: ['Lending vault'],
  first: { since: '2026-10-06T10:00:00.000Z', origin: true, detectors: true },
};

suite('an inspection', () => {
  test('says severity, protocol and contract, then what happened, who and what, and when', () => {
    const content = contentOf(inspectionAlert({ context: CONTEXT }));
    expect(content).toMatchObject({
      title: '🔴 CRITICAL · Lending Pool · Lending vault',
      happened: 'Borrowed 12,400 ETH and repaid in the same transaction; Balance fell by 61.5 %',
      severity: 'CRITICAL',
      tone: 'critical',
      isOurs: false,
    });
    expect(content.headline).toBe(`${content.title}: “${content.happened}”`);
    expect(content).not.toHaveProperty('notice');
    expect(content.detections.map(({ name }) => name)).toEqual(['Flash loan', 'Drastic balance change']);
    expect(content.lines.map(lineText)).toEqual([
      '0x5d1c…ab12 on Base',
      'From 0x7e7e…7e7E · not an admin · first alert in 45 days',
      'Call liquidateCall (privileged) on Lending vault 0xABaB…ABaB',
    ]);
    expect(lineText(content.times)).toBe('10:07:12 UTC · inspected +19 s · sent +43 s');
    expect(content.links).toEqual([{ label: 'Check transaction', url: `https://basescan.org/tx/${TX_HASH}` }]);
  });

  test('has everything in full, each value alone, in its details', () => {
    const content = contentOf(inspectionAlert({ context: CONTEXT }));
    expect(detailsOf(content)).toEqual([
      ['Transaction', TX_HASH],
      ['Chain', 'Base (8453)'],
      ['Sender', '0x7e7e7e7E7e7E7e7e7e7E7e7e7e7E7e7e7e7e7e7E'],
      ['Method', 'liquidateCall'],
      ['Contract', '0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB'],
      ['Detectors', 'flashLoan, drasticBalanceChange'],
      ['Trigger', 'group 1 of 3: flashLoan'],
      ['Not fired', 'mixer'],
      ['Transaction time', '2026-11-20 10:07:12 UTC'],
      ['Inspected', '2026-11-20 10:07:31 UTC'],
      ['Sent', '2026-11-20 10:07:55 UTC'],
      ['Inspection', '673d2f0a1b2c3d4e5f607182'],
    ]);
    expect(content.details.flatMap(({ note }) => note ?? [])).toEqual(['not an admin', 'privileged', 'Lending vault']);
  });

  test('copies the value alone, and links only what has the shape of a hash or an address', () => {
    const pieces = (item: JsonObject) => contentOf(inspectionAlert({ item })).lines.flat();
    expect(pieces({})).toContainEqual({
      text: '0x5d1c…ab12',
      copy: TX_HASH,
      url: `https://basescan.org/tx/${TX_HASH}`,
    });
    const urls = (item: JsonObject) => pieces(item).flatMap(({ url }) => url ?? []);
    expect(urls({})).toHaveLength(3);
    expect(urls({ chainId: '8453' })).toHaveLength(3);
    expect(urls({ chainId: 424_242 })).toEqual([]);
    expect(urls({ txHash: `${TX_HASH}/../evil`, txOrigin: 'javascript:alert(1)', assets: [] })).toEqual([]);
    for (const chainId of ['constructor', '__proto__', 'toString']) expect(urls({ chainId })).toEqual([]);
    expect(pieces({ chainId: 424_242 })).toContainEqual({ text: '0x5d1c…ab12', copy: TX_HASH, code: true });
  });

  test.each([
    ['suspecious', '🟠 SUSPICIOUS'],
    ['ok', '🟢 OK'],
    ['', '🟠 UNKNOWN'],
    ['brand new', '🟠 BRAND NEW'],
  ])('assessed %j is %s', (assessment, title) => {
    expect(contentOf(inspectionAlert({ item: { assessment } })).title).toBe(`${title} · Lending Pool · Lending vault`);
  });

  test('says in one sentence what the service left out', () => {
    expect(linesOf({ txHash: null, txOrigin: '', assets: 7 })).toEqual([
      'Call liquidateCall',
      'The monitoring service does not say in which transaction: look the inspection up there, by its id in the details.',
    ]);
    expect(linesOf({ detections: {} }).at(-1)).toBe(
      'The monitoring service does not say what was found: look at the transaction.',
    );
    expect(linesOf({ detections: {}, txHash: null }).at(-1)).toBe(
      'The monitoring service does not say what was found or in which transaction: look the inspection up there, by its id in the details.',
    );
    // The transaction, which is linked, has both.
    expect(linesOf({ txOrigin: null, assets: [] }).join()).not.toContain('The service');
  });

  test('names three contracts in its lines and all of them in its details', () => {
    const assets = ['A', 'B', 'C', 'D', 'E'].map((descriptor) => ({ descriptor }));
    const content = contentOf(inspectionAlert({ item: { assets } }));
    expect(content.title).toBe('🔴 CRITICAL · Lending Pool · A + 4 more');
    expect(content.lines.map(lineText).at(-1)).toBe('Call liquidateCall on A, B, C and 2 more');
    expect(detailsOf(content).filter(([label]) => label === 'Contract')).toHaveLength(5);
  });
});

suite('what helps to decide', () => {
  const said = (context: Alert['context'], sentAt = SENT_AT): string =>
    contentOf(inspectionAlert({ ...(context === undefined ? {} : { context }) }), sentAt)
      .lines.map(lineText)
      .join('\n');

  test.each([
    ['nothing is known', undefined],
    ['nothing can be told', {}],
    ['no group matched', { trigger: { groups: 5 } }],
    ['the memory is young', { first: { since: '2026-11-20T00:00:00.000Z', origin: true, detectors: true } }],
    ['it is not the first', { first: { since: '2026-01-01T00:00:00.000Z', origin: false, detectors: false } }],
  ])('is silent where %s', (_, context) => {
    expect(said(context)).toBe(said(undefined));
    expect(said(context)).not.toMatch(/unknown|none of|remembered|privileged|admin|first/);
  });

  test('names new detectors where the origin is not new', () => {
    expect(said({ first: { since: '2026-11-18T10:00:00.000Z', origin: false, detectors: true } })).toContain(
      'first alert of these detectors in 2 days',
    );
  });

  test('names what the sender is an admin of, unless that is the contract that was called', () => {
    expect(said({ adminOf: ['Lending vault'] })).toMatch(/· an admin( ·|$)/m);
    expect(said({ adminOf: ['Lending vault', 'Vault'] })).toContain('· an admin of Lending vault, Vault');
  });

  test('says since when the sender is an admin, where that is recent', () => {
    const adminSince = '2026-11-19T22:10:00.000Z';
    expect(said({ adminOf: ['Lending vault'], adminSince })).toMatch(
      /· an admin since (2026-11-19 )?22:10:00 UTC( ·|$)/m,
    );
  });

  test('names what the sender is an admin of, without letting the name speak for us', () => {
    expect(said({ adminOf: ['Vault · not an admin'] })).toContain('· an admin of Vault - not an admin');
  });
});

suite('times', () => {
  const times = (item: JsonObject, sentAt = SENT_AT, config: PresentationConfig = {}): string =>
    lineText(contentOf(inspectionAlert({ item }), sentAt, config).times);

  test('elapsed times agree with the clocks shown', () => {
    expect(times({ txTimestamp: '2026-11-20T10:07:12.900Z', createdAt: '2026-11-20T10:07:13.100Z' })).toBe(
      '10:07:12 UTC · inspected +1 s · sent +43 s',
    );
  });

  test('a clock that is behind makes no negative time', () => {
    expect(times({}, '2026-11-20T10:00:00.000Z')).toBe('10:07:12 UTC · inspected +19 s · sent 10:00:00 UTC');
  });

  test('a message that has grown says how often, and when it last did', () => {
    const sent = { presentation: createPresentation(), sentAt: Date.parse('2026-11-20T10:07:13Z') };
    const grown = (times: number) =>
      lineText(describe(inspectionAlert(), { ...sent, grew: { times, at: sent.sentAt + 3000 } }).times);
    expect(grown(4)).toBe('10:07:12 UTC · sent +1 s · updated 4 times, last +4 s');
    expect(grown(1)).toBe('10:07:12 UTC · sent +1 s · updated once, +4 s');
  });

  test('another day is named', () => {
    expect(times({}, '2026-11-23T10:07:55.000Z')).toBe('2026-11-20 10:07:12 UTC · inspected +19 s · sent +3 d');
  });

  test.each([
    ['2026-11-20', 'inspected 10:07:31 UTC · sent +24 s'],
    [null, 'inspected 10:07:31 UTC · sent +24 s'],
  ])('a transaction time of %j is left out', (txTimestamp, shown) => {
    expect(times({ txTimestamp })).toBe(shown);
  });

  test('are those of the protocol, of the config, else UTC', () => {
    const protocols = { overrides: { 'Lending Pool': { timeZone: 'America/New_York' } } };
    expect(times({}, SENT_AT, { timeZone: 'Europe/Berlin' })).toMatch(/^11:07:12 CET · /);
    expect(times({}, SENT_AT, { timeZone: 'Europe/Berlin', protocols })).toMatch(/^05:07:12 (EST|GMT-5) · /);
    expect(times({}, SENT_AT, { timeZone: 'Asia/Kolkata' })).toMatch(/^15:37:12 /);
  });

  test('carry the moment for a kind that knows its reader', () => {
    expect(contentOf().times[0]).toEqual({ text: '10:07:12 UTC', at: Date.parse('2026-11-20T10:07:12.000Z') });
  });
});

suite('what the config words', () => {
  test('names, prefix and links', () => {
    const content = contentOf(inspectionAlert(), SENT_AT, {
      alerts: { detectorNames: { flashLoan: 'Flash-Darlehen' } },
      protocols: { overrides: { 'Lending Pool': { prefix: '[staging]' } } },
      links: [{ label: 'Runbook', url: 'https://wiki.example.com/{detector}?p={protocol}', detectors: ['drastic*'] }],
    });
    expect(content.title).toBe('[staging] 🔴 CRITICAL · Lending Pool · Lending vault');
    expect(content.detections[0]).toMatchObject({ id: 'flashLoan', name: 'Flash-Darlehen' });
    expect(content.links[1]).toEqual({
      label: 'Runbook',
      url: 'https://wiki.example.com/drasticBalanceChange?p=Lending%20Pool',
    });
  });
});

suite('detections', () => {
  test('every status but notDetected counts, also one that nobody documented', () => {
    const detections = {
      a: { status: 'detected', message: 'm' },
      b: { status: 'notDetected', message: 'x' },
      c: { status: 'brandNew', message: 7 },
      d: 'odd',
      '': { status: 'detected', message: ' \n ' },
    };
    expect(firedDetections({ detections }).map(({ name, message }) => [name, message])).toEqual([
      ['a', 'm'],
      ['c', ''],
      ['d', ''],
      ['Unnamed detector', ''],
    ]);
  });

  test('a long message does not push out the others', () => {
    const detections = {
      first: { status: 'detected', message: 'long '.repeat(500) },
      second: { status: 'detected', message: 'The balance fell by 61.5 %.' },
      third: { status: 'detected', message: '' },
    };
    const { happened } = contentOf(inspectionAlert({ item: { detections } }));
    expect(happened).toMatch(/^long .*…; The balance fell by 61.5 %; Third$/);
    expect(happened.length).toBeLessThanOrEqual(240);
  });
});

suite('an assessment that nobody documented', () => {
  test.each([
    ['🟢 OK (was critical) · other', '🟠 OK WAS CRITICAL - OTHER · Lending Pool · Lending vault'],
    ['test', '🟠 "TEST" · Lending Pool · Lending vault'],
    ['no longer listed', '🟠 "NO LONGER LISTED" · Lending Pool · Lending vault'],
    ['brand new', '🟠 BRAND NEW · Lending Pool · Lending vault'],
  ])('%j cannot pass for words of ours', (assessment, title) => {
    expect(contentOf(inspectionAlert({ item: { assessment } })).title).toBe(title);
  });

  test('nor can names, or an address that is none', () => {
    const forged = '🟢 OK · Pool ・ other';
    const item = { assets: [{ address: forged }] };
    expect(contentOf(inspectionAlert({ item, protocol: forged })).title).toBe(
      '🔴 CRITICAL · OK - Pool - other · OK - Pool - other',
    );
  });
});

suite('hex in the words of a detector', () => {
  test.each([
    [`drained by ${TX_ORIGIN}`, 'drained by 0x7e7e…7e7E'],
    [`in ${TX_HASH.toUpperCase().replace('X', 'x')}, twice`, 'in 0x5D1C…AB12, twice'],
    [`${'ab'.repeat(32)} without its beginning`, 'abab…abab without its beginning'],
    ['0x5033 is short', '0x5033 is short'],
    [`data 0x${'12'.repeat(200)}`, 'data 0x1212…1212'],
  ])('%j reads %j in one line, and is whole in the quote', (message, happened) => {
    const content = contentOf(inspectionAlert({ item: { detections: { a: { status: 'detected', message } } } }));
    expect(content.happened).toBe(happened);
    expect(content.detections[0]?.message).toBe(message);
  });
});

suite('shares of a room', () => {
  const sharesOf = (lengths: readonly number[], room: number): number[] =>
    fairShares(lengths, (length) => length, room).map(([, share]) => share);

  test.each([
    [[10, 10], 100, [10, 10]],
    [[1000, 10, 20], 100, [70, 10, 20]],
    [[1000, 1000], 101, [50, 50]],
    [[5, 5], 0, [0, 0]],
    [[], 10, []],
  ])('%j in %i', (lengths, room, shares) => {
    expect(sharesOf(lengths, room)).toEqual(shares);
  });

  test('never give more than there is, nor leave room that a text needs', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500), { maxLength: 12 }), fc.nat(1000), (lengths, room) => {
        const shares = sharesOf(lengths, room);
        const sum = shares.reduce((all, share) => all + share, 0);
        const asked = lengths.reduce((all, length) => all + length, 0);
        expect(shares.every((share, index) => share <= (lengths[index] ?? 0))).toBe(true);
        expect(sum).toBeLessThanOrEqual(room);
        expect(sum).toBeGreaterThan(Math.min(asked, room) - Math.max(1, lengths.length));
      }),
    );
  });
});

suite('a stored notification', () => {
  test('is shown whole, and its first line says what happened', () => {
    const content = contentOf(notificationAlert('Paused.\r\nby the guardian'), '2026-11-20T11:22:57.000Z');
    expect(content).toMatchObject({
      title: '🟠 NOTIFICATION · Lending Pool',
      happened: 'Paused',
      message: 'Paused.\nby the guardian',
      isOurs: false,
    });
    expect(lineText(content.times)).toBe('written 11:22:33 UTC · sent +24 s');
    expect(detailsOf(content).map(([label]) => label)).toEqual(['Written', 'Sent', 'Notification']);
  });

  test.each([
    ['Critical: the pool was drained', '🔴 CRITICAL · Lending Pool · notification', 'critical'],
    ['The pool was paused\nSeverity: warning', '🟠 WARNING · Lending Pool · notification', 'suspicious'],
    ['[info] the guardian was rotated', '🟢 INFO · Lending Pool · notification', 'calm'],
    ['Nothing critical', '🟠 NOTIFICATION · Lending Pool', 'suspicious'],
  ])('%j says how bad it is, and the title that it is a notification', (message, title, tone) => {
    expect(contentOf(notificationAlert(message))).toMatchObject({ title, tone });
  });

  test.each([
    ['CRITICAL: Pool A lost 90%', 'Pool A lost 90%'],
    ['🔴 [Critical] Pool A lost 90%', 'Pool A lost 90%'],
    ['Critical\nPool A lost 90%.', 'Pool A lost 90%'],
    ['**High** - Pool A lost 90%', 'Pool A lost 90%'],
    ['Critical finding in Pool A', 'finding in Pool A'],
    ['Info: Pool A lost 90%\nSeverity: critical', 'Info: Pool A lost 90%'],
    ['Critical', 'Critical'],
  ])('the headline of %j does not say twice how bad it is', (message, happened) => {
    const content = contentOf(notificationAlert(message));
    expect(content).toMatchObject({ happened, message });
  });

  test('says what happened without whole hashes and addresses, which its text keeps', () => {
    const message = `Pool drained by ${TX_ORIGIN} in ${TX_HASH}`;
    const content = contentOf(notificationAlert(message));
    expect(content.happened).toBe('Pool drained by 0x7e7e…7e7e in 0x5d1c…ab12');
    expect(content.headline).toContain(content.happened);
    expect(content.message).toBe(message);
  });

  test('an announcement never takes its severity from a text that it quotes', () => {
    const alert = notificationAlert('Critical: x', { type: 'tocsin.trouble.begun' });
    expect(contentOf(alert)).toMatchObject({ severity: 'TOCSIN', tone: 'trouble' });
    expect(contentOf(alert).messageLines).toEqual([[{ text: 'Critical: x' }]]);
    expect(contentOf(notificationAlert('Critical: x'))).not.toHaveProperty('messageLines');
  });

  test('names its transaction where it has one', () => {
    const content = contentOf(notificationAlert('x', { txHash: TX_HASH }));
    expect(content.lines).toEqual([[{ text: 'Transaction ' }, { text: '0x5d1c…ab12', code: true, copy: TX_HASH }]]);
    expect(detailsOf(content)[0]).toEqual(['Transaction', TX_HASH]);
  });
});

suite('what is no news', () => {
  test('is said in the title and in a sentence', () => {
    expect(contentOf(inspectionAlert({ replay: true }))).toMatchObject({
      title: '🔴 CRITICAL (old alert) · Lending Pool · Lending vault',
      notice: expect.stringMatching(/^Old alert: /),
    });
    expect(contentOf(notificationAlert('x', { replay: true })).title).toBe(
      '🟠 NOTIFICATION (old alert) · Lending Pool',
    );
  });

  test('a sample links to nothing: what it names does not exist', () => {
    const links = [{ label: 'Simulator', url: 'https://sim.example.com/{hash}' }];
    const content = contentOf(inspectionAlert({ type: 'test.sample', replay: true }), SENT_AT, { links });
    expect(content).toMatchObject({
      word: 'TEST',
      tone: 'test',
      notice: 'This is a test. Nothing happened.',
      links: [],
    });
    expect([...content.lines.flat(), ...content.details].filter(({ url }) => url !== undefined)).toEqual([]);
    expect(content.lines.flat()).toContainEqual({ text: '0x5d1c…ab12', copy: TX_HASH, code: true });
  });
});

suite('a follow-up', () => {
  test.each([
    ['suspecious', '🟠 SUSPICIOUS', 'suspicious'],
    ['ok', '🟢 OK', 'calm'],
    [undefined, '🔵 NO LONGER LISTED', 'news'],
  ])('to %j says in its title what it is now, and then that it follows', (is, severity, tone) => {
    const followUp = { of: 'first', was: 'critical', ...(is === undefined ? {} : { is }) };
    const content = contentOf(inspectionAlert({ type: 'inspection.downgraded', followUp, context: CONTEXT }));
    expect(content).toMatchObject({
      title: `${severity} (was CRITICAL) · Lending Pool · Lending vault`,
      tone,
      was: 'CRITICAL',
      happened: expect.stringMatching(
        /^(?:the service calls it [a-z ]+\. )?It was: “Borrowed 12,400 ETH .*; Balance fell by 61.5 %”(?:\. This does not mean that nothing happened: check the transaction\.)?$/,
      ),
      isFollowUp: true,
      notice: expect.stringMatching(
        /^The service [a-z ]+\. It was: “Borrowed 12,400 ETH .*”\. (?:The service gives no reason: .* stand down|This does not mean .*)\.$/,
      ),
      detections: [],
    });
    expect(content.lines.map(lineText)).toEqual(['0x5d1c…ab12 on Base']);
  });

  test('if it is worse than before, says what happened, by whom and to what, as any alert does', () => {
    const worse = { followUp: { of: 'first', was: 'suspecious', is: 'critical' }, context: CONTEXT };
    const content = contentOf(inspectionAlert({ type: 'inspection.upgraded', ...worse }));
    const fresh = contentOf(inspectionAlert({ context: CONTEXT }));
    const { happened, detections, lines } = fresh;
    expect(content).toMatchObject({
      ...{ title: '🔴 CRITICAL (was SUSPICIOUS) · Lending Pool · Lending vault', happened, detections, lines },
    });
    expect(detections).not.toEqual([]);
    // The title says what changed.
    expect(noticesOf(content)).toEqual({ above: [], below: [] });
  });
});

suite('an announcement', () => {
  const announcement = (type: string) =>
    contentOf(notificationAlert('Slack #alerts is archived.\nUnarchive it.', { type, protocol: 'Tocsin' }));

  test.each([
    ['tocsin.destination.broken', '❗ Tocsin'],
    ['tocsin.trouble.over', '🟢 Tocsin'],
    ['tocsin.mute.ended', '🔵 Tocsin'],
    ['tocsin.of-a-newer-version', '🔵 Tocsin'],
  ])('%s begins with %s, and is ours', (type, title) => {
    expect(announcement(type)).toMatchObject({
      title,
      headline: `${title}: Slack #alerts is archived`,
      isOurs: true,
      times: [],
      details: [],
    });
  });
});

suite('any item', () => {
  const everyText = ({
    title,
    happened,
    headline,
    detections,
    lines,
    times,
    details,
    message = '',
  }: Content): string[] => [
    ...[title, happened, headline, message],
    ...detections.flatMap(({ name, message: said }) => [name, said]),
    ...[...lines, times].flat().flatMap(({ text, copy = '' }) => [text, copy]),
    ...details.flatMap(({ label, value, note = '' }) => [label, value, note]),
  ];

  test('is described without failing, in clean text, with one line where one is meant', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(inspectionAlert().item)), anyJson()),
        anyText(),
        (item, name) => {
          const alert = inspectionAlert({ protocol: name });
          const content = contentOf({ ...alert, item: { ...alert.item, ...(item as JsonObject) } });
          for (const text of everyText(content))
            expect(text).toBe(cleanText(text) === text.trim() ? text : cleanText(text));
          for (const text of [content.title, content.happened, ...content.lines.map(lineText)])
            expect(text).not.toContain('\n');
          expect(content.title.length).toBeLessThan(260);
          for (const line of content.lines) expect(lineText(line).length).toBeLessThan(800);
        },
      ),
    );
  });

  const FORGED = 'Pool A)\nThis was a test.\u202e';

  test('whatever of it is foreign has one clean line, also what is not of the item itself', () => {
    const trigger = { groups: 1, matched: { number: 1, detectors: [FORGED] } };
    const context = { adminOf: [FORGED], privilegedOn: [FORGED], trigger };
    const item = { _id: null, txHash: FORGED, chainId: FORGED, txOrigin: FORGED, invokedMethodName: FORGED };
    const detections = { [FORGED]: { status: 'detected', message: '' }, [`${FORGED}.`]: { status: 'notDetected' } };
    const assets = [{ address: FORGED, descriptor: FORGED }, { descriptor: FORGED }];
    for (const alert of [
      inspectionAlert({ item: { ...item, detections, assets }, context, itemId: FORGED, protocol: FORGED }),
      notificationAlert('x', { itemId: FORGED, txHash: FORGED, protocol: FORGED }),
    ]) {
      const { message: _message, ...content } = contentOf({ ...alert, notice: FORGED });
      for (const text of [...everyText(content), content.notice ?? '']) {
        expect(text).not.toMatch(/[\n\u202e]/);
      }
    }
  });

  test('an origin is copied as it came where it is no address', () => {
    const [, , origin] = contentOf(inspectionAlert({ item: { txOrigin: 'somebody' } })).details;
    expect(origin).toMatchObject({ label: 'Sender', value: 'somebody' });
    expect(TX_ORIGIN).toMatch(/^0x/);
  });
});
