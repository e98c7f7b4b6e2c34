/** One incident as a Slack message, in each of the three formats. Pure. */
import type { ActionsBlock, ContextBlock, KnownBlock } from '@slack/types';
import type { Alert } from '../../alert.ts';
import { contentId } from '../../identity.ts';
import type { Sliced } from '../../slices.ts';
import { counted, shorten } from '../../text.ts';
import { clockText } from '../../time.ts';
import type { ComposeContext } from '../channel.ts';
import { type Content, type ContentLink, type Fact, type Line, noticesOf, type Piece } from '../content/content.ts';
import { describeIncident } from '../content/incident.ts';
import { ownTitled } from '../content/own-title.ts';
import { moreText, type Said, saidFirst } from '../content/said.ts';
import type { RestFile, SlackBody } from './body.ts';
import { colored, factBlocks, wholeBlocks } from './details.ts';
import { context, escapeSlack, fits, formatted, LIMITS, plain, section, titleBlock } from './markup.ts';
import { minimalBody, plainBody, wholeText } from './plain.ts';
import { dateFormat, happenedBlocks, linesBlock, secondsOf } from './rich-text.ts';

/** What a locked phone shows of a message. */
const PUSH_LIMIT = 300;

const timeText = ({ text, at }: Piece): string =>
  at === undefined ? escapeSlack(text) : `<!date^${secondsOf(at)}^${dateFormat(text)}|${escapeSlack(text)}>`;

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

const noticeBlocks = (notices: readonly string[]): ContextBlock[] => notices.map((notice) => context(notice));

const blocksOf = (content: Content, more: string): KnownBlock[] => [
  titleBlock(content.title),
  ...noticeBlocks(noticesOf(content).above),
  ...happenedBlocks(content, more),
  ...noticeBlocks(noticesOf(content).below),
  ...linesBlock(content.lines),
  ...timesBlock(content.times),
  ...linksBlock(content.links),
];

/** An announcement has no details, but a colour: when it was sent stands beside the bar. */
const foldedOf = ({ details, isOurs }: Content, sentAt: number): KnownBlock[] =>
  isOurs && details.length === 0 && !Number.isNaN(sentAt)
    ? timesBlock([{ text: clockText(sentAt), at: sentAt }])
    : factBlocks(details);

/** As much of a stored notification as stands in the message where the whole is in a file. */
const BEGINNING = 2000;
/** As many facts. */
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
  const blocks = blocksOf({ ...content, detections: first }, moreText({ more }));
  return bodyOf(content, blocks, [...foldedOf(content, sentAt), ...wholeBlocks(whole)]);
};

const shortFact = (fact: Fact): Fact => ({
  ...fact,
  value: shorten(fact.value, VALUE_BESIDE),
  ...(fact.note === undefined ? {} : { note: shorten(fact.note, VALUE_BESIDE) }),
});

/** The same, with everything in a file in the thread. */
const bodyWithFile = (content: Content, { first, more }: Said, id: string): SlackBody | undefined => {
  const { message, details } = content;
  const file: RestFile = { name: `tocsin-alert-${id}.txt`, text: wholeText(content), isRest: true };
  const shown = { ...content, detections: first, ...(message === undefined ? {} : { message: start(message) }) };
  const facts = details.slice(0, FACTS_BESIDE).map(shortFact);
  const left = details.length - facts.length;
  const where = `${left === 0 ? 'All' : `${counted(left, 'more fact')}, and all`} that was said in full: in a file in this message's thread, ${file.name}`;
  return bodyOf(content, blocksOf(shown, moreText({ more })), [...factBlocks(facts), context(where)], file);
};

const start = (message: string): string => shorten(message, BEGINNING);

/** Everything, or text alone: a part that is missing would not be missed. Our own words are text where they are long. */
const richBody = (content: Content, sentAt: number, fileId: string | undefined): SlackBody => {
  const said = saidFirst(content.detections);
  const folded = foldedBody(content, said, sentAt);
  if (folded !== undefined) return folded;
  const filed = fileId === undefined || content.isOurs ? undefined : bodyWithFile(content, said, fileId);
  return filed ?? plainBody(content);
};

const ID_SHOWN = 8;

/** `alerts`: of one incident. `mayAttach`: a file may go along with the message. */
export function* singleBody(
  alerts: readonly Alert[],
  { format, presentation, sentAt }: ComposeContext,
  mayAttach = false,
): Sliced<SlackBody> {
  const at = Date.parse(sentAt);
  const content = ownTitled(yield* describeIncident(alerts, { presentation, sentAt: at }));
  yield;
  switch (format) {
    case 'rich': {
      const id = contentId('message', ...alerts.map((alert) => alert.id)).slice(0, ID_SHOWN);
      return richBody(content, at, mayAttach ? id : undefined);
    }
    case 'plain':
      return plainBody(content);
    case 'minimal':
      return minimalBody(content);
  }
}
