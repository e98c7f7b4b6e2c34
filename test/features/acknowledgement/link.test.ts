/** The link in a mail counts for its mailbox and its alerts, until its time is over, and as long as the mailbox may be sent to. */
import { expect, onTestFinished, test } from 'vitest';
import { createStore } from '../../../src/app/store.ts';
import { linkOf, tokenOf } from '../../../src/features/acknowledgement/annotation.ts';
import { createLinkPages } from '../../../src/features/acknowledgement/link.ts';
import { destinationOf } from '../../support/alerts.ts';
import { casesOf } from '../../support/attack-cases.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const MAILBOX = destinationOf('email', 'oncall@example.com');
const NOW = Date.parse('2026-11-20T02:45:10Z');
const { id } = makeAlert(1);

const setUp = async () => {
  const redis = openTestRedis();
  const store = createStore({ ...redis, onError: () => {}, now: () => NOW });
  onTestFinished(() => store.close());
  const { acknowledgements } = store;
  const key = await acknowledgements.key();
  const revoked = new Set<string>();
  const presses: string[] = [];
  const pages = createLinkPages({
    store: acknowledgements,
    ledger: { read: async () => undefined },
    isOpen: async () => (destination) => !revoked.has(destination.id),
    acknowledge: async ({ destination, alerts }) => {
      presses.push(`${destination.label}: ${alerts.join(' ')}`);
      return 'Acknowledged.';
    },
    onRefused: () => {},
    now: () => NOW,
  });
  /** A message at the destination, and the link to it. */
  const send = async (destination = MAILBOX, alerts = [id]) => {
    const token = tokenOf(key, destination.id, alerts);
    await acknowledgements.keepMessage(token, { destination, alerts });
    return { token, link: linkOf(key, token, NOW + 1000) };
  };
  return { ...redis, acknowledgements, key, pages, revoked, presses, send };
};

test('the link of a mailbox that was revoked leads nowhere', async () => {
  const { pages, revoked, send } = await setUp();
  const { link } = await send();
  expect(await pages.find(link)).toMatchObject({ count: 1, to: 'oncall@example.com' });
  revoked.add(MAILBOX.id);
  expect(await pages.find(link)).toBeUndefined();
});

test('a link with any of its characters changed, added or left out is none', async () => {
  const { pages, send } = await setUp();
  const { link } = await send();
  const forged = [...link].flatMap((character, at) => {
    const [before, after] = [link.slice(0, at), link.slice(at + 1)];
    const other = character === 'A' ? 'B' : 'A';
    return [`${before}${other}${after}`, `${before}${after}`, `${before}${other}${character}${after}`];
  });
  forged.push(`${link}.`, `${link}/`, `${link} `, link.toUpperCase(), `${link}\n`, '../button-key');
  expect(forged.length).toBeGreaterThanOrEqual(casesOf(import.meta.filename));
  for (const one of forged) {
    expect([one, await pages.isSigned(one), await pages.find(one)]).toEqual([one, false, undefined]);
  }
});

test.each<[string, (w: Awaited<ReturnType<typeof setUp>>) => Promise<string>]>([
  ['whose time is over', async ({ key, send }) => linkOf(key, (await send()).token, NOW)],
  ['to the button of a chat', async ({ send }) => (await send(destinationOf('slack', 'C024BE91L'))).link],
  ['to a message that never was', async ({ key }) => linkOf(key, tokenOf(key, MAILBOX.id, ['another']), NOW + 1000)],
  [
    'to a message that Redis gives to another mailbox',
    async ({ acknowledgements, send }) => {
      const { token, link } = await send();
      await acknowledgements.keepMessage(token, {
        destination: destinationOf('email', 'eve@evil.example'),
        alerts: [id],
      });
      return link;
    },
  ],
  [
    'to a message that Redis gives other alerts',
    async ({ acknowledgements, send }) => {
      const { token, link } = await send();
      await acknowledgements.keepMessage(token, { destination: MAILBOX, alerts: [id, 'another'] });
      return link;
    },
  ],
])('a link %s leads nowhere', async (_which, make) => {
  const world = await setUp();
  expect(await world.pages.find(await make(world))).toBeUndefined();
});

test('each link acknowledges the alerts of its own mailbox, and says so again where it is used again', async () => {
  const { pages, presses, send } = await setUp();
  const [mine, other] = [await send(), await send(destinationOf('email', 'dev@example.com'), ['b'])];
  for (const { link } of [mine, other, mine]) await (await pages.find(link))?.acknowledge('Ann');
  const own = `oncall@example.com: ${id}`;
  expect(presses).toEqual([own, 'dev@example.com: b', own]);
});
