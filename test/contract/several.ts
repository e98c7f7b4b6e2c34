/** What becomes of several alerts at once, for every kind that people read. */

import { describe, expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { type ComposeContext, FORMATS, type Format } from '../../src/channels/channel.ts';
import { shortHex } from '../../src/channels/content/foreign.ts';
import { FEW } from '../../src/channels/incidents.ts';
import { atOnce } from '../../src/chunks.ts';
import { cleanLine } from '../../src/text.ts';
import { inspectionAlert, notificationAlert } from '../support/alerts.ts';
import { HOSTILE_TEXTS } from '../support/hostile.ts';
import { hashOf, oneIncident, storm } from '../support/parcels.ts';
import { wordsOf } from '../support/words.ts';
import type { Bench, Contestant, Shown } from './contestant.ts';

const nobody = (): AbortSignal => new AbortController().signal;

const everything = (messages: readonly Shown[]): string =>
  messages.flatMap(({ text, files = [] }) => [text, ...files]).join('\n');

const named = (text: string): string[] => [...new Set(text.match(/0x[0-9a-f]{64}/g))].toSorted();

const hashes = (alerts: readonly Alert[]): string[] => alerts.flatMap(({ txHash }) => txHash ?? []).toSorted();

/** `70 more are not listed here.` */
const leftOut = (text: string): number => Number(/(\d[\d,]*) more/.exec(text)?.[1]?.replaceAll(',', '') ?? 0);

export const describeSeveral = <Step>(
  openTestCommand: () => Promise<Bench<Step>>,
  context: ComposeContext,
  {
    largestParcel: most = Number.POSITIVE_INFINITY,
    written = (text) => text,
  }: Pick<Contestant<Step>, 'largestParcel' | 'written'>,
): void => {
  /** Composes a parcel, sends all of it, and gives what was composed and what people have. */
  const deliver = async (alerts: Alert[], { format = 'rich', to = 0 }: { format?: Format; to?: number } = {}) => {
    const bench = await openTestCommand();
    const destination = bench.destinations[to] ?? bench.destinations[0];
    const messages = atOnce(bench.channel.compose({ destination, alerts }, { ...context, format }));
    for (const message of messages) await bench.channel.send(message, nobody());
    return { messages, shown: bench.accepted() };
  };

  describe('several at once', () => {
    test('a few are sent one by one', async () => {
      const { messages, shown } = await deliver(storm(FEW));
      expect(messages.map(({ alerts, isDigest }) => [alerts.length, isDigest])).toEqual(
        storm(FEW).map(() => [1, false]),
      );
      expect(shown.map(({ text }) => named(text))).toEqual(storm(FEW).map(({ txHash }) => [txHash]));
    });

    test.each(FORMATS)('one transaction is one message that names all of it: %s', async (format) => {
      const { messages, shown } = await deliver(oneIncident(), { format });
      expect(messages.map(({ alerts }) => alerts.length)).toEqual([3]);
      expect(shown).toHaveLength(1);
      const text = everything(shown);
      expect(named(text)).toEqual([hashOf(999)]);
      for (const id of ['incident0', 'incident1', 'incident2', 'Lending Pool']) expect(text).toContain(id);
      if (format === 'minimal') return;
      for (const told of ['Stable Vault', 'Treasury', 'Funded by a mixer', 'Treasury proxy', 'Shared vault']) {
        expect(text).toContain(told);
      }
    });

    test('of one transaction they are no digest, however many', async () => {
      const findings = storm(FEW + 3).map((alert) => ({ ...alert, txHash: hashOf(999) }));
      const { messages } = await deliver(findings);
      expect(messages.map(({ alerts, isDigest }) => [alerts.length, isDigest])).toEqual([[FEW + 3, false]]);
    });

    test.each(['rich', 'plain'] as const)('many are one digest with every hash: %s', async (format) => {
      const many = storm(Math.min(118, most - 1));
      const { messages, shown } = await deliver([...many, notificationAlert('Paused: by the guardian')], { format });
      expect(messages.map(({ alerts, isDigest }) => [alerts.length, isDigest])).toEqual([[many.length + 1, true]]);
      const text = everything(shown);
      expect(named(text)).toEqual(hashes(many));
      for (const told of [
        `${many.length} critical`,
        'Vault A',
        'Flash loan',
        'Asset 0',
        'Paused: by the guardian',
        'Too many at once',
      ]) {
        expect(text).toContain(told);
      }
    });

    test.each([0, 1])('the plainest digest says of every hash where it is: destination %i', async (to) => {
      const many = storm(Math.min(300, most));
      const { shown } = await deliver(many, { format: 'minimal', to });
      const text = everything(shown);
      expect(named(text).length).toBeGreaterThan(Math.min(20, most / 3));
      expect(named(text).length + leftOut(text)).toBe(many.length);
      if (leftOut(text) > 0) expect(text).toContain('tocsin replay --since');
    });

    const thousands = most < 3000 ? test.skip : test;
    thousands.each(['rich', 'plain'] as const)('a storm of thousands is taken: %s', async (format) => {
      const { messages, shown } = await deliver(storm(3000), { format });
      if (format === 'rich') expect(messages).toHaveLength(1);
      expect(named(everything(shown))).toHaveLength(3000);
    });

    test('of many that are copies the message itself names the first and the last, and many between', async () => {
      const count = Math.min(100, most);
      const item = { protocol: 'Vault', assets: [{ address: `0x${'c'.repeat(40)}`, descriptor: 'Main vault' }] };
      const copies = storm(count).map((alert) => ({ ...alert, protocol: 'Vault', item: { ...alert.item, ...item } }));
      const { shown } = await deliver(copies);
      const [{ text = '', active = [] } = {}] = shown;
      const seen = `${text} ${active.join(' ')}`;
      const met = copies.filter(({ txHash = '' }) => seen.includes(txHash) || seen.includes(shortHex(txHash)));
      expect(met).toEqual(expect.arrayContaining(copies.filter((_, at) => at === 0 || at === count - 1)));
      expect(met.length).toBeGreaterThanOrEqual(Math.min(30, count));
    });

    test('samples and history are never among the news', async () => {
      const past = storm(20).map((alert) => ({ ...alert, id: `past${alert.id}`, replay: true }));
      const sample = inspectionAlert({ item: { _id: 'sample' }, type: 'test.sample' });
      const { messages, shown } = await deliver([...past, ...storm(20), sample]);
      expect(messages.map(({ alerts }) => alerts.length)).toEqual([1, 20, 20]);
      expect(shown.map(({ text }) => /old alert/i.test(text))).toEqual([false, false, true]);
    });

    test('a digest says first why it comes this way', async () => {
      const notice = 'Sent here because the other channel did not take it.';
      const { shown } = await deliver(storm(9).map((alert) => ({ ...alert, notice })));
      expect(everything(shown.slice(0, 1))).toContain(notice);
    });

    test.each(HOSTILE_TEXTS)('a digest of hostile text stays text: %j', async (hostile) => {
      const detections = { [hostile]: { status: 'detected', message: hostile } };
      const assets = [{ address: hostile, descriptor: hostile }];
      const alerts = storm(9).map((alert) => ({
        ...alert,
        protocol: hostile,
        item: { ...alert.item, detections, assets, protocol: hostile },
      }));
      const { shown } = await deliver([...alerts, notificationAlert(hostile, { protocol: hostile })]);
      const text = everything(shown);
      for (const word of wordsOf(written(cleanLine(hostile)))) expect(text).toContain(word);
      expect(named(text)).toEqual(hashes(alerts));
      const active = shown.flatMap((message) => message.active);
      expect(active.filter((target) => !target.startsWith('https://basescan.org/'))).toEqual([]);
    });
  });
};
