import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { WELL_KNOWN_CHAINS } from '../../src/channels/chains.ts';
import { describeDigest } from '../../src/channels/digest.ts';
import { type DigestContent, nameOf, topOf } from '../../src/channels/digest-content.ts';
import { digestFile, itemLine } from '../../src/channels/digest-file.ts';
import { describeIncident } from '../../src/channels/incident-content.ts';
import { DIGEST_MAX } from '../../src/channels/incidents.ts';
import { atOnce } from '../../src/slices.ts';
import { cleanLine } from '../../src/text.ts';
import { inspectionAlert, notificationAlert, TX_HASH, TX_ORIGIN } from '../support/alerts.ts';
import { HOSTILE_TEXTS } from '../support/hostile.ts';
import { anyAlerts, hashOf, oneIncident, storm, stormAlert } from '../support/parcels.ts';
import { anyText } from '../support/texts.ts';
import { wordsOf } from '../support/words.ts';

const SENT_AT = '2026-11-20T10:20:00.000Z';

const incident = (alerts: readonly Alert[]) => atOnce(describeIncident(alerts, WELL_KNOWN_CHAINS, SENT_AT));
const digest = (alerts: readonly Alert[]): DigestContent => atOnce(describeDigest(alerts, WELL_KNOWN_CHAINS, SENT_AT));
const factsOf = (alerts: readonly Alert[]) =>
  Object.fromEntries(incident(alerts).facts.map(({ label, items, value }) => [label, items ?? value]));

describe('an incident of several alerts', () => {
  test('names every protocol, asset and id, the transaction once, and each detection once', () => {
    expect(incident(oneIncident())).toMatchObject({
      headline: 'CRITICAL: Lending Pool + 2 more: flashLoan, mixer',
      severity: 'CRITICAL',
      protocol: 'Lending Pool + 2 more',
      detections: [
        { name: 'flashLoan', message: 'Borrowed 12,400 ETH' },
        { name: 'mixer (Stable Vault)', message: 'Funded by a mixer' },
      ],
    });
    expect(incident(oneIncident())).not.toHaveProperty('notice');
    expect(factsOf(oneIncident())).toMatchObject({
      Transaction: hashOf(999),
      Chain: 'Base (8453)',
      Protocols: ['Lending Pool', 'Stable Vault', 'Treasury'],
      Method: 'liquidateCall',
      Assets: ['Shared vault (0xa)', 'Lending Pool proxy (0xb0)', 'Stable Vault proxy (0xb1)', 'Treasury proxy (0xb2)'],
      Inspected: expect.stringMatching(/^2026-11-20 10:07:30 UTC .*, the last 2026-11-20 10:07:32 UTC$/),
      Inspection: ['incident0', 'incident1', 'incident2'],
    });
    const labels = incident(oneIncident()).facts.map(({ label }) => label);
    expect([...labels.slice(0, 3), labels.at(-1)]).toEqual(['Transaction', 'Chain', 'Protocols', 'Inspection']);
    expect(new Set(labels).size).toBe(labels.length);
  });

  test('of one alert is the alert', () => {
    expect(incident([inspectionAlert()]).headline).toBe('CRITICAL: Lending Pool: flashLoan, drasticBalanceChange');
    expect(() => incident([])).toThrow('at least one');
  });

  test('is as bad as the worst of them, and says whose a fact is where they differ', () => {
    const [first, second] = oneIncident();
    const mild = {
      ...first,
      item: { ...first?.item, assessment: 'suspecious', invokedMethodName: 'withdraw' },
    } as Alert;
    expect(incident([mild, second as Alert]).headline).toMatch(/^CRITICAL: Stable Vault \+ 1 more: /);
    expect(factsOf([mild, second as Alert]).Method).toEqual(['Stable Vault: liquidateCall', 'Lending Pool: withdraw']);
  });

  test('links an origin once, with all that is known of it', () => {
    const context = (adminOf: string[] | undefined) => ({ ...(adminOf ? { adminOf } : {}) });
    const alerts = [['Vault'], [], undefined].map((adminOf, n) => ({
      ...(oneIncident()[n] as Alert),
      context: context(adminOf),
    }));
    const origin = incident(alerts).facts.find(({ label }) => label === 'Origin');
    expect(origin).toEqual({
      label: 'Origin',
      value: `${TX_ORIGIN} (an admin of Vault; unknown whether an admin)`,
      url: `https://basescan.org/address/${TX_ORIGIN}`,
    });
  });

  test('named twice by one protocol, it is listed once', () => {
    const twice = ['a', 'b'].map((_id) => inspectionAlert({ item: { _id } }));
    expect(incident(twice)).toMatchObject({
      protocol: 'Lending Pool',
      detections: incident(twice.slice(0, 1)).detections,
    });
    expect(factsOf(twice)).not.toHaveProperty('Protocols');
  });

  test('says once why it comes this way, and that it is history', () => {
    const alerts = oneIncident().map((alert) => ({ ...alert, notice: 'By another way.', replay: true }));
    expect(incident(alerts)).toMatchObject({
      headline: expect.stringMatching(/^CRITICAL \(replay\): /),
      notice: 'By another way. Replay: this was found earlier and is forwarded again.',
    });
  });
});

describe('a digest', () => {
  const mixed = [...storm(118), notificationAlert('Paused\nby the guardian'), notificationAlert('Open again')];

  test('counts by severity, protocol, detector and contract', () => {
    const content = digest(mixed);
    expect(content).toMatchObject({
      title: '120 alerts in 4 protocols: 118 critical, 2 notifications',
      severity: 'CRITICAL',
      alerts: 120,
      span: '2026-11-20 10:07:12 to 11:22:33 UTC',
      why: expect.stringMatching(/^One message for all of them: /),
    });
    expect(content.headline).toBe(`${content.title}; worst: CRITICAL: Vault A: flashLoan, drasticBalanceChange`);
    expect(
      content.tables.map(({ title, counts }) => [title, counts.map(({ name, count }) => `${count} ${name}`)]),
    ).toEqual([
      ['Protocols', ['40 Vault A', '39 Vault B', '39 Vault C', '2 Lending Pool']],
      ['Detectors', ['118 drasticBalanceChange', '118 flashLoan']],
      ['Contracts', expect.arrayContaining([`17 Asset 0 (0x${'c'.repeat(39)}0)`])],
    ]);
    expect(topOf(content.tables[2] ?? { title: '', counts: [] }, 5)).toMatchObject({ rows: { length: 5 }, more: 2 });
  });

  test.each([
    [storm(120), '120 critical alerts in 3 protocols'],
    [[stormAlert(0), stormAlert(3)], '2 critical alerts in Vault A'],
    [['a', 'b'].map((text) => notificationAlert(text)), '2 notifications in Lending Pool'],
    [[stormAlert(0), notificationAlert('x')], '2 alerts in 2 protocols: 1 critical, 1 notification'],
    [storm(6).map((alert) => ({ ...alert, replay: true })), 'REPLAY: 6 critical alerts in 3 protocols'],
  ])('is called by what is in it', (alerts, title) => {
    expect(digest(alerts).title).toBe(title);
  });

  test('puts the worst first: by severity, then more detectors, then older', () => {
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

  test('takes what turned critical as critical, and is called by the worst severity all the same', () => {
    const turned = stormAlert(1, { followUp: { of: 'x', was: 'suspecious', is: 'critical' } });
    const content = digest([stormAlert(2, { item: { assessment: 'suspecious' } }), turned]);
    expect(content.items[0]?.headline).toBe('FOLLOW-UP: Vault B: now CRITICAL (was SUSPICIOUS)');
    expect(content.severity).toBe('SUSPICIOUS');
  });

  test('shows alerts of one transaction as one item', () => {
    const content = digest([...storm(9), ...oneIncident()]);
    expect(content).toMatchObject({ alerts: 12, items: { length: 10 } });
    expect(content.items.find(({ hash }) => hash === hashOf(999))).toMatchObject({
      headline: 'CRITICAL: Lending Pool + 2 more: flashLoan, mixer',
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
    expect(digest(storm(6).map((alert) => ({ ...alert, replay: true }))).notice).toMatch(/^Replay/);
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
    expect(text).toBe(`2 alerts in 2 protocols: 1 critical, 1 notification
2026-11-20 10:07:12 to 11:22:33 UTC
One message for all of them: they came together, or faster than this channel takes single messages.

Protocols
      1  Lending Pool
      1  Vault A

Detectors
      1  drasticBalanceChange
      1  flashLoan

Contracts
      1  Asset 0 (0x${'c'.repeat(39)}0)

All of them, the worst first

1. CRITICAL: Vault A: flashLoan, drasticBalanceChange
   ${hashOf(0)}  Base (8453)  2026-11-20 10:07:12 UTC  id storm0
   https://basescan.org/tx/${hashOf(0)}
   flashLoan: Borrowed 12,400 ETH and repaid in the same transaction
   drasticBalanceChange: Balance fell by 61.5 %

2. Notification: Lending Pool: Paused
   2026-11-20 11:22:33 UTC  b7f2c0de11aa22bb33cc44dd55ee66ff
   Paused
   by the guardian
`);
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
