/** What announcing an outage asks for. What it announces: `fallback.test.ts`, with a whole ledger and queue. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Destination } from '../../../src/alert.ts';
import type { Announce } from '../../../src/features/announcements/announce.ts';
import { createOutageNotifier } from '../../../src/features/broken-destinations/notifier.ts';
import { createAnnouncer } from '../../../src/features/conditions/announcer.ts';
import { createOutageStore, type Outage } from '../../../src/features/conditions/outages.ts';
import { createAnnouncedStore } from '../../../src/features/conditions/store.ts';
import { senderId } from '../../../src/item.ts';
import { createDeadLetters } from '../../../src/ledger/dead-letters.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { TOLD } from '../../support/outages.ts';
import { openTestRedis } from '../../support/redis.ts';

const MAIL = destinationOf('email', 'a@example.com');
const HOOKS = Array.from({ length: 200 }, (_, n) => destinationOf('webhook', `https://hooks.example.com/${n}`));
const [broken = MAIL] = HOOKS;

const place = openTestRedis();
const OUTAGE = { reason: 'destination-dead', message: 'gone' } as const;

type Changes = Partial<
  Parameters<typeof createOutageNotifier>[0] & Pick<Parameters<typeof createAnnouncer>[0], 'fallback' | 'operators'>
> & { broken?: string[]; times?: number };

let places = 0;

/** What was asked for, noted and told. `times`: how often it broke within the hour, this time included. */
const setUp = async (routed: Destination[], { broken = [], times = 1, ...changes }: Changes = {}) => {
  const seen = { asked: [] as string[], noted: [] as Outage[], told: [] as Destination[], texts: [] as string[] };
  const shared = { fallback: [], operators: [], log: pino({ level: 'silent' }), now: Date.now, ...changes };
  places += 1;
  const prefix = `${place.prefix}:${places}`;
  const store = createAnnouncedStore(place.redis, prefix, shared.now);
  const outages = createOutageStore(place.redis, prefix, shared.now);
  const since = new Date(shared.now()).toISOString();
  for (const id of broken) await outages.note(id, { ...TOLD, ...OUTAGE, since, announcedTo: [] });
  const announce: Announce = async ({ message }, _at, destinations) => {
    seen.told.push(...destinations);
    seen.texts.push(message);
    return 'announcement';
  };
  const announcer = createAnnouncer({
    ...{ announce, locks: { take: async () => undefined } },
    store: {
      ...store,
      inForce: async (group, ids) => {
        seen.asked.push(...ids);
        return store.inForce(group, ids);
      },
    },
    ...shared,
  });
  const notifier = createOutageNotifier({
    isSenderAnnounced: async () => false,
    named: async (destination) => destination,
    announcer,
    outages: {
      ...outages,
      note: async (id, noted) => {
        const outage = await outages.note(id, noted);
        seen.noted.push(outage);
        return outage;
      },
      count: async () => times,
    },
    ledger: { waitingByDestination: async () => ({}) },
    deadLetters: { byDestination: async () => new Map() },
    announce,
    routesOf: async () => ({ destinations: routed, problems: [] }),
    labelOf: (_kind, address) => address,
    ...shared,
  });
  return { ...seen, notifier };
};

const alerts = [makeAlert(1)];

test('of 200 webhooks beside one that is broken nobody asks whether they work: only people hear of it', async () => {
  const { asked, told, notifier } = await setUp([...HOOKS, MAIL]);
  await notifier.onBroken({
    ...{ destination: broken, isSender: false, alerts },
    ...{ reason: 'destination-dead', message: 'gone' },
  });
  expect(told).toEqual([MAIL]);
  expect(asked).toEqual([MAIL.id, senderId('email')]);
});

test('a sender of which the watchdog has told already is noted, and nobody is told again', async () => {
  const changes: Changes = { operators: [MAIL], isSenderAnnounced: async (kind) => kind === 'slack' };
  const { noted, told, notifier } = await setUp([MAIL], changes);
  const failure = { alerts, reason: 'sender-misconfigured', message: 'token_revoked' } as const;
  await notifier.onBroken({ destination: destinationOf('slack', 'C1'), isSender: true, ...failure });
  expect(noted).toMatchObject([{ message: 'token_revoked', isAnnounced: true }]);
  expect(told).toEqual([]);
  // One of its channels is no news of the watchdog.
  const other = await setUp([MAIL], changes);
  await other.notifier.onBroken({ destination: destinationOf('slack', 'C1'), isSender: false, ...failure });
  expect(other.told).toEqual([MAIL]);
});

test('hear of it: the operators, the fallback, or the other people of the protocol, but never by what is broken', async () => {
  const [slack = MAIL, other = MAIL] = ['C1', 'C2'].map((address) => destinationOf('slack', address));
  const ONCALL = destinationOf('email', 'oncall@example.com');
  const CHAT = destinationOf('telegram', '-100');
  const audience = async (
    routed: Destination[],
    changes: Changes & { destination?: Destination; isSender?: boolean },
  ) => {
    const { destination = slack, isSender = false, ...others } = changes;
    const { told, notifier } = await setUp(routed, others);
    await notifier.onBroken({ ...OUTAGE, destination, isSender, alerts });
    return told;
  };
  const routed = [slack, other, MAIL, ...HOOKS];
  expect(await audience(routed, { operators: [CHAT], fallback: [ONCALL] })).toEqual([CHAT]);
  expect(
    await audience(routed, { operators: [CHAT], fallback: [ONCALL, broken], broken: ['sender-telegram'] }),
  ).toEqual([...[ONCALL, broken]]);
  expect(await audience(routed, {})).toEqual([other, MAIL]);
  expect(await audience(routed, { fallback: [ONCALL], broken: [ONCALL.id] })).toEqual([other, MAIL]);
  expect(await audience([CHAT], { destination: ONCALL, fallback: [ONCALL] })).toEqual([CHAT]);
  expect(await audience(routed, { isSender: true, fallback: [other] })).toEqual([MAIL]);
  expect(await audience(routed, { broken: [MAIL.id] })).toEqual([other]);
  expect(await audience([slack, ...HOOKS], {})).toEqual([]);
});

test('an announcement that fails is no announcement: whoever asked for it hears so', async () => {
  const failing = async (): Promise<never> => {
    throw new Error('names cannot be read');
  };
  const { notifier } = await setUp([MAIL], { named: failing });
  const subject = { destination: broken, isSender: false };
  await expect(notifier.onBroken({ ...OUTAGE, ...subject, alerts })).rejects.toThrow('names cannot be read');
  await expect(notifier.onMoved(broken, 'https://other.example.com')).rejects.toThrow('names cannot be read');
});

test('what follows from the outage of its sender waits for the end of that', async () => {
  const failure = { ...OUTAGE, destination: destinationOf('slack', 'C1'), isSender: false, alerts };
  const { told, noted, notifier } = await setUp([MAIL], { broken: ['sender-slack'] });
  await notifier.onBroken(failure);
  expect(noted).toMatchObject([{ isAnnounced: false }]);
  expect(told).toEqual([]);
  const later = await setUp([MAIL], { fallback: [MAIL] });
  await later.notifier.onBroken(failure);
  expect(later.told).toEqual([MAIL]);
});

test('says how many wait and how many died: of one destination, or of all that the sender serves', async () => {
  const [first = MAIL, second = MAIL] = ['C1', 'C2'].map((address) => destinationOf('slack', address));
  const { notifier, noted } = await setUp([MAIL], {
    fallback: [MAIL],
    ledger: { waitingByDestination: async () => ({ [first.id]: 1, [second.id]: 4, [MAIL.id]: 7 }) },
    deadLetters: {
      byDestination: async () =>
        new Map([first, second, MAIL].map((destination, n) => [destination.id, { destination, dead: n + 2 }])),
    },
  });
  await notifier.onBroken({ destination: first, isSender: false, alerts, reason: 'destination-dead', message: 'gone' });
  await notifier.onBroken({
    destination: first,
    isSender: true,
    alerts,
    reason: 'sender-misconfigured',
    message: 'no',
  });
  await notifier.onBroken({ destination: MAIL, isSender: false, alerts, reason: 'destination-dead', message: 'gone' });
  expect(noted.map(({ text }) => text.split('\n')[1]?.replace(/^Since [^.]*\. /, ''))).toEqual([
    expect.stringMatching(
      /^Alerts of “Lending Pool” do not arrive there\. (?:Nobody knows its name here: ask the team of “Lending Pool”\. )?2 alerts could not be delivered and went to the fallback\. One alert is waiting\./,
    ),
    expect.stringMatching(/^5 alerts could not be delivered and went to the fallback\. 5 alerts are waiting\./),
    // What dies at the fallback goes nowhere else.
    expect.stringMatching(
      /^Alerts of “Lending Pool” do not arrive there\. 4 alerts could not be delivered and are kept\. 7 alerts are waiting\./,
    ),
  ]);
});

test('of what died there it counts what died in this outage, not what is kept of earlier ones', async () => {
  const { redis, prefix } = place;
  const deadLetters = createDeadLetters(redis, `${prefix}:outage`);
  const now = Date.parse('2026-11-20T12:00:00.000Z');
  const MONTH_MS = 30 * 24 * 3_600_000;
  const die = (n: number, at: number) =>
    deadLetters.add({
      ...{ alert: makeAlert(n), destination: broken, reason: 'destination-dead', message: 'gone' },
      ...{ attempts: 1, at: new Date(at).toISOString() },
    });
  for (const n of [1, 2, 3, 4, 5]) await die(n, now - MONTH_MS);
  // A letter is written before its outage is noted.
  await die(6, now - 40);
  const { notifier, texts } = await setUp([MAIL], { deadLetters, now: () => now });
  await notifier.onBroken({ ...OUTAGE, destination: broken, isSender: false, alerts });
  await notifier.onRecovered({ destination: broken, isSender: false });
  expect(texts).toEqual([
    expect.stringContaining('One alert could not be delivered and is kept.'),
    expect.stringContaining('One alert could not be delivered and is kept.'),
  ]);
});

test('the last outage of an hour that is announced says that the next ones are not', async () => {
  const textAt = async (times: number): Promise<string | undefined> => {
    const { notifier, noted } = await setUp([MAIL], { times });
    await notifier.onBroken({ ...OUTAGE, destination: broken, isSender: false, alerts });
    return noted[0]?.text;
  };
  expect(await textAt(2)).not.toContain('comes and goes');
  expect(await textAt(3)).toMatch(/\nIt comes and goes: [^\n]+$/);
});
