import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Alert, Destination } from '../../../src/alert.ts';
import { FORMATS, type Format, type Message } from '../../../src/channels/channel.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import type { SlackBody } from '../../../src/channels/slack/blocks.ts';
import { composeSlack } from '../../../src/channels/slack/message.ts';
import { atOnce } from '../../../src/chunks.ts';
import { messageId } from '../../../src/item.ts';
import { cleanLine } from '../../../src/text.ts';
import { destinationOf, inspectionAlert, notificationAlert, TX_HASH } from '../../support/alerts.ts';
import { HOSTILE_TEXTS } from '../../support/hostile.ts';
import { hashOf } from '../../support/numbered.ts';
import { readSlack } from '../../support/slack-reader.ts';

const BOT = destinationOf('slack', 'C024BE91L');
const HOOK = destinationOf('slack', 'https://hooks.slack.com/services/T0/B0/key');

const storm = (count: number, changes: Partial<Alert> = {}): Alert[] =>
  Array.from({ length: count }, (_, n) =>
    inspectionAlert({ ...changes, item: { _id: `storm-${n}`, txHash: hashOf(n), ...changes.item } }),
  );

interface Options {
  to?: Destination;
  format?: Format;
  mayAttach?: boolean;
}

const compose = (alerts: Alert[], { to = BOT, format = 'rich', mayAttach = true }: Options = {}) => {
  const context = { format, presentation: createPresentation(), sentAt: '2026-11-20T10:07:55.000Z' };
  return atOnce(composeSlack({ destination: to, alerts }, context, mayAttach));
};

const only = (messages: Message<SlackBody>[]): SlackBody => {
  const [message, ...others] = messages;
  if (message === undefined || others.length > 0) throw new Error(`${messages.length} messages instead of one`);
  return message.body;
};

const ORIGIN = '0x7e7e7e7E7e7E7e7e7e7E7e7e7e7E7e7e7e7e7e7E';

/** As a reader sees it, without the file. Throws where Slack would refuse it. */
const read = ({ file: _file, ...body }: SlackBody) =>
  readSlack({ method: 'POST', path: '/', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

/** Everything that a reader finds, in the message or in its file. */
const found = (body: SlackBody): string => `${read(body).text}\n${body.file?.text ?? ''}`;

describe('an incident', () => {
  const incident = ['Lending Pool', 'Vault A', 'Bridge'].map((protocol, n) =>
    inspectionAlert({
      protocol,
      item: { _id: `incident-${n}`, protocol, assets: [{ address: `0x${n}`, descriptor: `${protocol} vault` }] },
    }),
  );

  test.each(FORMATS)('of three protocols is one %s message', (format) => {
    const [message, ...others] = compose(incident, { format });
    if (message === undefined) throw new Error('nothing composed');
    expect(others).toEqual([]);
    expect(message.alerts).toEqual(incident);
    expect(message.id).toBe(
      messageId(
        incident.map(({ id }) => id),
        BOT.id,
      ),
    );
    const { text, active } = read(message.body);
    expect(text).toContain('🔴 CRITICAL · 3 protocols · one transaction');
    expect(text).toContain(TX_HASH);
    expect(active.filter((target) => !target.startsWith('https://basescan.org/'))).toEqual([]);
    if (format === 'minimal') return;
    for (const name of ['Vault A', 'Bridge vault', 'incident-0', 'incident-1', 'incident-2']) {
      expect(text).toContain(name);
    }
  });

  test('names its protocols, and has each value on a line of its own in the details', () => {
    const { text } = read(only(compose(incident)));
    expect(text).toMatch(/\nLending Pool · Borrowed .*\nVault A · Borrowed .*\nBridge · Borrowed /);
    expect(text).toMatch(/\nProtocol: Vault A\n.*\nContract: 0x1 \(Vault A vault\)\nInspection: incident-1\n/);
    expect(text).toMatch(/\nProtocol: Bridge\n.*\nContract: 0x2 \(Bridge vault\)\n/);
  });
});

describe('a digest', () => {
  test('says how many and where, the worst, what and why, and shows each with its link and its whole message', () => {
    const notice = `Guardian paused withdrawals.\n${'Reason: the price moved. '.repeat(20)}End.`;
    const body = only(compose([...storm(8), notificationAlert(notice)]));
    const { text, active } = read(body);
    expect(body.text).toMatch(
      /^🔴 9 alerts, worst: CRITICAL · .+; 9 alerts in “Lending Pool”: 8 critical, 1 notification$/,
    );
    expect(text).toMatch(/Too many at once/);
    expect(text).toContain('Detectors: 8 × Drastic balance change, 8 × Flash loan\n');
    expect(text).toContain('Contracts: 8 × Lending vault (0xABaB…ABaB)');
    expect(text).toContain(notice);
    const items = Array.from({ length: 8 }, (_, n) => `https://basescan.org/tx/${hashOf(n)}`);
    expect(active).toEqual([
      ...items.slice(0, 3),
      ...[expect.stringMatching(/\/address\/0xABaB/), `https://basescan.org/address/${ORIGIN}`],
      ...items.slice(3),
    ]);
    expect(text).toMatch(
      /\n🔴 9 alerts in “Lending Pool”: 8 critical, 1 notification\n🔴 CRITICAL · Lending Pool · Lending vault\nFlash loan – Bor/,
    );
    expect(text.indexOf('Too many at once')).toBeGreaterThan(text.indexOf('Senders: '));
    for (let n = 0; n < 8; n += 1) expect(text.split(hashOf(n))).toHaveLength(2);
    expect(text.match(/Flash loan – Borrowed 12,400 ETH/g)).toHaveLength(8);
    expect(text.match(/Drastic balance change – Balance fell/g)).toHaveLength(8);
    expect(body.file).toBeUndefined();
  });

  test('folds all but the three worst beside the bar, each with its whole message', () => {
    const { blocks, attachments = [] } = only(compose(storm(8)));
    const linksIn = (part: unknown): number => JSON.stringify(part).split('basescan.org/tx/').length - 1;
    expect([linksIn(blocks), linksIn(attachments)]).toEqual([3, 5]);
    expect(JSON.stringify(attachments).match(/ – Borrowed 12,400 ETH/g)).toHaveLength(5);
  });

  test.each([8, 60, 400])('stored notifications are shown whole: %i', (count) => {
    const notices = Array.from({ length: count }, (_, n) =>
      notificationAlert(`Notice ${n}:\nthe guardian of ${'a long name '.repeat(20)}end ${n}.`),
    );
    const squeeze = (text: string): string => text.replaceAll(/^ *> /gm, '').replaceAll(/\s+/g, ' ');
    for (const to of [BOT, HOOK]) {
      for (const format of ['rich', 'plain'] as const) {
        const told = squeeze(
          compose(notices, { to, format })
            .map(({ body }) => found(body))
            .join('\n'),
        );
        for (const { item } of notices) expect(told).toContain(squeeze(String(item.message)));
      }
    }
  });

  test('what no text holds is cut, and says how much is missing', () => {
    const alerts = [...storm(6), notificationAlert('&'.repeat(50_000))];
    const texts = compose(alerts, { to: HOOK }).map(({ body }) => read(body).text);
    expect(texts.join('\n')).toMatch(/&… \(\d+ characters left out\)/);
    expect(only(compose(alerts)).file?.text).toContain('&&&&');
  });

  test('of many has a file with every hash, and says where it is', () => {
    const alerts = storm(120);
    const body = only(compose(alerts));
    expect(body.file?.name).toMatch(/^tocsin-digest-[0-9a-f]{8}\.txt$/);
    const { text } = read(body);
    expect(text).toContain(`All 120, each with its hash, are in a file in this message's thread: ${body.file?.name}`);
    for (let n = 0; n < 120; n += 1) expect(body.file?.text).toContain(hashOf(n));
    expect(text).toContain('🔴 CRITICAL · Lending Pool · Lending vault ×120\nFlash loan – Borrowed 12,400 ETH');
    expect(text).toContain('0x0000…0000 on Base · 2026-11-20 10:07:12 UTC');
    expect(body.attachments).toMatchObject([{ color: '#d92d20' }]);
  });

  test.each<[string, Options]>([
    ['an incoming webhook', { to: HOOK }],
    ['a bot that may not upload', { mayAttach: false }],
    ['plain', { format: 'plain' }],
    ['minimal', { format: 'minimal' }],
  ])('%s: no file, and as few messages as hold every hash, each a digest of its own', (_name, options) => {
    const alerts = storm(1000);
    const messages = compose(alerts, options);
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.length).toBeLessThan(6);
    expect(messages.flatMap((message) => message.alerts)).toEqual(alerts);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
    const [first, ...behind] = messages;
    expect(compose(alerts.slice(first?.alerts.length), options).map(({ id }) => id)).toEqual(
      behind.map(({ id }) => id),
    );
    for (const { body, alerts: told, id } of messages) {
      expect(body.file).toBeUndefined();
      const { text } = read(body);
      expect(text).toContain(`${told.length} critical alerts in “Lending Pool”`);
      for (const { item } of told) expect(text).toContain(item.txHash);
      expect(compose([...told], options)).toMatchObject([{ id, alerts: told }]);
    }
  });

  test('shows its times by the clock of the reader', () => {
    const { blocks = [], attachments = [] } = only(compose(storm(8)));
    const dates = JSON.stringify([blocks, attachments]).match(/"type":"date","timestamp":\d+/g);
    // Each item's, and that of all.
    expect(dates).toHaveLength(9);
  });

  test('of a storm says so below what happened, in every format', () => {
    const inStorm = { message: 3, alerts: 2000 };
    for (const format of ['rich', 'plain'] as const) {
      const context = {
        format,
        presentation: createPresentation(),
        sentAt: '2026-11-20T10:07:55.000Z',
        storm: inStorm,
      };
      const [message] = atOnce(composeSlack({ destination: BOT, alerts: storm(60) }, context, true));
      if (message === undefined) throw new Error('nothing composed');
      const { text } = read(message.body);
      expect(text.indexOf('Borrowed 12,400 ETH')).toBeGreaterThan(0);
      expect(text.indexOf('Storm, message 3.')).toBeGreaterThan(text.indexOf('Borrowed 12,400 ETH'));
    }
  });

  test('as text says what happened in the worst of them, quoted', () => {
    const { text } = read(only(compose(storm(8), { format: 'plain' })));
    expect(text).toMatch(
      /^🔴 8 critical alerts in “Lending Pool”\n🔴 CRITICAL · Lending Pool · Lending vault\n> Borrowed /,
    );
  });

  test('an incoming webhook gets blocks while they hold everything', () => {
    const body = only(compose(storm(60), { to: HOOK }));
    expect(body.blocks?.[0]).toMatchObject({ type: 'header' });
    const { text } = read(body);
    expect(text).toContain('All of them, the worst first');
    for (let n = 0; n < 60; n += 1) expect(text).toContain(hashOf(n));
  });

  test('a notice comes first, and history says that it is', () => {
    const notice = 'These could not be delivered to C024BE91L.';
    expect(read(only(compose(storm(10, { notice })))).text).toContain(notice);
    const replayed = only(compose(storm(10, { replay: true })));
    expect(replayed.text).toMatch(/^🔴 Old alerts: /);
    expect(read(replayed).text).toMatch(/had Tocsin send them again/);
  });

  test.each(HOSTILE_TEXTS)('hostile text stays text: %j', (hostile) => {
    const detections = { [hostile]: { status: 'detected', message: hostile } };
    const item = { detections, assets: [{ address: hostile, descriptor: hostile }], chainId: hostile };
    for (const count of [7, 60]) {
      for (const format of FORMATS) {
        const body = only(compose(storm(count, { protocol: hostile, item }), { format }));
        expect(read(body).active.filter((target) => target !== `https://basescan.org/address/${ORIGIN}`)).toEqual([]);
        if (format !== 'minimal') expect(read(body).text).toContain(cleanLine(hostile));
        for (let n = 0; n < count; n += 1) expect(found(body)).toContain(hashOf(n));
      }
    }
  });

  const long = fc.string({ unit: fc.constantFrom(...'<>&|*_~`:@#!.\n aé漢🧨\u202e'), maxLength: 400 });
  const alertOf = (n: number, protocol: string, name: string, message: string, notice: string): Alert =>
    inspectionAlert({
      protocol,
      ...(notice === '' ? {} : { notice }),
      item: {
        _id: `any-${n}`,
        txHash: hashOf(n),
        assets: [{ address: message, descriptor: name }],
        detections: { [name]: { status: 'x', message } },
      },
    });

  test('any text is within every limit, and every hash is shown', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(long, long, long, long), { minLength: 6, maxLength: 50 }),
        fc.constantFrom(...FORMATS),
        fc.constantFrom(BOT, HOOK),
        fc.boolean(),
        (parts, format, to, mayAttach) => {
          const messages = compose(
            parts.map((texts, n) => alertOf(n, ...texts)),
            { format, to, mayAttach },
          );
          for (const { body, alerts } of messages) {
            const { active } = read(body);
            expect(active.filter((target) => !target.startsWith('https://basescan.org/'))).toEqual([]);
            for (const { item } of alerts) expect(found(body)).toContain(item.txHash);
          }
          expect(messages.flatMap(({ alerts }) => alerts)).toHaveLength(parts.length);
        },
      ),
      { numRuns: 60 },
    );
  });
});
