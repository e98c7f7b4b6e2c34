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

/** What was asked for, noted and told. */
const setUp = (routed: Destination[], changes: Partial<Parameters<typeof createOutageNotifier>[0]> = {}) => {
  const seen = { asked: [] as string[], noted: [] as Outage[], told: [] as Destination[] };
  const notifier = createOutageNotifier({
    operators: [],
    isSenderTold: async () => false,
    outages: {
      note: async (_id, outage) => {
        seen.noted.push(outage);
        return outage;
      },
      get: async (ids) => {
        seen.asked.push(...ids);
        return new Map();
      },
      find: async () => undefined,
      remove: async () => {},
      count: async () => 1,
    },
    ledger: { waitingByDestination: async () => ({}) },
    announce: async (_announcement, _at, destinations) => {
      seen.told.push(...destinations);
      return 'announcement';
    },
    fallback: [],
    routesOf: async () => ({ destinations: routed, problems: [] }),
    labelOf: (_kind, address) => address,
    log: pino({ level: 'silent' }),
    now: Date.now,
    ...changes,
  });
  return { ...seen, notifier };
};

const alerts = [makeAlert(1)];

test('of 200 webhooks beside one that is broken nobody asks whether they work: only people are told', async () => {
  const { asked, told, notifier } = setUp([...HOOKS, MAIL]);
  await notifier.onBroken({
    ...{ destination: broken, isSender: false, alerts },
    ...{ reason: 'destination-dead', message: 'gone' },
  });
  expect(told).toEqual([MAIL]);
  expect(asked).toEqual([MAIL.id, senderId('email')]);
});

test('a sender of which the watchdog has told already is noted, and nobody is told again', async () => {
  const { noted, told, notifier } = setUp([MAIL], {
    operators: [MAIL],
    isSenderTold: async (kind) => kind === 'slack',
  });
  const failure = { alerts, reason: 'sender-misconfigured', message: 'token_revoked' } as const;
  await notifier.onBroken({ destination: destinationOf('slack', 'C1'), isSender: true, ...failure });
  expect(noted).toMatchObject([{ message: 'token_revoked', told: [] }]);
  expect(told).toEqual([]);
  // One of its channels is no news of the watchdog.
  await notifier.onBroken({ destination: destinationOf('slack', 'C1'), isSender: false, ...failure });
  expect(told).toEqual([MAIL]);
});
