import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Alert, JsonObject } from '../../src/alert.ts';
import { checksumAddress } from '../../src/channels/content/finding.ts';
import { createPresentation } from '../../src/channels/content/presentation.ts';
import { describeDigest } from '../../src/channels/digest.ts';
import {
  type DigestContent,
  digestFile,
  itemLine,
  nameOf,
  titleOf,
  topOf,
  worstOf,
} from '../../src/channels/digest-content.ts';
import { DIGEST_MAX } from '../../src/channels/incidents.ts';
import { atOnce } from '../../src/chunks.ts';
import { cleanLine } from '../../src/text.ts';
import { inspectionAlert, notificationAlert, TX_HASH, TX_ORIGIN } from '../support/alerts.ts';
import { HOSTILE_TEXTS } from '../support/hostile.ts';
import { anyAlerts, hashOf, oneIncident, storm, stormAlert } from '../support/parcels.ts';
import { anyText } from '../support/texts.ts';
import { wordsOf } from '../support/words.ts';

const SENT_AT = '2026-11-20T10:20:00.000Z';

const wording = { presentation: createPresentation(), sentAt: Date.parse(SENT_AT) };
const digest = (alerts: readonly Alert[]): DigestContent => atOnce(describeDigest(alerts, wording));

describe('a digest', () => {
  const mixed = [...storm(118), notificationAlert('Paused\nby the guardian'), notificationAlert('Open again')];

  test('counts by severity, protocol, detector and contract', () => {
    const content = digest(mixed);
    expect(content).toMatchObject({
      title: '🔴 120 alerts in 4 protocols: 118 critical, 2 notifications',
      severity: 'CRITICAL',
      alerts: 120,
      span: '2026-11-20 10:07:12 to 11:22:33 UTC',
      why: expect.stringMatching(/^Too many at once/),
    });
    expect(content.headline).toBe(
      `🔴 120 alerts, worst: ${content.items[0]?.headline.replace('🔴 ', '')}; ${content.title.replace('🔴 ', '')}`,
    );
    expect(
      content.tables.map(({ title, counts }) => [title, counts.map(({ name, count }) => `${count} ${name}`)]),
    ).toEqual([
      ['Protocols', ['40 Vault A', '39 Vault B', '39 Vault C', '2 Lending Pool']],
      ['Detectors', ['118 Drastic balance change', '118 Flash loan']],
      ['Contracts', expect.arrayContaining([`17 Asset 0 (${checksumAddress(`0x${'c'.repeat(39)}0`)})`])],
      ['Senders', [`118 ${checksumAddress(TX_ORIGIN)}`]],
    ]);
    expect(topOf(content.tables[2] ?? { title: '', counts: [] }, 5)).toMatchObject({ rows: { length: 5 }, more: 2 });
  });

  test.each([
    [storm(120), '🔴 120 critical alerts in 3 protocols'],
    [[stormAlert(0), stormAlert(3)], '🔴 2 critical alerts in “Vault A”'],
    [['a', 'b'].map((text) => notificationAlert(text)), '🟠 2 notifications in “Lending Pool”'],
    [[stormAlert(0), notificationAlert('x')], '🔴 2 alerts in 2 protocols: 1 critical, 1 notification'],
    [storm(6).map((alert) => ({ ...alert, replay: true })), '🔴 Old alerts: 6 critical alerts in 3 protocols'],
  ])('is called by what is in it', (alerts, title) => {
    expect(digest(alerts).title).toBe(title);
  });

  test('puts the worst first: by severity, then by what happened, one of each kind before a second, then older', () => {
    const detections = { a: { status: 'detected' }, b: { status: 'detected' }, c: { status: 'detected' } };
    const alerts = [
      notificationAlert('stored', { itemId: 'stored' }),
      stormAlert(3, { item: { assessment: 'ok' } }),
      stormAlert(4, { item: { assessment: 'suspecious', detections } }),
      stormAlert(5),
      stormAlert(1),
      stormAlert(6, { item: { detections } }),
      stormAlert(7, { item: { assessment: 'brand new' } }),
      stormAlert(8, { followUp: { of: 'x', was: 'critical', is: 'ok' } }),
    ];
    expect(digest(alerts).items.map(({ ids }) => ids)).toEqual([
      'storm6',
      'storm1',
      'storm5',
      'storm4',
      'storm7',
      'stored',
      'storm8',
      'storm3',
    ]);
  });

  test('ranks by what happened, and by what a text states or by age only where all else is equal', () => {
    const fired = (message: string) => ({ detections: { a: { status: 'detected', message } } });
    const of = (index: number, message: string, context: Alert['context'] = {}): Alert =>
      stormAlert(index, { item: fired(message), context });
    const first = (origin: boolean) => ({ first: { since: '2026-01-01T00:00:00.000Z', origin } });
    const alerts = [
      of(0, 'nothing special'),
      of(1, 'Balance fell by 12 %'),
      of(2, 'Supply grew by 1,000,000 %'),
      of(3, 'Balance fell by 96.5 %'),
      of(4, 'x', first(true)),
      of(5, 'x', { trigger: { groups: 2, matched: { number: 1, detectors: ['a'] } }, ...first(true) }),
      of(6, 'x', { adminOf: ['Vault'] }),
      of(7, 'x', { privilegedOn: ['Vault'] }),
      of(8, 'x', { privilegedOn: ['Vault'], adminOf: ['Vault'] }),
    ];
    const { items } = digest(alerts);
    expect(items.map(({ ids }) => Number(ids.replace('storm', '')))).toEqual([8, 6, 7, 5, 4, 3, 1, 0, 2]);
    expect(items[0]?.reasons).toEqual(['privileged call', 'sender is an admin']);
    expect(items.find(({ ids }) => ids === 'storm3')?.reasons).toEqual(['97 %']);
    expect(items.at(-1)?.reasons).toEqual([]);
    const young = { first: { since: '2026-11-20T09:00:00.000Z', origin: true } };
    expect(digest([of(0, 'x', young)]).items[0]?.reasons).toEqual([]);
  });

  test('ranks stored notifications by the percentage that they state, and announcements of ours not at all', () => {
    const stored = (itemId: string, message: string, changes: Partial<Alert> = {}): Alert =>
      notificationAlert(message, { itemId, ...changes });
    const alerts = [
      stored('none', 'Paused by the guardian', { at: '2026-11-20T11:22:31.000Z' }),
      stored('small', 'Balance fell by 3 %', { at: '2026-11-20T11:22:32.000Z' }),
      stored('large', 'Balance fell by 61.5 %'),
      stored('severe', 'Critical: paused'),
    ];
    const { items } = digest(alerts);
    expect(items.map(({ ids }) => ids)).toEqual(['severe', 'large', 'small', 'none']);
    expect(items.map(({ reasons }) => reasons)).toEqual([[], ['62 %'], ['3 %'], []]);
    const ours = stored('ours', 'The disk is 99 % full', { type: 'tocsin.trouble.begun' });
    expect(digest([ours]).items[0]?.reasons).toEqual([]);
  });

  test('says of each why it ranks high, but not what all of them have or what stands in the words above', () => {
    const of = (index: number, detections: JsonObject, adminOf: string[] = []): Alert =>
      stormAlert(index, {
        item: { detections },
        context: { adminOf, trigger: { groups: 2, matched: { number: 1, detectors: ['a'] } } },
      });
    const said = (message: string) => ({ status: 'detected', message });
    const alerts = [
      of(0, { a: said('Balance fell by 96.5 %') }, ['Vault']),
      of(1, { a: said('Paused'), b: said('Balance fell by 96.5 %') }),
      of(2, { a: said(`${'A long story. '.repeat(20)}Balance fell by 12 %`) }),
    ];
    const remarks = (some: Alert[]) => digest(some).items.map((item) => item.remarks);
    expect(remarks(alerts)).toEqual([['sender is an admin'], ['97 %'], ['12 %']]);
    expect(digest(alerts).items[0]?.reasons).toEqual(['sender is an admin', '97 %']);
    expect(digest(alerts).items[0]).toMatchObject({ chain: 'Base (8453)', chainName: 'Base' });
  });

  test('shows many that are alike as one, so that they do not hide what else there is', () => {
    const alike = Array.from({ length: 11 }, (_, n) =>
      stormAlert(0, { item: { _id: `alike-${n}`, txHash: hashOf(900 + n) } }),
    );
    const few = digest([...alike.slice(1), stormAlert(1)]);
    expect(worstOf(few, 20).map(titleOf)).toHaveLength(11);
    const many = digest([...alike, stormAlert(1)]);
    expect(worstOf(many, 20).map(titleOf).toSorted()).toEqual([
      '🔴 CRITICAL · Vault A · Asset 0 ×11',
      '🔴 CRITICAL · Vault B · Asset 1',
    ]);
    expect(many.items).toHaveLength(12);
  });

  test('lists origins with links', () => {
    const origins = digest(mixed).tables.find(({ title }) => title === 'Senders');
    const address = checksumAddress(TX_ORIGIN);
    expect(origins?.counts[0]).toEqual({ name: address, count: 118, url: `https://basescan.org/address/${address}` });
  });

  test('in a storm says which message it is, and how many alerts there were so far', () => {
    const saying = (storming?: { message: number; alerts: number }) => {
      const { title, why } = atOnce(describeDigest(storm(6), wording, storming));
      return { title, why };
    };
    expect(saying({ message: 1, alerts: 6 })).toEqual(saying());
    expect(saying({ message: 3, alerts: 2000 })).toEqual({
      title: `${saying().title}, 2,000 so far`,
      why: 'Storm, message 3. The worst comes first: start there.',
    });
  });

  test('takes what turned critical as critical, and is called by the worst severity all the same', () => {
    const turned = stormAlert(1, { followUp: { of: 'x', was: 'suspecious', is: 'critical' } });
    const content = digest([stormAlert(2, { item: { assessment: 'suspecious' } }), turned]);
    expect(content.items[0]?.headline).toMatch(/^🔴 CRITICAL \(was SUSPICIOUS\) · Vault B · Asset 1: (?!follow-up)/);
    expect(content.severity).toBe('CRITICAL');
    expect(content.title).toBe('🔴 2 alerts in 2 protocols: 1 critical, 1 suspicious');
  });

  test('counts what turned better apart from what is new, and after it', () => {
    const ended = (n: number, is?: string) =>
      stormAlert(n, {
        type: is === undefined ? 'inspection.vanished' : 'inspection.downgraded',
        followUp: { of: 'x', was: 'critical', ...(is === undefined ? {} : { is }) },
      });
    const content = digest([ended(1, 'ok'), ended(2), ended(3, 'suspecious'), stormAlert(4)]);
    expect(content.title).toBe('🔴 4 alerts in 3 protocols: 1 critical, 3 follow-ups');
    expect(content.items.map(({ title }) => title)).toEqual([
      '🔴 CRITICAL · Vault B · Asset 4',
      '🟠 SUSPICIOUS (was CRITICAL) · Vault A · Asset 3',
      '🟢 OK (was CRITICAL) · Vault B · Asset 1',
      '🔵 NO LONGER LISTED (was CRITICAL) · Vault C · Asset 2',
    ]);
  });

  test('shows alerts of one transaction as one item', () => {
    const content = digest([...storm(9), ...oneIncident()]);
    expect(content).toMatchObject({ alerts: 12, items: { length: 10 } });
    expect(content.items.find(({ hash }) => hash === hashOf(999))).toMatchObject({
      title: '🔴 CRITICAL · 3 protocols · one transaction',
      happened: 'Lending Pool: Borrowed 12,400 ETH; Stable Vault: Funded by a mixer; Treasury: Borrowed 12,400 ETH',
      ids: 'incident0, incident1, incident2',
    });
  });

  test('says why they come this way, and for how many of them', () => {
    const [first, ...rest] = storm(6);
    const notice = 'Slack did not take it.';
    expect(digest(storm(6)).notice).toBeUndefined();
    expect(digest(storm(6).map((alert) => ({ ...alert, notice }))).notice).toBe(notice);
    expect(digest([{ ...first, notice } as Alert, ...rest]).notice).toBe(`1 of them: ${notice}`);
    const many = storm(30).map((alert, n) => ({ ...alert, notice: `reason ${n}` }));
    expect(digest(many).notice).toContain('And 25 more reasons.');
    expect(digest(many.slice(0, 6)).notice).toContain('And 1 more reason.');
    expect(digest(storm(6).map((alert) => ({ ...alert, replay: true }))).notice).toMatch(/^Old alerts: /);
  });

  test('names the command that lists all of it, made of nothing but times', () => {
    expect(digest(storm(6)).command).toBe(
      'tocsin replay --since 2026-11-20T10:07:30Z --until 2026-11-20T10:07:33Z --dry-run',
    );
    const odd = storm(6).map((alert) => ({ ...alert, at: '$(reboot)' }));
    expect(digest(odd).command).toMatch(/^tocsin replay --since 24h --dry-run$/);
  });

  test('is the same for the same alerts', () => {
    expect(digest(storm(9).toReversed()).id).toBe(digest(storm(9)).id);
    expect(digest(storm(8)).id).not.toBe(digest(storm(9)).id);
  });
});

describe('a digest as a file', () => {
  test('reads like this', () => {
    const { name, text } = atOnce(digestFile(digest([...storm(1), notificationAlert('Paused\nby the guardian')])));
    expect(name).toMatch(/^tocsin-digest-[0-9a-f]{8}\.txt$/);
    expect(text).toBe(`🔴 2 alerts in 2 protocols: 1 critical, 1 notification
2026-11-20 10:07:12 to 11:22:33 UTC
Too many at once for single messages. The worst comes first: start there.

Protocols
      1  Lending Pool
      1  Vault A

Detectors
      1  Drastic balance change
      1  Flash loan

Contracts
      1  Asset 0 (${checksumAddress(`0x${'c'.repeat(39)}0`)})

Senders
      1  ${checksumAddress(TX_ORIGIN)}

All of them, the worst first

1. 🔴 CRITICAL · Vault A · Asset 0 (62 %)
   ${hashOf(0)}  Base (8453)  2026-11-20 10:07:12 UTC  id storm0
   https://basescan.org/tx/${hashOf(0)}
   > Flash loan: Borrowed 12,400 ETH and repaid in the same transaction
   > Drastic balance change: Balance fell by 61.5 %

2. 🟠 NOTIFICATION · Lending Pool
   2026-11-20 11:22:33 UTC  b7f2c0de11aa22bb33cc44dd55ee66ff
   > Paused
   > by the guardian
`);
  });

  test('quotes every line of what is from outside, so that none passes for an item', () => {
    const { text } = atOnce(
      digestFile(digest([...storm(1), notificationAlert('Paused\n\n99. 🟢 OK · Harbor Lending')])),
    );
    expect(text).toContain('\n   > Paused\n   > \n   > 99. 🟢 OK · Harbor Lending\n');
  });

  test('has its times in the zone of its protocols where all are of one, else in that of the config', () => {
    const presentation = createPresentation({
      timeZone: 'Europe/Berlin',
      protocols: { overrides: { 'Vault A': { timeZone: 'Asia/Kolkata' } } },
    });
    const timesOf = (alerts: readonly Alert[]) => {
      const { span, items } = atOnce(describeDigest(alerts, { ...wording, presentation }));
      return [span, items[0]?.time];
    };
    expect(timesOf([stormAlert(0), stormAlert(3)])).toEqual([
      '2026-11-20 15:37:12 to 15:37:15 IST',
      '2026-11-20 15:37:12 IST',
    ]);
    expect(timesOf([stormAlert(0), stormAlert(1)])).toEqual([
      '2026-11-20 11:07:12 to 11:07:13 CET',
      '2026-11-20 11:07:12 CET',
    ]);
  });

  test('of replayed history says nothing of a storm', () => {
    const replayed = storm(6).map((alert) => ({ ...alert, replay: true }));
    expect(atOnce(describeDigest(replayed, wording, { message: 3, alerts: 2000 })).why).toMatch(/^Too many/);
  });

  test('of the largest digest stays within what mail and chat carry, however long its texts are', () => {
    const said = '漢'.repeat(700);
    const detections = { [said]: { status: 'detected', message: said } };
    const item = { detections, assets: [{ address: said, descriptor: said }] };
    const alerts = storm(DIGEST_MAX).map((alert) => ({ ...alert, protocol: said, item: { ...alert.item, ...item } }));
    expect(Buffer.byteLength(atOnce(digestFile(digest(alerts))).text)).toBeLessThan(8_000_000);
  });

  test('of a whole storm names every transaction in less than two megabytes', () => {
    const { text } = atOnce(digestFile(digest(storm(DIGEST_MAX))));
    expect(text.length).toBeLessThan(2_000_000);
    const named = new Set(text.match(/0x[0-9a-f]{64}/g));
    expect(storm(DIGEST_MAX).filter(({ txHash = '' }) => !named.has(txHash))).toEqual([]);
  });

  test('says how much of a long text is left out', () => {
    const { text } = atOnce(digestFile(digest([notificationAlert('x'.repeat(25_000)), ...storm(6)])));
    expect(text).toContain('x… [5000 characters left out]');
  });
});

describe('any alerts', () => {
  test('each is an item, each hash is in the file, and no text makes a line of its own', () => {
    fc.assert(
      fc.property(anyAlerts(40), anyText(), (alerts, hostile) => {
        fc.pre(alerts.length > 0);
        const content = digest(alerts.map((alert) => ({ ...alert, protocol: hostile, notice: hostile })));
        const { text } = atOnce(digestFile(content));
        for (const { txHash = '' } of alerts) expect(text).toContain(txHash);
        for (const item of content.items) {
          expect(text).toContain(nameOf(item));
          for (const line of [itemLine(item), item.headline, item.protocol, item.time, ...item.detectors]) {
            expect(line).toBe(cleanLine(line));
            expect(line.length).toBeLessThan(400);
          }
        }
        const heads = text.split('\n').filter((line) => /^\d+\. /.test(line));
        expect(heads).toHaveLength(content.items.length);
        expect(content.headline.length).toBeLessThan(600);
        expect(content.severity.length).toBeLessThan(150);
      }),
    );
  });

  test.each(HOSTILE_TEXTS)('hostile text is shown as text: %j', (hostile) => {
    const detections = { [hostile]: { status: 'detected', message: hostile } };
    const alerts = storm(6).map((alert) => ({ ...alert, protocol: hostile, item: { ...alert.item, detections } }));
    const { text } = atOnce(digestFile(digest([...alerts, notificationAlert(hostile)])));
    for (const word of wordsOf(hostile)) expect(text).toContain(word);
    expect(text.split('\n').map(cleanLine)).toEqual(text.split('\n').map((line) => line.trim().replace(/\s+/g, ' ')));
  });

  test('items of odd shapes are items all the same', () => {
    const items = [{}, { txHash: 7, detections: 'x', assets: { a: 1 }, chainId: [], txTimestamp: 'soon' }];
    const { txHash: _txHash, ...nameless } = inspectionAlert();
    const content = digest(items.map((item, n) => ({ ...nameless, id: `${n}`, item, at: 'never' })));
    expect(content).toMatchObject({ alerts: 2, span: 'unknown', items: [{ time: 'unknown' }, { time: 'unknown' }] });
    expect(atOnce(digestFile(content)).text).not.toContain(TX_HASH);
  });
});
