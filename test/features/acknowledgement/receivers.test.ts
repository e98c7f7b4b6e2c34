/** Which receivers that keep incidents hear who acknowledged a transaction. */
import { expect, test } from 'vitest';
import type { Alert, Destination } from '../../../src/alert.ts';
import { createTellReceivers } from '../../../src/features/acknowledgement/receivers.ts';
import type { Acknowledgement } from '../../../src/features/acknowledgement/words.ts';
import type { AnnouncementInput } from '../../../src/features/announcements/announce.ts';
import type { AlertRecord, DeliveryState } from '../../../src/ledger/record.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';

const AT = '2026-11-20T02:45:10.000Z';
const BY: Acknowledgement = { by: 'Ann', via: 'slack', to: 'C024BE91L', at: AT };
const PAGERDUTY = destinationOf('webhook', 'https://events.pagerduty.com/v2/enqueue');
const OPSGENIE = destinationOf('webhook', 'https://api.opsgenie.com/v2/alerts');
const OWN = destinationOf('webhook', 'https://hooks.example.com/x');
const SLACK = destinationOf('slack', 'C024BE91L');

const setUp = (closed: readonly Destination[] = [], isBroken = false) => {
  const records = new Map<string, AlertRecord>();
  const routes = new Map<string, Destination[]>();
  const told: { input: AnnouncementInput; at: number; to: string[] }[] = [];
  const warnings: string[] = [];
  const tell = createTellReceivers({
    ledger: { read: async (id) => records.get(id) },
    announce: async (input, at, destinations) => {
      if (isBroken) throw new Error('no Redis');
      told.push({ input, at, to: destinations.map(({ address }) => address) });
      return 'id';
    },
    isOpen: async () => (one) => !closed.some(({ id }) => id === one.id),
    keepsIncidents: ({ id }) => id === PAGERDUTY.id || id === OPSGENIE.id,
    destinationsOf: async ({ protocol }) => routes.get(protocol) ?? [],
    log: { warn: (_facts: object, text?: string) => void warnings.push(String(text)) },
  });
  /** Gives the alert's id. */
  const add = (number: number, sent: readonly [Destination, DeliveryState][], changes: Partial<Alert> = {}): string => {
    const alert = { ...makeAlert(number), protocol: `Protocol ${number}`, ...changes };
    const deliveries = sent.map(([destination, state]) => ({ destination, state, at: AT, attempts: [] }));
    records.set(alert.id, { alert, deliveries });
    routes.set(
      alert.protocol,
      sent.map(([destination]) => destination),
    );
    return alert.id;
  };
  return { add, tell, told, warnings, routes };
};

test('each transaction is told once to each receiver that has something of it, or is about to', async () => {
  const { add, tell, told } = setUp();
  const one = add(
    1,
    [...([PAGERDUTY, OWN, SLACK] as const).map((to): [Destination, DeliveryState] => [to, 'delivered'])],
    {
      txHash: '0xabc',
    },
  );
  const two = add(
    2,
    [
      [OPSGENIE, 'waiting'],
      [PAGERDUTY, 'delivered'],
    ],
    { txHash: '0xabc' },
  );
  const other = add(3, [[PAGERDUTY, 'delivered']], { txHash: '0xdef' });
  await tell([one, two, other], BY);
  const byHash = told.toSorted((a, b) => `${a.input.of?.txHash}`.localeCompare(`${b.input.of?.txHash}`));
  expect(byHash.map(({ input: { about, of, key }, at, to }) => ({ about, of: of?.txHash, key, at, to }))).toEqual([
    {
      ...{ about: 'alert.acknowledged', of: '0xabc', key: `${one} incident`, at: Date.parse(AT) },
      to: [PAGERDUTY.address, OPSGENIE.address],
    },
    { about: 'alert.acknowledged', of: '0xdef', key: `${other} incident`, at: Date.parse(AT), to: [PAGERDUTY.address] },
  ]);
  expect(byHash[0]?.input.message).toBe('Acknowledged by “Ann”, 02:45:10 UTC');
});

test('none that does not have it, is not approved, or is routed no more', async () => {
  const { add, tell, told, routes } = setUp([OPSGENIE]);
  const ids = [
    add(1, [[PAGERDUTY, 'muted']]),
    add(2, [[PAGERDUTY, 'dead']]),
    add(3, [[OPSGENIE, 'delivered']]),
    add(4, [[OWN, 'delivered']]),
    add(5, [[PAGERDUTY, 'delivered']]),
  ];
  routes.set('Protocol 5', []);
  await tell([...ids, 'unknown'], BY);
  expect(told).toEqual([]);
});

test('a failure is logged, and changes nothing', async () => {
  const { add, tell, warnings } = setUp([], true);
  await tell([add(1, [[PAGERDUTY, 'delivered']])], BY);
  expect(warnings).toEqual(['receivers may not hear who acknowledged an alert']);
});
