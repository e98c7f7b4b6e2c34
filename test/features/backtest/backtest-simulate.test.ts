/** The stages of dispatch and deliver on one clock: what a daemon with this config would have done. */
import { expect, test } from 'vitest';
import type { Alert, Destination } from '../../../src/alert.ts';
import { openConfiguredChannels } from '../../../src/channels/open.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { createSimulation } from '../../../src/features/backtest/backtest.ts';
import type { SimulatedMessage } from '../../../src/features/backtest/delivery.ts';
import { iso } from '../../../src/time.ts';
import { destinationOf, notificationAlert } from '../../support/alerts.ts';
import { hashOf, makeAlert } from '../../support/numbered.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const MINUTE = 60_000;
const DAY = 86_400_000;
const CHAT = destinationOf('slack', 'C0SANDBOX01');
const OTHER = destinationOf('slack', 'C0SANDBOX02');

const CONFIG = `
services: [{ name: main, baseUrl: 'https://api.example.com', apiKey: key }]
redis: { url: 'redis://127.0.0.1:1' }
channels: { slack: { botToken: 'xoxb-1-abc' } }
`;

const every = (from: string, to: string): string =>
  `{ reason: upgrade, days: [mon, tue, wed, thu, fri, sat, sun], from: '${from}', to: '${to}', timeZone: UTC, protocols: ['*'] }`;

interface Setting {
  /** More of the config. */
  config?: string;
  routesOf?(alert: Alert): Destination[];
}

/** `reads`: when each is dispatched, in milliseconds since the beginning, and its alerts. */
const simulate = async (reads: readonly [number, Alert[]][], setting: Setting = {}) => {
  const { config: more = '', routesOf = () => [CHAT] } = setting;
  const config = parseConfig(`${CONFIG}${more}`, 'tocsin.yaml', {});
  const { channels, close } = await openConfiguredChannels(config, Date.now);
  const messages: SimulatedMessage[] = [];
  const routed: number[] = [];
  const simulation = createSimulation({
    config,
    channels,
    routesOf: async (alert) => ({ destinations: routesOf(alert), problems: [] }),
    onRouted: (_alert, { destinations }) => void routed.push(destinations.length),
    onMessage: (message) => messages.push(message),
  });
  for (const [after, alerts] of reads) simulation.dispatchAt(T0 + after, alerts);
  await simulation.run();
  await close();
  const sent = messages.map(({ at, alerts }) => [at - T0, alerts.map(({ itemId }) => itemId).join()]);
  return { sent, messages, routed, mutes: simulation.mutes(), correlated: simulation.correlated() };
};

const at = (ms: number) => ({ at: iso(T0 + ms) });

test('each read is dispatched at its moment, whatever the order in which it was given', async () => {
  const { sent } = await simulate([
    [5000, [makeAlert(2)]],
    [0, [makeAlert(1)]],
  ]);
  expect(sent).toEqual([
    [0, 'item-1'],
    [5000, 'item-2'],
  ]);
});

test('an alert without a destination is counted, and not sent', async () => {
  const routesOf = ({ itemId }: Alert) => (itemId === 'item-1' ? [] : [CHAT]);
  const { sent, routed } = await simulate([[0, [makeAlert(1), makeAlert(2)]]], { routesOf });
  expect(routed).toEqual([0, 1]);
  expect(sent).toEqual([[0, 'item-2']]);
});

test('a window mutes what is dispatched while it is open, not what was written then', async () => {
  const { sent, mutes } = await simulate(
    [
      [10 * MINUTE, [makeAlert(1, at(9 * MINUTE))]],
      [20 * MINUTE, [makeAlert(2, at(19 * MINUTE))]],
    ],
    { config: `mutes: { windows: [${every('12:10', '12:20')}] }` },
  );
  expect(sent).toEqual([[20 * MINUTE, 'item-2']]);
  expect(mutes).toEqual([{ reason: 'upgrade', alerts: 1 }]);
});

test('what a window hid on several days is one sum, beside that of a window with the same reason', async () => {
  const config = `mutes: { windows: [${every('12:00', '12:10')}, ${every('12:30', '12:40')}, ${every('13:00', '13:10')}] }`;
  const reads = [0, 1, 2].map((day): [number, Alert[]] => [day * DAY, [makeAlert(day)]]);
  const { sent, mutes } = await simulate([...reads, [35 * MINUTE, [makeAlert(8), makeAlert(9)]]], { config });
  expect(sent).toEqual([]);
  expect(mutes.map(({ alerts }) => alerts)).toEqual([3, 2]);
});

test('an alert that a mute hides from two destinations is one', async () => {
  const config = `mutes: { windows: [${every('12:00', '12:10')}] }`;
  const { mutes } = await simulate([[0, [makeAlert(1)]]], { config, routesOf: () => [CHAT, OTHER] });
  expect(mutes).toEqual([{ reason: 'upgrade', alerts: 1 }]);
});

test('a notification is not sent where an inspection covers it, whichever of the two polls comes first', async () => {
  const { at, readAt } = makeAlert(1);
  const notification = notificationAlert(`Critical: ${hashOf(1)}`, { at, readAt });
  for (const after of [0, 1000, -1000]) {
    const { sent, correlated } = await simulate(
      [
        [5000, [makeAlert(1)]],
        [5000 + after, [notification]],
      ],
      { routesOf: () => [CHAT, OTHER] },
    );
    expect(sent).toEqual([
      [5000, 'item-1'],
      [5000, 'item-1'],
    ]);
    expect(correlated).toBe(1);
  }
});

test('a notification that no inspection covers waits for one first, and then is ready', async () => {
  const notification = notificationAlert(`Critical: ${hashOf(2)}`);
  const { sent, messages, correlated } = await simulate([[0, [makeAlert(1), notification]]]);
  expect(sent).toEqual([
    [0, 'item-1'],
    [3000, notification.itemId],
  ]);
  expect(messages[1]?.ready).toEqual([T0 + 3000]);
  expect(correlated).toBe(0);
});

test('an inspection that was muted covers no notification', async () => {
  const { sent, correlated } = await simulate(
    [
      [0, [makeAlert(1)]],
      [10 * MINUTE, [notificationAlert(`Critical: ${hashOf(1)}`)]],
    ],
    { config: `mutes: { windows: [${every('12:00', '12:10')}] }` },
  );
  expect(sent).toHaveLength(1);
  expect(correlated).toBe(0);
});
