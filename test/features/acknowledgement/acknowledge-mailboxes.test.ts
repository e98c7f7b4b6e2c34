/** Which mailboxes hear who acknowledged an alert, and in which words. */
import { expect, test } from 'vitest';
import type { Destination } from '../../../src/alert.ts';
import { createTellMailboxes, mailboxText } from '../../../src/features/acknowledgement/acknowledge.ts';
import type { Acknowledgement } from '../../../src/features/acknowledgement/words.ts';
import type { AnnouncementInput } from '../../../src/features/announcements/announce.ts';
import type { AlertRecord, DeliveryRecord } from '../../../src/ledger/record.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';

const AT = '2026-11-20T02:45:10.000Z';
const BY: Acknowledgement = { by: 'Ann', userId: 'U1', via: 'slack', to: 'C024BE91L', at: AT };
const WHERE = destinationOf('slack', 'C024BE91L');
const ONCALL = destinationOf('email', 'oncall@example.com');
const LEAD = destinationOf('email', 'lead@example.com');

const delivery = (destination: Destination, changes: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  ...{ state: 'delivered', destination, at: AT, handle: '<1@example.com>', attempts: [] },
  ...changes,
});

const setUp = (closed: readonly Destination[] = []) => {
  const records = new Map<string, AlertRecord>();
  const told: { input: AnnouncementInput; at: number; to: string[] }[] = [];
  const warnings: Record<string, unknown>[] = [];
  const tell = createTellMailboxes({
    ledger: { read: async (id) => records.get(id) },
    announce: async (input, at, destinations) => {
      told.push({ input, at, to: destinations.map(({ address }) => address) });
      return 'id';
    },
    isOpen: async () => (one) => !closed.some(({ id }) => id === one.id),
    fallback: [LEAD],
    names: async () => new Map([[WHERE.id, '#alerts']]),
    log: { warn: (facts: object) => void warnings.push({ ...facts }) },
  });
  /** Gives the alert's id. */
  const add = (number: number, deliveries: DeliveryRecord[], changes: Partial<AlertRecord['alert']> = {}): string => {
    const alert = { ...makeAlert(number), protocol: 'Vault', txHash: '0xabc', ...changes };
    records.set(alert.id, { alert, deliveries });
    return alert.id;
  };
  return { add, tell, told, warnings };
};

test('those that have the mail hear it once, below the first of its alerts', async () => {
  const { add, tell, told } = setUp();
  const one = add(1, [delivery(ONCALL), delivery(LEAD), delivery(WHERE)]);
  const two = add(2, [delivery(ONCALL), delivery(LEAD)], { protocol: 'Bridge' });
  await tell([one, two], BY, WHERE);
  expect(told).toEqual([
    {
      input: {
        ...{ about: 'alert.acknowledged', key: `${one} 2`, of: { id: one, txHash: '0xabc' } },
        message:
          '“Ann” is on 2 alerts (“Vault”, “Bridge”): acknowledged 02:45:10 UTC on Slack channel #alerts (C024BE91L).',
      },
      at: Date.parse(AT),
      to: ['oncall@example.com', 'lead@example.com'],
    },
  ]);
});

test('each hears of what it has itself', async () => {
  const { add, tell, told } = setUp();
  const one = add(1, [delivery(ONCALL)]);
  const two = add(2, [delivery(ONCALL), delivery(LEAD)], { protocol: 'Bridge', txHash: '0xdef' });
  await tell([one, two], BY, WHERE);
  expect(told.map(({ input, to }) => [input.of, input.message.split(' is on ')[1]?.split(':')[0], to])).toEqual([
    [{ id: one }, '2 alerts (“Vault”, “Bridge”)', ['oncall@example.com']],
    [{ id: two, txHash: '0xdef' }, '1 alert (“Bridge”)', ['lead@example.com']],
  ]);
});

test.each<[string, Destination, Partial<DeliveryRecord>, boolean]>([
  ['is about to get it', ONCALL, { state: 'waiting' }, true],
  ['is about to get it after a first try', ONCALL, { state: 'waiting', attempts: [{}] as never }, true],
  ['is of the fallback and has it', LEAD, {}, true],
  ['would get it as the fallback', LEAD, { state: 'waiting', by: 'late' }, false],
  ['would get it as the fallback after a first try', LEAD, { state: 'waiting', attempts: [{}] as never }, false],
  ['has another alert that covers it', ONCALL, { handle: undefined as never, with: 'another' }, false],
  ['did not get it, as it was muted', ONCALL, { state: 'muted' }, false],
  ['did not get it, as it failed', ONCALL, { state: 'dead' }, false],
])('one that %s', async (_who, destination, changes, hears) => {
  const { add, tell, told } = setUp();
  await tell([add(1, [delivery(destination, changes)])], BY, WHERE);
  expect(told).toHaveLength(hears ? 1 : 0);
});

test('one that may not be sent to any more does not hear it', async () => {
  const { add, tell, told } = setUp([ONCALL]);
  await tell([add(1, [delivery(ONCALL), delivery(LEAD)])], BY, WHERE);
  expect(told.map(({ to }) => to)).toEqual([['lead@example.com']]);
});

test('a label that is not the address leads nowhere', async () => {
  const { add, tell, told } = setUp();
  await tell([add(1, [delivery({ ...ONCALL, label: 'eve@example.com' })])], BY, WHERE);
  expect(told).toEqual([]);
});

test('more than a hundred do not all hear it, and the log says so', async () => {
  const { add, tell, told, warnings } = setUp();
  const boxes = Array.from({ length: 130 }, (_, n) => delivery(destinationOf('email', `p${n}@example.com`)));
  const id = add(1, boxes);
  await tell([id], BY, WHERE);
  expect(told.flatMap(({ to }) => to)).toHaveLength(100);
  expect(warnings).toEqual([{ alert: id, more: 30, most: 100 }]);
});

test('what fails is in the log, and the acknowledgement holds', async () => {
  const { warnings } = setUp();
  const tell = createTellMailboxes({
    ledger: { read: () => Promise.reject(new Error('Redis is away')) },
    ...{ announce: async () => 'id', isOpen: async () => () => true, fallback: [], names: async () => new Map() },
    log: { warn: (facts: object) => void warnings.push({ ...facts }) },
  });
  await tell(['a'], BY, WHERE);
  expect(warnings).toMatchObject([{ alert: 'a', err: { message: 'Redis is away' } }]);
});

test.each([
  [['Vault'], '1 alert (“Vault”).'],
  [['Vault', 'Vault'], '2 alerts (“Vault”).'],
  [['A', 'B', 'C', 'D'], '4 alerts in 4 protocols.'],
  [['Va\nult\u202e'], '1 alert (“Va ult”).'],
])('alerts of %j are %s', (protocols, said) => {
  const text = mailboxText(
    BY,
    undefined,
    protocols.map((protocol) => ({ protocol })),
  );
  expect(text).toBe(`“Ann” is on ${said.replace('.', '')}: acknowledged 02:45:10 UTC on Slack channel C024BE91L.`);
});

test('a link in a mail is named as such', () => {
  const text = mailboxText({ ...BY, via: 'email', to: 'oncall@example.com' }, undefined, [{ protocol: 'Vault' }]);
  expect(text).toContain('1 alert (“Vault”): acknowledged 02:45:10 UTC by the link in the mail to oncall@example.com.');
});
