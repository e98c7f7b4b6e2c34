import { expect, test } from 'vitest';
import type { Alert, Parcel } from '../../../src/alert.ts';
import type { HistoryProtocol, HistoryReading } from '../../../src/features/replay/history.ts';
import { type ReplayPlan, replayHistory } from '../../../src/features/replay/replay.ts';
import { read, SERVICE } from '../../config/samples.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';

const CONFIG = read(`${SERVICE}\nchannels: { slack: { botToken: xoxb-1 } }\nalerts: { triggers: honour }\n`);
const PAGER = destinationOf('email', 'pager@example.com');

const protocolOf = (name: string, changes: Partial<HistoryProtocol> = {}): HistoryProtocol => ({
  service: 'main',
  name,
  channels: [{ name: 'slack', contacts: ['C0000001'] }],
  notifyOn: ['critical'],
  ...changes,
});

/** History of one alert for each protocol, and one that the service does not give. */
const historyOf = (unread: string[] = []) => ({
  read: async (protocols: readonly HistoryProtocol[], { onAlerts, onRead }: HistoryReading) => {
    for (const [index, protocol] of protocols.entries()) {
      await onAlerts(protocol, [makeAlert(index + 1, { protocol: protocol.name })]);
      onRead?.(protocol, 'inspections', index + 1, protocols.length);
    }
    return unread.map((protocol) => ({
      service: 'main',
      protocol,
      source: 'inspections' as const,
      problem: 'the service answered 404',
    }));
  },
});

const run = async (protocols: HistoryProtocol[], plan: Partial<ReplayPlan> = {}, unread: string[] = []) => {
  const sent: [Parcel[], string, string][] = [];
  const seen: Alert[] = [];
  const queued: number[] = [];
  const progress: string[] = [];
  const counts = await replayHistory(
    {
      config: CONFIG,
      history: historyOf(unread),
      resend: async (parcels, act, nonce) => {
        sent.push([[...parcels], act, nonce]);
        return { sent: parcels.length, held: 0, waiting: 0, delivered: 0 };
      },
      withContext: async (alerts) => alerts.map((alert) => ({ ...alert, context: { adminOf: ['Pool'] } })),
      onReplayed: ({ alert }) => void seen.push(alert),
      onQueued: (count) => void queued.push(count),
      onProgress: ({ done, of }) => void progress.push(`${done} of ${of}`),
    },
    { protocols, period: { since: 0, until: 1 }, ...plan },
  );
  return { counts, sent, seen, queued, progress };
};

test('alerts keep their identity, are marked as a replay, and go by the routes of today under one nonce', async () => {
  const { counts, sent, seen, queued, progress } = await run([protocolOf('Vault'), protocolOf('Bridge')]);
  expect(counts).toMatchObject({ alerts: 2, sent: 2, skipped: 0, stranded: 0, problems: [], unread: [] });
  expect(seen.map(({ id, replay, context }) => [id, replay, context])).toEqual([
    [makeAlert(1).id, true, { adminOf: ['Pool'] }],
    [makeAlert(2).id, true, { adminOf: ['Pool'] }],
  ]);
  expect(sent.map(([parcels, act]) => [parcels.map(({ destination }) => destination.label), act])).toEqual([
    [['C0000001'], 'replayed'],
    [['C0000001'], 'replayed'],
  ]);
  expect(new Set(sent.map(([, , nonce]) => nonce)).size).toBe(1);
  expect(queued).toEqual([1, 2]);
  expect(progress).toEqual(['1 of 2', '2 of 2']);
});

test('counts what no trigger asks for, what leads nowhere and why, and what could not be read', async () => {
  const { counts } = await run(
    [
      protocolOf('Quiet', { notifyOn: [] }),
      protocolOf('Nowhere', { channels: [{ name: 'telegram', contacts: ['1'] }] }),
      protocolOf('Nowhere', { channels: [{ name: 'telegram', contacts: ['1'] }] }),
    ],
    {},
    ['Gone'],
  );
  expect(counts).toMatchObject({ alerts: 3, sent: 0, skipped: 1, stranded: 2, unread: [{ protocol: 'Gone' }] });
  expect(counts.problems).toEqual([expect.stringMatching(/^“Nowhere”: .*telegram/)]);
});

test('a destination named by hand takes the place of all routes and triggers', async () => {
  const { counts, sent } = await run([protocolOf('Quiet', { notifyOn: [], channels: [] })], { to: [PAGER] });
  expect(counts).toMatchObject({ alerts: 1, sent: 1, skipped: 0, stranded: 0 });
  expect(sent[0]?.[0].map(({ destination }) => destination.id)).toEqual([PAGER.id]);
});

test('without a way to send nothing is enqueued, and everything is counted', async () => {
  const seen: string[] = [];
  const counts = await replayHistory(
    { config: CONFIG, history: historyOf(), onReplayed: ({ alert }) => void seen.push(alert.itemId) },
    { protocols: [protocolOf('Vault')], period: { since: 0, until: 1 } },
  );
  expect(counts).toMatchObject({ alerts: 1, sent: 0 });
  expect(seen).toEqual(['item-1']);
});

test('a notification whose transactions are all sent again as inspections is left out there, as it is live', async () => {
  const [one, two] = [makeAlert(1), makeAlert(2, { protocol: 'Bridge' })];
  const naming = (n: number, ...hashes: (string | undefined)[]): Alert =>
    makeAlert(n, {
      source: 'notifications',
      type: 'notification.created',
      item: { message: `Seen in ${hashes.join(' and ')}` },
    });
  const notifications = [naming(3, one.txHash), naming(4, one.txHash, two.txHash), naming(5), naming(6, one.txHash)];
  const history = {
    read: async ([vault, bridge]: readonly HistoryProtocol[], { onAlerts }: HistoryReading) => {
      if (vault) await onAlerts(vault, [one]);
      if (bridge) await onAlerts(bridge, [two]);
      if (vault) await onAlerts(vault, notifications);
      return [];
    },
  };
  const other = protocolOf('Bridge', { channels: [{ name: 'slack', contacts: ['C0000002'] }] });
  const plan = { protocols: [protocolOf('Vault'), other], period: { since: 0, until: 1 } };
  const replayOf = async (text: string) => {
    const items: [string, number][] = [];
    const config = read(`${SERVICE}\nchannels: { slack: { botToken: xoxb-1 } }\n${text}`);
    const onReplayed = ({ alert, routes }: { alert: Alert; routes: { destinations: readonly unknown[] } }) =>
      void items.push([alert.itemId, routes.destinations.length]);
    const counts = await replayHistory({ config, history, onReplayed }, plan);
    return { correlated: counts.correlated, stranded: counts.stranded, sent: items.map(([, count]) => count) };
  };
  expect(await replayOf('')).toEqual({ correlated: 2, stranded: 0, sent: [1, 1, 0, 1, 1, 0] });
  expect(await replayOf('alerts: { correlate: false }\n')).toMatchObject({ correlated: 0, sent: [1, 1, 1, 1, 1, 1] });
});
