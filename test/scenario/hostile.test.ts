/** Text that anybody can write onto a chain: it arrives, on every kind, as nothing but text. */
import { expect, test } from 'vitest';
import { HOSTILE_NAME, HOSTILE_TEXTS } from '../../src/sandbox/hostile.ts';
import type { Received } from '../../src/sandbox/receivers/received.ts';
import { readHtml } from '../support/mail-reader.ts';
import { squeezed, wordsOf } from '../support/words.ts';
import { startWorld, type World } from './world.ts';

const EXPLORER = 'https://etherscan.io/';

const OUR_ENTITIES = ['bold', 'code', 'pre', 'text_link', 'blockquote', 'expandable_blockquote', 'date_time'];

const OUR_DATE = /^<!date\^\d+\^[^|<>]+\|[\d :-]+UTC>$/;

/** The texts in which Slack reads markup. */
const mrkdwnIn = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(mrkdwnIn);
  if (typeof value !== 'object' || value === null) return [];
  const { type, text } = value as { type?: unknown; text?: unknown };
  return type === 'mrkdwn' && typeof text === 'string' ? [text] : Object.values(value).flatMap(mrkdwnIn);
};

/** A world that has sent every hostile text in every place where the service allows text. */
const tellAll = async (): Promise<{ world: World; texts: Map<string, string> }> => {
  const world = await startWorld({ names: [HOSTILE_NAME] });
  await world.start();
  const texts = new Map<string, string>();
  for (const [index, text] of HOSTILE_TEXTS.entries()) {
    const { txHash } = world.sandbox.service.insertInspection({
      protocol: HOSTILE_NAME,
      assessment: 'critical',
      invokedMethodName: text,
      assets: [{ address: `0x${'a'.repeat(40)}`, descriptor: text }],
      detections: { [text]: { status: 'detected', message: text } },
    });
    texts.set(txHash, text);
    world.notification(HOSTILE_NAME, `notice${index}end ${text}`);
  }
  await world.balanced(60_000);
  return { world, texts };
};

test('hostile texts are shown as text on all four kinds', async () => {
  const { world, texts } = await tellAll();
  const { slack, telegram, smtp, webhook } = world.sandbox.receivers;

  /** A digest names it, and its file has what was said. */
  const shown = (received: Received[], hash: string): string =>
    received.flatMap(({ text }) => (text.includes(hash) ? [text] : [])).join('\n');
  for (const [hash, text] of texts) {
    for (const receiver of [slack, telegram, smtp]) {
      const message = shown(receiver.received(), hash);
      const mail = receiver === smtp ? squeezed(message) : '';
      const isShown = (word: string): boolean => message.includes(word) || mail.includes(squeezed(word));
      expect(wordsOf(text).filter((word) => !isShown(word))).toEqual([]);
    }
  }

  // At the first try: nothing had to be said more plainly.
  for (const receiver of [slack, telegram, smtp, webhook]) {
    expect(receiver.attempts().filter(({ outcome }) => outcome !== 'accepted')).toEqual([]);
  }

  // The longest is shown whole.
  const longest = Math.max(...HOSTILE_TEXTS.map((text) => text.length));
  for (const receiver of [slack, telegram, smtp]) {
    const notices = receiver.received().filter(({ text }) => /^\[part|notice/.test(text));
    expect(
      notices
        .map(({ text }) => text)
        .join('')
        .match(/x/g)?.length,
    ).toBeGreaterThanOrEqual(longest);
  }

  // Slack: nobody is called, and the only links and times are ours.
  expect(slack.received().flatMap(({ raw }) => raw.mentions)).toEqual([]);
  const markup = slack
    .received()
    .flatMap(({ raw }) => [raw.text, ...mrkdwnIn([raw.blocks, raw.attachments])])
    .flatMap((text) => text.match(/<[^>]*>/g) ?? []);
  expect(markup.filter((link) => !link.startsWith(`<${EXPLORER}`) && !OUR_DATE.test(link))).toEqual([]);

  // Telegram: all that is marked is ours, and so are the links; none of it is dropped.
  const entities = telegram.received().flatMap(({ raw }) => raw.entities);
  expect(entities.filter(({ type }) => !OUR_ENTITIES.includes(type))).toEqual([]);
  expect(telegram.received().flatMap(({ raw }) => raw.lost)).toEqual([]);
  expect(entities.filter(({ url }) => url !== undefined && !url.startsWith(EXPLORER))).toEqual([]);

  // Mail: to its reader alone, and no element, attribute or link that we did not make.
  for (const { raw } of smtp.received()) {
    expect(raw.envelope.to).toHaveLength(1);
    expect(raw.headers).not.toHaveProperty('bcc');
    expect(readHtml(raw.html).active.filter((target) => !target.startsWith(EXPLORER))).toEqual([]);
  }

  // Webhooks: the item exactly as the service has it.
  const items = new Map(world.sandbox.service.inspections().map((item) => [item.txHash, item]));
  const inspections = webhook.received().flatMap(({ raw }) => {
    const { inspection } = raw.body.data as { inspection?: { txHash: string; detections: unknown } };
    return inspection ?? [];
  });
  expect(inspections).toHaveLength(items.size);
  for (const { txHash, detections } of inspections) expect(detections).toEqual(items.get(txHash)?.detections);
});
