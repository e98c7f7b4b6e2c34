/** The sums of a demo: what counts as delivered, and what as covered by its inspection. */
import { expect, test } from 'vitest';
import { createDemoSums } from '../../src/cli/demo-account.ts';
import type { ProducedEvent, ReceivedEvent } from '../../src/sandbox/events.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const KINDS = ['email', 'webhook'] as const;
const QUOTE = { type: 'produced', protocol: 'Vault', source: 'notifications', at: 0 } as const;

const INSPECTION: ProducedEvent = { ...QUOTE, source: 'inspections', id: 'i1', txHash: HASH, assessment: 'critical' };
const NOTIFICATION: ProducedEvent = {
  ...QUOTE,
  id: 'n1',
  txHash: HASH,
  message: `Critical <b>finding</b>.\nTx: ${HASH}`,
};
const announcement = (id: string): ProducedEvent => ({ ...QUOTE, id, message: 'All is well\r\nhere.' });

const arrival = (kind: ReceivedEvent['kind'], text: string, named: Partial<ReceivedEvent> = {}): ReceivedEvent => ({
  type: 'received',
  kind,
  destination: 'somewhere',
  at: 1,
  text,
  ids: [],
  txHashes: [],
  ...named,
});

const open = (...produced: ProducedEvent[]) => {
  const { produced: produce, received, sums } = createDemoSums(KINDS);
  for (const event of produced) produce(event);
  return { received, sums };
};

test('an alert is delivered when every kind has it, a notification also when its inspection covers it', () => {
  const { received, sums } = open(INSPECTION, NOTIFICATION);
  received(arrival('email', 'CRITICAL', { txHashes: [HASH] }));
  expect(sums()).toEqual({ alerts: 2, delivered: 0, withInspection: 0 });
  received(arrival('webhook', '{}', { ids: ['i1'], txHashes: [HASH] }));
  expect(sums()).toEqual({ alerts: 2, delivered: 2, withInspection: 1 });
  // It was sent all the same.
  const own = JSON.stringify({ data: { notification: { message: NOTIFICATION.message } } });
  received(arrival('webhook', own, { txHashes: [HASH] }));
  expect(sums()).toEqual({ alerts: 2, delivered: 2, withInspection: 0 });
});

test('of notifications that say the same each has a message of its own, however it was cleaned', () => {
  const { received, sums } = open(announcement('n1'), announcement('n2'));
  const json = JSON.stringify({ data: { notification: { message: announcement('n1').message } } });
  for (const delivered of [1, 2]) {
    received(arrival('email', 'NOTIFICATION Vault: *All is well* here\\.'));
    received(arrival('webhook', json));
    expect(sums()).toEqual({ alerts: 2, delivered, withInspection: 0 });
  }
});
