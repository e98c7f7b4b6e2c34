/** What announcing an outage asks for. What it announces: `fallback.test.ts`, with a whole ledger and queue. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Destination } from '../../../src/alert.ts';
import { createOutageNotifier } from '../../../src/features/outages/notifier.ts';
import type { Outage } from '../../../src/features/outages/store.ts';
import { senderId } from '../../../src/identity.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';

const MAIL = destinationOf('email', 'a@example.com');
const HOOKS = Array.from({ length: 200 }, (_, n) => destinationOf('webhook', `https://hooks.example.com/${n}`));
const [broken = MAIL] = HOOKS;

test('of 200 webhooks beside one that is broken nobody asks whether they work: only people are told', async () => {
  const asked: string[] = [];
  const told: Destination[] = [];
  const notifier = createOutageNotifier({
    operators: [],
    isSenderTold: async () => false,
    outages: {
      note: async (_id, outage) => outage,
      get: async (ids) => {
        asked.push(...ids);
        return new Map();
      },
      find: async () => undefined,
      remove: async () => {},
      count: async () => 1,
    },
    ledger: { waitingByDestination: async () => ({}) },
    announce: async (_announcement, _at, destinations) => {
      told.push(...destinations);
      return 'announcement';
    },
    fallback: [],
    routesOf: async () => ({ destinations: [...HOOKS, MAIL], problems: [] }),
    labelOf: (_kind, address) => address,
    log: pino({ level: 'silent' }),
    now: Date.now,
  });
  const alerts = [makeAlert(1)];
  await notifier.onBroken({
    destination: broken,
    isSender: false,
    alerts,
    reason: 'destination-dead',
    message: 'gone',
  });
  expect(told).toEqual([MAIL]);
  expect(asked).toEqual([MAIL.id, senderId('email')]);
});

test('a sender of which the watchdog has told already is noted, and nobody is told again', async () => {
  const noted: Outage[] = [];
  const told: Destination[] = [];
  const notifier = createOutageNotifier({
    operators: [MAIL],
    isSenderTold: async (kind) => kind === 'slack',
    outages: {
      note: async (_id, outage) => {
        noted.push(outage);
        return outage;
      },
      get: async () => new Map(),
      find: async () => undefined,
      remove: async () => {},
      count: async () => 1,
    },
    ledger: { waitingByDestination: async () => ({}) },
    announce: async (_announcement, _at, destinations) => {
      told.push(...destinations);
      return 'announcement';
    },
    fallback: [],
    routesOf: async () => ({ destinations: [MAIL], problems: [] }),
    labelOf: (_kind, address) => address,
    log: pino({ level: 'silent' }),
    now: Date.now,
  });
  const failure = { alerts: [makeAlert(1)], reason: 'sender-misconfigured', message: 'token_revoked' } as const;
  await notifier.onBroken({ destination: destinationOf('slack', 'C1'), isSender: true, ...failure });
  expect(noted).toMatchObject([{ message: 'token_revoked', told: [] }]);
  expect(told).toEqual([]);
  // One of its channels is no news of the watchdog.
  await notifier.onBroken({ destination: destinationOf('slack', 'C1'), isSender: false, ...failure });
  expect(told).toEqual([MAIL]);
});
