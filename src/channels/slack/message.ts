/** A parcel as Slack messages: one for each incident, or a digest if there are many. Pure. */

import type { ActionsBlock, ContextBlock, KnownBlock } from '@slack/types';
import type { Alert, Parcel } from '../../alert.ts';
import type { Sliced } from '../../chunks.ts';
import { counted, shorten } from '../../text.ts';
import { clockText } from '../../time.ts';
import type { ComposeContext, Message } from '../channel.ts';
import {
  boundDetection,
  type Content,
  type ContentLink,
  type Fact,
  fairShares,
  type Line,
  noticesOf,
} from '../content/content.ts';
import { describeIncident } from '../content/describe.ts';
import { ownTitled, type Said, saidFirst } from '../content/heading.ts';
import { describeNews } from '../content/news.ts';
import { wordingOf } from '../content/reading.ts';
import { planOf, toMessage } from '../incidents.ts';
import { foundIn, partsIn, partsOf, wholeFile } from '../whole.ts';
import { isHook } from './address.ts';
import {
  colored,
  context,
  escapeSlack,
  factBlocks,
  fits,
  formatted,
  happenedBlocks,
  LIMITS,
  linesBlock,
  plain,
  type RestFile,
  type SlackBody,
  section,
  timeText,
  titleBlock,
  wholeBlocks,
  within,
} from './blocks.ts';
import { digestBodies } from './digest.ts';

/** `mayAttach`: the bot may share a file in this channel, as far as we know. */
export function* composeSlack(
  { destination, alerts }: Parcel,
  context: ComposeContext,
  mayAttach: boolean,
): Sliced<Message<SlackBody>[]> {
  const withFile = mayAttach && !isHook(destination.address);
  const messages: Message<SlackBody>[] = [];
  for (const plan of planOf(alerts)) {
    if (plan.as === 'single') {
      messages.push(toMessage(destination, plan.alerts, yield* singleBody(plan.alerts, context, withFile), false));
      continue;
    }
    for (const { alerts: some, body } of yield* digestBodies(plan.alerts, context, withFile)) {
      messages.push(toMessage(destination, some, body, true));
    }
  }
  return messages;
}

/** What a locked phone shows of a message. */
const PUSH_LIMIT = 300;

/** Times are ours: no text from outside is in them. */
const timesBlock = (times: Line): ContextBlock[] =>
  times.length === 0 ? [] : [context(formatted(times.map(timeText).join('')))];

/** Slack reports presses of links as well; nobody has to answer them. Source: docs.slack.dev, "Button element". */
const linksBlock = (links: readonly ContentLink[]): ActionsBlock[] =>
  links.length === 0
    ? []
    : [
        {
          type: 'actions',
          elements: links.map(({ label, url }, index) => ({
            ...{ type: 'button', action_id: `link.${index}`, url },
            text: plain(shorten(label, LIMITS.button)),
          })),
        },
      ];

const blocksOf = (content: Content, more: string): KnownBlock[] => {
  const { above, below } = noticesOf(content);
  return [
    titleBlock(content.title),
    ...above.map(context),
    ...happenedBlocks(content, more),
    ...below.map(context),
    ...linesBlock(content.lines),
    ...timesBlock(content.times),
    ...linksBlock(content.links),
  ];
};

/** An announcement has no details, but a colour: when it was sent stands beside the bar. */
const foldedOf = ({ details, isOurs }: Content, sentAt: number): KnownBlock[] =>
  isOurs && details.length === 0 && !Number.isNaN(sentAt)
    ? timesBlock([{ text: clockText(sentAt), at: sentAt }])
    : factBlocks(details);

/** As much of a stored notification as stands in the message where the whole is in a file, and as many facts. */
const MESSAGE_BESIDE = 2000;
const FACTS_BESIDE = 60;
const VALUE_BESIDE = 300;

/** Nobody has to measure what is longer than all of them together may be. */
const isHuge = ({ detections, message = '' }: Content): boolean =>
  detections.reduce((sum, one) => sum + one.message.length, message.length) > LIMITS.all;

/** Buttons, and who acknowledged it: they come when the message is made, and have no room of their own. */
const LATER: readonly KnownBlock[] = [section('x'.repeat(500)), section('x')];

const bodyOf = (
  { headline, tone }: Content,
  blocks: KnownBlock[],
  folded: KnownBlock[],
  file?: RestFile,
): SlackBody | undefined => {
  const attachments = colored(tone, folded);
  if (!fits([...blocks, ...LATER], attachments)) return undefined;
  return {
    text: escapeSlack(shorten(headline, PUSH_LIMIT)),
    blocks,
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(file === undefined ? {} : { file }),
  };
};

/** Detectors have a share each, and what they say in full is folded. */
const foldedBody = (content: Content, { first, more, whole }: Said, sentAt: number): SlackBody | undefined => {
  if (isHuge(content)) return undefined;
  const blocks = blocksOf({ ...content, detections: first }, more);
  return bodyOf(content, blocks, [...foldedOf(content, sentAt), ...wholeBlocks(whole)]);
};

const shortFact = (fact: Fact): Fact => ({
  ...fact,
  value: shorten(fact.value, VALUE_BESIDE),
  note: fact.note && shorten(fact.note, VALUE_BESIDE),
});

/** The same, with everything in a file in the thread. */
const bodyWithFile = (content: Content, { first, more }: Said, alerts: readonly Alert[]): SlackBody | undefined => {
  const { message, details } = content;
  const file: RestFile = { ...wholeFile(content, alerts), isRest: true };
  const shown = { ...content, detections: first, message: message && shorten(message, MESSAGE_BESIDE) };
  const facts = details.slice(0, FACTS_BESIDE).map(shortFact);
  const left = details.length - facts.length;
  const where = `${left === 0 ? 'All' : `${counted(left, 'more fact')}, and all`} that was said in full: in a file in this message's thread, ${file.name}`;
  return bodyOf(content, blocksOf(shown, more), [...factBlocks(facts), context(where)], file);
};

/** Everything, or text alone: a part that is missing would not be missed. Our own words are text where they are long. */
const richBody = (content: Content, sentAt: number, alerts: readonly Alert[], mayAttach: boolean): SlackBody => {
  const said = saidFirst(content);
  const folded = foldedBody(content, said, sentAt);
  if (folded !== undefined) return folded;
  const filed = mayAttach && !content.isOurs ? bodyWithFile(content, said, alerts) : undefined;
  return filed ?? plainBody(content);
};

/** `alerts`: of one incident. `mayAttach`: a file may go along with the message. */
export function* singleBody(alerts: readonly Alert[], context: ComposeContext, mayAttach = false): Sliced<SlackBody> {
  const wording = wordingOf(context);
  const content =
    context.heard === undefined
      ? ownTitled(yield* describeIncident(alerts, wording))
      : yield* describeNews(alerts, context.heard, wording);
  yield;
  if (context.format === 'plain') return plainBody(content);
  if (context.format === 'minimal') return minimalBody(content);
  return richBody(content, wording.sentAt, alerts, mayAttach);
}

// One incident as text alone, which Slack shows as it stands: where blocks have no room for it, and after a refusal.

const SHORT_LIMIT = 300;

const sizeOf = (text: string): number => escapeSlack(text).length;

/** The detectors share the room that the rest leaves: a long one does not push out the others, nor the ids. */
const plainBody = (content: Content): SlackBody => {
  // What no text of Slack's holds is cut before anything else is done with it.
  const detections = content.detections.map((one) => boundDetection(one, LIMITS.text));
  const found = foundIn({ ...content, detections });
  const { before, happened, after } = partsOf({
    ...content,
    title: shorten(content.title, LIMITS.section),
    detections,
  });
  const rest = within(after, LIMITS.text / 2);
  const room = LIMITS.text - sizeOf(before) - sizeOf(rest) - happened.length - 4;
  const shown = fairShares(happened, sizeOf, room).map(([text, share], index) =>
    within(text, share, found[index]?.leftOut),
  );
  return { text: escapeSlack(partsIn(before, shown.join('\n'), rest)), mrkdwn: false };
};

const ID_LABELS = ['Inspection', 'Notification'];

/** The first fact is the transaction (or when it was stored). */
const minimalBody = ({ headline, details }: Content): SlackBody => {
  const [first] = details;
  const ids = details.filter(({ label }) => ID_LABELS.includes(label));
  const facts = [...(first === undefined || ids.includes(first) ? [] : [first]), ...ids];
  const text = [
    shorten(headline, SHORT_LIMIT),
    ...facts.map(({ label, value }) => `${label}: ${shorten(value, SHORT_LIMIT)}`),
    'Slack refused the full message. Look it up by this id at the monitoring service, or with: tocsin trace ID',
  ].join('\n');
  return { text: escapeSlack(within(text, LIMITS.text)), mrkdwn: false };
};
