/** The link in a mail counts as long as its mailbox may be sent to. */
import { expect, onTestFinished, test } from 'vitest';
import { createStore } from '../../../src/app/store.ts';
import { linkOf, tokenOf } from '../../../src/features/acknowledgement/annotation.ts';
import { createLinkPages } from '../../../src/features/acknowledgement/link.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const MAILBOX = destinationOf('email', 'oncall@example.com');
const NOW = Date.parse('2026-11-20T02:45:10Z');
const { id } = makeAlert(1);

test('the link of a mailbox that was revoked leads nowhere', async () => {
  const store = createStore({ ...openTestRedis(), onError: () => {}, now: () => NOW });
  onTestFinished(() => store.close());
  const { key } = store.acknowledgements;
  const token = tokenOf(await key(), MAILBOX.id, [id]);
  await store.acknowledgements.keepMessage(token, { destination: MAILBOX, alerts: [id] });
  const revoked = new Set<string>();
  const pages = createLinkPages({
    store: store.acknowledgements,
    ledger: { read: async () => undefined },
    isOpen: async () => (destination) => !revoked.has(destination.id),
    acknowledge: async () => 'Acknowledged.',
    onRefused: () => {},
    now: () => NOW,
  });
  const link = linkOf(await key(), token, NOW + 1000);
  expect(await pages.find(link)).toMatchObject({ count: 1, to: 'oncall@example.com' });
  revoked.add(MAILBOX.id);
  expect(await pages.find(link)).toBeUndefined();
});
