/** Whoever takes a vault makes hundreds of alerts about dust besides: the one about the vault stands first all the same. */
import { describe, expect, test } from 'vitest';
import type { Alert, JsonObject, Parcel } from '../../src/alert.ts';
import { type ComposeContext, FORMATS } from '../../src/channels/channel.ts';
import { createPresentation } from '../../src/channels/content/presentation.ts';
import { describeDigest } from '../../src/channels/digest.ts';
import { composeEmail } from '../../src/channels/email/message.ts';
import { DIGEST_MAX } from '../../src/channels/incidents.ts';
import { composeSlack } from '../../src/channels/slack/message.ts';
import { composeTelegram } from '../../src/channels/telegram/message.ts';
import { discord } from '../../src/channels/webhook/formats/discord.ts';
import { teams } from '../../src/channels/webhook/formats/teams.ts';
import { atOnce, type Sliced, slice } from '../../src/chunks.ts';
import { destinationOf } from '../support/alerts.ts';
import { hashOf, stormAlert } from '../support/parcels.ts';

const DETECTORS = ['drasticBalanceChange', 'flashLoan', 'reentrancy', 'newContract', 'mixer', 'oracle', 'adminCall'];

const fired = (names: readonly string[], message: string): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { status: 'detected', message }]));

const address = (n: number): string => `0x${n.toString(16).padStart(40, 'd')}`;

const DUST = 'Token balance dropped 100 % below its 24 h mean';

/** One of a flood: the dust of a token that the attacker made. */
const dust = (n: number, item: JsonObject = {}, context: Alert['context'] = {}): Alert =>
  stormAlert(n, {
    context,
    item: {
      protocol: 'Harbor Lending',
      assets: [{ address: address(1), descriptor: 'Dust token' }],
      txOrigin: address(2),
      invokedMethodName: 'transfer',
      detections: fired(['drasticBalanceChange'], DUST),
      ...item,
    },
  });

const DRAIN = 60_000;

/** Newer than all dust, and it states less. */
const drain = (): Alert =>
  stormAlert(DRAIN, {
    item: {
      protocol: 'Harbor Lending',
      assets: [{ address: address(3), descriptor: 'Main vault' }],
      txOrigin: address(2),
      invokedMethodName: 'withdraw',
      detections: fired(['drasticBalanceChange', 'flashLoan', 'reentrancy'], 'Vault balance dropped 91 %'),
    },
  });

/** Two of the seven: there are 21. */
const pairOf = (n: number): string[] => {
  const pairs = DETECTORS.flatMap((one, at) => DETECTORS.slice(at + 1).map((other) => [one, other]));
  return pairs[n % pairs.length] ?? [];
};

const everythingVaried = (n: number): JsonObject => ({
  protocol: `Decoy ${n}`,
  assets: [{ address: address(100 + n), descriptor: `Vault ${n}` }],
  txOrigin: address(10_000 + n),
  invokedMethodName: `withdraw${n}`,
});

const longAgo = { since: '2026-01-01T00:00:00.000Z', origin: true };

const FLOODS: Record<string, (n: number) => Alert> = {
  'of one text': (n) => dust(n),
  'of many texts': (n) =>
    dust(n, {
      detections: fired(['drasticBalanceChange'], `Vault ${n} was drained, flash loan, ${100 - (n % 5)} % lost`),
    }),
  'of many contracts': (n) => dust(n, { assets: [{ address: address(100 + n), descriptor: `Vault ${n}` }] }),
  'of many origins and methods': (n) =>
    dust(n, { txOrigin: address(100 + n), invokedMethodName: `withdraw${n}` }, { first: longAgo }),
  'of two detectors each, in every pair': (n) => dust(n, { detections: fired(pairOf(n), DUST) }),
  'of many protocols': (n) => dust(n, { protocol: `Decoy ${n}` }),
  'by the very detectors of the drain': (n) =>
    dust(n, {
      txOrigin: address(100 + n),
      detections: fired(['drasticBalanceChange', 'flashLoan', 'reentrancy'], `${DUST}, ${n}`),
    }),
  'of privileged calls': (n) => dust(n, {}, { privilegedOn: ['Dust token'] }),
  'with everything varied': (n) => dust(n, { ...everythingVaried(n), detections: fired(pairOf(n), DUST) }),
  'of which half is varied': (n) => dust(n, n % 2 === 0 ? everythingVaried(n) : {}),
  'with decoys that are rare, too': (n) =>
    dust(n, n % 60 === 0 ? { ...everythingVaried(n), detections: fired(pairOf(n / 60), DUST) } : {}),
};

const flooded = (flood: (n: number) => Alert, count: number, at: number): Alert[] =>
  Array.from({ length: count }, (_, n) => flood(n)).toSpliced(at, 0, drain());

const contextOf = (format: ComposeContext['format']): ComposeContext => ({
  ...{ format, presentation: createPresentation(), sentAt: '2026-11-20T10:20:00.000Z' },
});

interface Composed {
  body: unknown;
}

const SLACK = destinationOf('slack', 'C024BE91L');
const HOOK = destinationOf('slack', 'https://hooks.slack.com/services/T/B/x');
const WEBHOOK = destinationOf('webhook', 'https://hooks.example.com/x');

type Compose = (parcel: Pick<Parcel, 'alerts'>, context: ComposeContext) => Sliced<Composed[]>;

/** Every kind that has digests; what it shows before anything is opened. */
const CHANNELS: Record<string, { compose: Compose; shown: (body: never) => unknown }> = {
  mail: {
    compose: ({ alerts }, context) => composeEmail({ destination: destinationOf('email', 'a@x.org'), alerts }, context),
    shown: ({ text, html }: { text: string; html?: string }) => html?.slice(html.indexOf('<body')) ?? text,
  },
  slack: {
    compose: ({ alerts }, context) => composeSlack({ destination: SLACK, alerts }, context, true),
    shown: ({ blocks, text }: { blocks?: unknown; text: string }) => blocks ?? text,
  },
  'incoming webhook of slack': {
    compose: ({ alerts }, context) => composeSlack({ destination: HOOK, alerts }, context, true),
    shown: ({ blocks, text }: { blocks?: unknown; text: string }) => blocks ?? text,
  },
  telegram: {
    compose: ({ alerts }, context) =>
      composeTelegram({ destination: destinationOf('telegram', '-1001234567890'), alerts }, context),
    shown: ({ text }: { text: string }) => text,
  },
  discord: {
    compose: ({ alerts }, context) => discord.compose({ destination: WEBHOOK, alerts }, context, { batch: 1 }),
    shown: (body) => body,
  },
  teams: {
    compose: ({ alerts }, context) => teams.compose({ destination: WEBHOOK, alerts }, context, { batch: 1 }),
    shown: (body) => body,
  },
};

const shortOf = (hash: string): string => `${hash.slice(0, 6)}…${hash.slice(-4)}`;

/** The transactions in the order in which a reader meets them. */
const transactionsIn = (shown: unknown, alerts: readonly Alert[]): string[] => {
  const text = typeof shown === 'string' ? shown : JSON.stringify(shown);
  const known = new Set(alerts.map(({ txHash = '' }) => shortOf(txHash)));
  const met = [...text.matchAll(/0x[0-9a-f]{64}|0x[0-9a-f]{4}…[0-9a-f]{4}/g)].map(([hash]) =>
    hash.length > 20 ? shortOf(hash) : hash,
  );
  return [...new Set(met)].filter((hash) => known.has(hash));
};

const PLACES = { first: 0, 'in the middle': 150, last: 299 };

const wording = { presentation: createPresentation(), sentAt: Date.parse('2026-11-20T10:20:00.000Z') };

describe.each(Object.entries(FLOODS))('a flood %s', (_what, flood) => {
  test.each(Object.entries(PLACES))('has the drain as its worst where that comes %s', (_where, at) => {
    const content = atOnce(describeDigest(flooded(flood, 299, at), wording));
    expect(content.items[0]?.hash).toBe(hashOf(DRAIN));
    expect(content.headline).toContain('worst: CRITICAL · Harbor Lending · Main vault');
  });

  test.each(Object.entries(CHANNELS))('shows the drain in the first three lines by %s', (_name, { compose, shown }) => {
    const alerts = flooded(flood, 299, 299);
    const [first] = atOnce(compose({ alerts }, contextOf('rich')));
    expect(transactionsIn(shown(first?.body as never), alerts).slice(0, 3)).toContain(shortOf(hashOf(DRAIN)));
  });
});

/** Like the drain in all that ranks it; only hash and sender differ. */
const copy = (n: number, item: JsonObject = {}): Alert => {
  const alert = drain();
  return stormAlert(n, {
    item: {
      ...alert.item,
      _id: `copy${n}`,
      txHash: hashOf(n),
      txOrigin: address(n),
      txTimestamp: stormAlert(n).item.txTimestamp ?? '',
      ...item,
    },
  });
};

const said = (message: string): JsonObject => ({
  detections: fired(['drasticBalanceChange', 'flashLoan', 'reentrancy'], message),
});

/** Each as a flood of the drain's own words, and how many of a hundred transactions each kind names before anything is opened. */
const COPIES: Record<string, (n: number) => Alert> = {
  'word for word': (n) => copy(n),
  'that state more': (n) => copy(n, said(`Vault balance dropped ${92 + (n % 8)} % in transaction ${n}`)),
  'in other words': (n) => copy(n, said(`Vault ${'abcdefghij'[n % 10]}${n} was drained, all of it is lost`)),
};
const NAMED: Record<string, number> = { mail: 100, slack: 100, telegram: 30 };

/** With what Slack folds, which is one tap away. */
const textOf = (name: string, body: unknown): string =>
  JSON.stringify([
    CHANNELS[name]?.shown(body as never),
    ...(name === 'slack' ? [(body as { attachments?: unknown }).attachments] : []),
  ]);

const copied = (of: (n: number) => Alert, count: number, at: number): Alert[] => {
  const real = { ...drain(), item: { ...drain().item, txTimestamp: copy(at).item.txTimestamp ?? '' } };
  return Array.from({ length: count }, (_, n) => of(n < at ? n : n + 1)).toSpliced(at, 0, real);
};

describe.each(Object.entries(COPIES))('copies of the drain %s', (_what, of) => {
  test.each(Object.entries(NAMED))(
    '%s names it, wherever it is, among those that one line stands for',
    (name, least) => {
      const { compose } = CHANNELS[name] ?? expect.unreachable();
      for (const at of name === 'telegram' ? [0, 99] : [0, 50, 99]) {
        const alerts = copied(of, 99, at);
        for (const format of ['rich', 'plain'] as const) {
          const [first] = atOnce(compose({ alerts }, contextOf(format)));
          const text = textOf(name, first?.body);
          const met = transactionsIn(text, alerts);
          expect(met.length, `${at}, ${format}`).toBeGreaterThanOrEqual(least);
          expect(met, `${at}, ${format}`).toContain(shortOf(hashOf(DRAIN)));
          if (format === 'rich') expect(text).toContain('one of 100: the explorer has only real ones');
        }
      }
    },
  );

  test('are counted where there is no room for all, and those that are named are from every time', () => {
    const alerts = copied(of, 2999, 1000);
    for (const name of Object.keys(NAMED)) {
      const [first] = atOnce(CHANNELS[name]?.compose({ alerts }, contextOf('rich')) ?? slice(() => []));
      const text = textOf(name, first?.body);
      const met = transactionsIn(text, alerts);
      const [begin, end] = [0, 2999].map((at) => shortOf(alerts[at]?.txHash ?? ''));
      expect(met, name).toEqual(expect.arrayContaining([begin, end]));
      const more = Number(/ and ([\d,]+) more in the file/.exec(text)?.[1]?.replaceAll(',', ''));
      expect(met.length + more, name).toBe(3000);
      const places = met
        .map((hash) => alerts.findIndex(({ txHash = '' }) => shortOf(txHash) === hash))
        .toSorted((a, b) => a - b);
      const gaps = places.slice(1).map((place, index) => place - (places[index] ?? 0));
      expect(Math.max(...gaps), name).toBeLessThanOrEqual(4 * Math.ceil(3000 / met.length));
    }
  });
});

test('the contract is linked, as its page at the explorer has no transaction that somebody made up', () => {
  const { tables } = atOnce(
    describeDigest(
      copied((n) => copy(n), 20, 3),
      wording,
    ),
  );
  const contracts = tables.find(({ title }) => title === 'Contracts');
  expect(contracts?.counts).toMatchObject([
    { count: 21, url: expect.stringContaining('https://basescan.org/address/0x') },
  ]);
});

describe('thousands', () => {
  test('have the drain in the first of the messages that they take', () => {
    const alerts = flooded((n) => dust(n), 2000, 2000);
    for (const [name, { compose, shown }] of Object.entries(CHANNELS)) {
      for (const format of FORMATS) {
        const [first] = atOnce(compose({ alerts }, contextOf(format)));
        const met = transactionsIn(shown(first?.body as never), alerts);
        expect(met.slice(0, 3), `${name}, ${format}`).toContain(shortOf(hashOf(DRAIN)));
      }
    }
  });

  test('name the drain on a locked phone', () => {
    const alerts = flooded((n) => dust(n), 299, 299);
    const worst = 'CRITICAL · Harbor Lending · Main vault';
    const bodyOf = (name: string): { text: string; html?: string } =>
      atOnce(CHANNELS[name]?.compose({ alerts }, contextOf('rich')) ?? slice(() => []))[0]?.body as never;
    expect(bodyOf('slack').text).toContain(`worst: ${worst}`);
    expect(bodyOf('mail').html).toContain(`The worst: ${worst}`);
    expect(bodyOf('telegram').text.split('\n')[1]).toContain(worst);
  });

  test('are ranked in slices', () => {
    const work = describeDigest(
      flooded((n) => dust(n, everythingVaried(n)), DIGEST_MAX - 1, 17),
      wording,
    );
    let slices = 0;
    while (!work.next().done) slices += 1;
    expect(slices).toBeGreaterThan(DIGEST_MAX / 20);
  });
});
