/**
 * Every field of an inspection and of a stored notification that people are shown, in every channel that people read, with
 * texts that pose as Tocsin's own, are markup there, or hide: no line of theirs stands as one of ours, nothing of it can be
 * clicked or calls somebody, and nothing of it is unseen.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Alert, HumanKind, JsonObject } from '../../src/alert.ts';
import { FORMATS, type Format } from '../../src/channels/channel.ts';
import { createPresentation } from '../../src/channels/content/presentation.ts';
import { atOnce } from '../../src/chunks.ts';
import { inspectionAlert, notificationAlert } from '../support/alerts.ts';
import { casesOf } from '../support/attack-cases.ts';
import type { Bench, Contestant, Shown } from './contestant.ts';
import { discordContestant } from './discord.ts';
import { emailContestant } from './email.ts';
import { slackContestant } from './slack.ts';
import { teamsContestant } from './teams.ts';
import { telegramContestant } from './telegram.ts';

const CONTESTANTS: readonly Contestant<unknown>[] = Object.values({
  slack: slackContestant,
  telegram: telegramContestant,
  email: emailContestant,
  discord: discordContestant,
  teams: teamsContestant,
} satisfies Record<HumanKind, unknown> & Record<string, Contestant<unknown>>);

const fired = (detector: string, message: string, status = 'detected'): JsonObject => ({
  [detector]: { status, message },
});

const inspected = (item: JsonObject, changes: Partial<Alert> = {}): Alert => inspectionAlert({ ...changes, item });

/** Where the service allows text. */
const FIELDS: Record<string, (text: string) => Alert> = {
  protocol: (text) => inspected({ protocol: text }, { protocol: text }),
  service: (text) => inspected({}, { service: text }),
  id: (text) => inspected({ _id: text }, { itemId: text }),
  chainId: (text) => inspected({ chainId: text }),
  txHash: (text) => inspected({ txHash: text }, { txHash: text }),
  txTimestamp: (text) => inspected({ txTimestamp: text }),
  txOrigin: (text) => inspected({ txOrigin: text }),
  invokedMethodName: (text) => inspected({ invokedMethodName: text }),
  assessment: (text) => inspected({ assessment: text }, { type: `inspection.${text}` }),
  createdAt: (text) => inspected({ createdAt: text }, { at: text }),
  'assets.address': (text) => inspected({ assets: [{ address: text, descriptor: 'Vault' }] }),
  'assets.descriptor': (text) => inspected({ assets: [{ address: `0x${'ab'.repeat(20)}`, descriptor: text }] }),
  'detections.name': (text) => inspected({ detections: fired(text, 'x') }),
  'detections.status': (text) => inspected({ detections: fired('mixer', 'x', text) }),
  'detections.message': (text) => inspected({ detections: fired('mixer', text) }),
  'a detector that did not fire': (text) => inspected({ detections: fired(text, '', 'notDetected') }),
  'admins of contracts': (text) => inspected({}, { context: { adminOf: [text], privilegedOn: [text] } }),
  'a trigger': (text) =>
    inspected({}, { context: { trigger: { matched: { number: 1, detectors: [text] }, groups: 2 } } }),
  'a follow-up': (text) =>
    inspected({}, { type: 'inspection.downgraded', followUp: { of: inspectionAlert().id, was: text, is: text } }),
  'notification.message': (text) => notificationAlert(text),
  'notification.protocol': (text) => notificationAlert('Paused', { protocol: text }),
  'notification.txHash': (text) => notificationAlert('Paused', { txHash: text }),
  'notification.id': (text) => notificationAlert('Paused', { itemId: text }),
};

/** Texts of several lines; the tests of each kind have how they are quoted. */
const QUOTED = new Set(['detections.message', 'notification.message']);

/** As lines of ours begin; short, as names are cut. Each is behind another character that ends a line somewhere. */
const OWN_LINES = ['🟢 OK ·', '❗ Tocsin', 'To do:', 'Acknowledged by'];
const [OK, TROUBLE, TO_DO, DONE] = OWN_LINES;
const POSING = [
  `x\n${OK}\r${TROUBLE}\r\n${TO_DO}\v${DONE} Ann`,
  `x\u0085${OK}\u2028${TROUBLE}\u2029${TO_DO}\f${DONE} Ann`,
];

const MARKUP = [
  '<b>x</b><a href="https://evil.example">ours</a><br></pre></td>',
  '<https://evil.example|ours> <!channel> <@U024BE7LH> <at>Ann</at>',
  '[ours](https://evil.example) **x** __x__ ||x|| ~~x~~ `x`',
  '@everyone @here <@&1> <t:0:R> :fire: {{DATE(2026-01-01)}}',
  'evil.example 127.0.0.1 /start @oncall #tag $USD +4917012345678',
  'https://evil.example/login tg://resolve?domain=x mailto:x@y.example',
];

const HIDING = [
  'safe\u202e reversed \u202c\u2066 isolated \u2069\u200e\u200f\u061c nul\u0000 bell\u0007 escape\u001b[2J\u009b31m',
  'zero\u200b\u200c\u200d\u2060\ufeff \u00ad\u034f\u115f\u3164 tags\u{e0041} \ufe0f\u{e0100} \ufff9\ufffb back\u0008',
];

const TEXTS = [...POSING, ...MARKUP, ...HIDING];

/** What is drawn as nothing or moves a line, but for what Tocsin puts into words that would be links, and into emoji. */
const UNSEEN = /(?!\u200b|\u2060|\ufe0f|[\n\t\r])(?:\p{Default_Ignorable_Code_Point}|\p{Cc}|[\ufff9-\ufffb])/u;

/** Links of ours: the explorer, by a hash or an address that is one. */
const EXPLORER = /^https:\/\/basescan\.org\/(?:tx|address)\/0x[0-9a-fA-F]+$/;

test('there are as many cases as is claimed', () => {
  const tried = [Object.keys(FIELDS), CONTESTANTS, FORMATS, TEXTS].reduce((product, { length }) => product * length, 1);
  expect(tried).toBeGreaterThanOrEqual(casesOf(import.meta.filename));
});

describe.each(CONTESTANTS.map((one) => [one.format ?? one.kind, one] as const))('in %s', (name, contestant) => {
  let bench: Bench<unknown>;
  beforeEach(async () => {
    bench = await contestant.open({ timeoutMs: 60_000 });
  });
  afterEach(async () => {
    await bench.channel.close();
    await bench.stopProvider();
  });

  const shown = async (alerts: Alert[], format: Format): Promise<Shown[]> => {
    const seen = bench.accepted().length;
    const context = { format, sentAt: '2026-11-20T10:07:55.000Z', presentation: createPresentation() };
    const parcel = { destination: bench.destinations[0], alerts };
    for (const message of atOnce(bench.channel.compose(parcel, context))) {
      await bench.channel.send(message, new AbortController().signal);
    }
    return bench.accepted().slice(seen);
  };

  const isOwn = (line: string): boolean => OWN_LINES.some((own) => line.startsWith(own));
  /** Where Telegram refused the markup, its apps make links and mentions of what looks like one. */
  const isLinkedByApps = (format: Format): boolean => name === 'telegram' && format !== 'rich';
  const problemsOf = ({ text, active }: Shown, field: string, format: Format): string[] => [
    ...(QUOTED.has(field) ? [] : text.split('\n').filter(isOwn)).map((line) => `a line of ours: ${line}`),
    ...(isLinkedByApps(format) ? [] : active.filter((to) => !EXPLORER.test(to))).map((to) => `active: ${to}`),
    ...(UNSEEN.test(text) ? [`unseen: ${JSON.stringify(text)}`] : []),
  ];

  test.each(Object.entries(FIELDS))('%s is text of others, and seen', async (field, make) => {
    const found: string[] = [];
    for (const format of FORMATS) {
      for (const text of TEXTS) {
        const messages = await shown([make(text)], format);
        const problems = messages.flatMap((message) => problemsOf(message, field, format));
        found.push(...problems.map((one) => `${format}, ${JSON.stringify(text.slice(0, 30))}: ${one}`));
      }
    }
    expect(found).toEqual([]);
  });

  const OF_PROTOCOLS = ['protocol', 'invokedMethodName', 'assets.descriptor', 'detections.name', 'detections.message'];

  test.each(OF_PROTOCOLS)('%s is that, too, where several protocols have it of one transaction', async (field) => {
    const found: string[] = [];
    const other = inspected({ _id: 'other', protocol: 'Bridge' }, { id: 'other', protocol: 'Bridge' });
    for (const format of ['rich', 'plain'] as const) {
      for (const text of TEXTS) {
        const one = FIELDS[field]?.(text) ?? other;
        const privileged = { ...one, context: { privilegedOn: ['Vault'] } };
        const messages = await shown([privileged, other], format);
        expect(messages[0]?.text).toContain('2 protocols · one transaction');
        found.push(...messages.flatMap((message) => problemsOf(message, field, format)));
      }
    }
    expect(found).toEqual([]);
  });
});
