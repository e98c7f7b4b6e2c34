/**
 * Microsoft Teams, by the webhook of a workflow: an adaptive card. Source:
 * https://support.microsoft.com/office/create-incoming-webhooks-with-workflows-for-microsoft-teams-8ae491c7-0394-4861-ba59-055e33f75498
 */
import { counted, shorten } from '../../../text.ts';
import type { Format } from '../../channel.ts';
import { type Content, codesOf, type Detection, type Fact, fairShares, noticesOf } from '../../content/content.ts';
import { moreProtocols, unsaid } from '../../content/heading.ts';
import { type DigestContent, type DigestItem, nameOf, topOf } from '../../digest-content.ts';
import type { FormatModule, WebhookBody, WebhookRequest } from './format.ts';
import { composeForPeople, firstThatFits, fittedText } from './people.ts';
import {
  type Action,
  type Block,
  block,
  cardRequest,
  fitsCard,
  headBlock,
  lineBlock,
  linkRun,
  quoteBlock,
  type Run,
  run,
  small,
  VALUE_LIMIT,
} from './teams-card.ts';

// One incident, or announcements of one kind, as a card of Teams; of a long stored notification the beginning.

const TITLE_LIMIT = 300;
const NOTICE_LIMIT = 500;
const NAME_LIMIT = 120;
const FACTS_MAX = 40;
const LINES_MAX = 60;
const DETECTIONS_MAX = 12;
/** What is said of all detectors together, in UTF-16 units: less where it makes the card too large. */
const SAID_LIMITS = [4000, 2000, 1000, 400, 150];
const PART_SIZES = [4000, 2000, 1000];
const DETAILS_ID = 'details';

const detectionBlocks = (detections: readonly Detection[], limit: number): Block[] => {
  const some = detections.slice(0, DETECTIONS_MAX);
  const left = detections.length - some.length;
  const blocks = fairShares(some, ({ message }) => message.length, limit).flatMap(
    ([{ name, message, between = ': ' }, share]) => {
      const said = shorten(message.replaceAll('\n', ' '), share);
      return small(run(shorten(name, NAME_LIMIT), { weight: 'Bolder' }), run(said === '' ? '' : `${between}${said}`));
    },
  );
  return quoteBlock([...blocks, ...small(run(left > 0 ? `and ${counted(left, 'more detector')}` : ''))]);
};

/** A run knows no end of a line, so each line is a block. */
const textBlocks = (text: string): Block[] => {
  const lines = text === '' ? [] : text.split('\n');
  const shown =
    lines.length > LINES_MAX ? [...lines.slice(0, LINES_MAX - 1), lines.slice(LINES_MAX - 1).join(' ')] : lines;
  return shown.flatMap((line) => block(run(line === '' ? ' ' : line), 'None'));
};

const messageBlocks = (part: string, isOurs: boolean): Block[] =>
  isOurs ? textBlocks(part) : quoteBlock(textBlocks(part));

const foldedBlock = (items: readonly Block[], isFolded: boolean): Block => ({
  type: 'Container',
  ...(isFolded ? ({ id: DETAILS_ID, isVisible: false } as const) : {}),
  items,
});

const factBlock = ({ label, value, url, code, note }: Fact): Block[] => {
  const shown = linkRun(shorten(value, VALUE_LIMIT), url, code ? { fontType: 'Monospace' } : {});
  const noted = run(note === undefined ? '' : ` (${shorten(note, NAME_LIMIT)})`);
  return small(run(`${label}: `, { isSubtle: true }), shown, noted);
};

/** And in full what is short above. Folded where the card has an action that unfolds them. */
const detailsBlocks = (content: Content, isFolded: boolean, room: number): Block[] => {
  const { details, gist } = content;
  if (details.length === 0) return [];
  const left = details.length - FACTS_MAX;
  const more = small(run(left > 0 ? `and ${left} more at the service` : ''));
  const whole = detectionBlocks(unsaid(content, gist), room);
  const items = [...details.slice(0, FACTS_MAX).flatMap(factBlock), ...more, ...whole];
  return [foldedBlock(items, isFolded)];
};

const unfold = (title: string): Action => ({ type: 'Action.ToggleVisibility', title, targetElements: [DETAILS_ID] });

const actionsOf = ({ links }: Content, hasDetails: boolean): Action[] => [
  ...links.map(({ label, url }): Action => ({ type: 'Action.OpenUrl', title: label, url })),
  ...(hasDetails ? [unfold('Details')] : []),
];

const noticeBlock = (notice: string): Block[] => block(run(shorten(notice, NOTICE_LIMIT)));

const remarkBlock = (remark: string): Block[] => block(run(remark, { isSubtle: true }));

const PART_BYTES = 14_000;

const isPart = (blocks: readonly Block[]): boolean => Buffer.byteLength(JSON.stringify(blocks)) <= PART_BYTES;

/** Our own message with its commands and links; nothing where it is too long for one card. */
const ownBlocks = ({ messageLines = [] }: Content): Block[] => {
  const blocks = messageLines.flatMap((line) => (line.length === 0 ? block(run(' '), 'None') : lineBlock(line)));
  return isPart(blocks) ? blocks : [];
};

const firstCard = (
  content: Content,
  said: readonly Block[],
  { room, hasDetails, hasActions }: { room: number; hasDetails: boolean; hasActions: boolean },
) => {
  const { title, headline, tone, lines, times } = content;
  const { above, below } = noticesOf(content);
  const details = hasDetails ? detailsBlocks(content, hasActions, room) : [];
  return cardRequest(
    shorten(headline, NOTICE_LIMIT),
    [
      headBlock(tone, shorten(title, TITLE_LIMIT)),
      ...above.flatMap(noticeBlock),
      ...detectionBlocks(content.gist, room),
      ...small(run(moreProtocols(content))),
      ...said,
      ...below.flatMap(noticeBlock),
      ...lines.flatMap(lineBlock),
      ...lineBlock(times),
      ...details,
    ],
    hasActions ? actionsOf(content, details.length > 0) : [],
  );
};

/** With the details if there is room for them. */
const fittedCard = (content: Content, said: readonly Block[], format: Format): WebhookRequest => {
  const make = (hasDetails: boolean) =>
    firstThatFits(
      SAID_LIMITS,
      (room) => firstCard(content, said, { room, hasDetails, hasActions: format === 'rich' }),
      fitsCard,
    );
  const whole = make(true);
  return fitsCard(whole) ? whole : make(false);
};

/** Fewer of the lines and ids where all of them make the card too large. */
const MINIMAL_BLOCKS = [18, 9, 4, 1, 0];

const minimalCard = (content: Content): WebhookRequest => {
  const { headline, lines } = content;
  const happened = shorten(headline, NOTICE_LIMIT);
  const ids = codesOf(content).slice(0, DETECTIONS_MAX);
  const all = [...lines.flatMap(lineBlock), ...ids.flatMap(factBlock)];
  return firstThatFits(
    MINIMAL_BLOCKS,
    (count) => cardRequest(happened, [...block(run(happened)), ...all.slice(0, count)]),
    fitsCard,
  );
};

/** One card, with fewer details where it is too large. */
const singleTeams = (content: Content, format: Format): WebhookBody => {
  if (format === 'minimal') return [minimalCard(content)];
  const { message = '', isOurs } = content;
  const own = ownBlocks(content);
  const begin = fittedText(own.length > 0 ? '' : message, PART_SIZES, (part) => isPart(messageBlocks(part, isOurs)));
  const said = [...own, ...messageBlocks(begin.text, isOurs), ...remarkBlock(begin.remark)];
  return [fittedCard(content, said, format)];
};

// Many incidents as one card of Teams: how many and where, the worst, the counts, and the others in a line each.

const ITEM_LIMIT = 160;
const ROW_LIMIT = 80;
/** Items that are listed: fewer where they make the card too large. */
const LISTED = [60, 40, 30, 20, 15, 10, 5];
const SAID_LIMIT = 120;
const WORST = 3;
const WORST_LIMIT = 300;

const referenceRun = (item: DigestItem): Run[] => {
  const { url, shortHash } = item;
  return url === undefined || shortHash === undefined
    ? run(nameOf(item), { fontType: 'Monospace' })
    : linkRun(shortHash, url);
};

const itemBlock = (item: DigestItem, said: number): Block[] => {
  const happened = run(said === 0 ? ' ' : `: ${shorten(item.said, said)} `);
  return small(run(shorten(item.title, ITEM_LIMIT), { weight: 'Bolder' }), happened, referenceRun(item));
};

/** What happened is quoted. */
const worstBlocks = (item: DigestItem): Block[] => [
  ...block([
    ...run(`${shorten(item.title, ITEM_LIMIT)} `, { weight: 'Bolder' }),
    ...referenceRun(item),
    ...run(item.remarks.map((remark) => ` · ${remark}`).join('')),
  ]),
  ...quoteBlock(small(run(shorten(item.happened, WORST_LIMIT)))),
];

const tableBlocks = ({ tables }: DigestContent): Block[] =>
  tables.flatMap((table) => {
    const { rows, more } = topOf(table);
    const named = rows.flatMap(({ name, count, url }, index) => [
      ...run(index === 0 ? '' : ', '),
      ...linkRun(shorten(name, ROW_LIMIT), url),
      ...run(` ${count}`),
    ]);
    return small(run(`${table.title}: `, { weight: 'Bolder' }), named, run(more > 0 ? `, ${more} more` : ''));
  });

/** One card, as large as Teams takes it; what has no room is counted, with the command that lists it. */
const digestTeams = (content: DigestContent, format: Format): WebhookBody => {
  const { tone, title, notice, why, span, items, command, headline } = content;
  const isMinimal = format === 'minimal';
  const isFolded = format === 'rich';
  const worst = isMinimal ? 0 : WORST;
  const make = (count: number) => {
    const left = items.length - Math.min(items.length, count);
    const others = items.slice(worst, count).flatMap((item) => itemBlock(item, isMinimal ? 0 : SAID_LIMIT));
    const body = [
      headBlock(tone, shorten(title, ITEM_LIMIT)),
      ...items.slice(0, worst).flatMap(worstBlocks),
      ...block(run(shorten(notice ?? '', NOTICE_LIMIT))),
      ...(isMinimal ? [] : tableBlocks(content)),
      ...small(run(`${span}. `), run(why, { isSubtle: true })),
      ...(others.length === 0 ? [] : [foldedBlock(others, isFolded)]),
      ...(left > 0
        ? block([...run(`and ${left} more; all of them: `), ...run(command, { fontType: 'Monospace' })])
        : []),
    ];
    const actions = isFolded && others.length > 0 ? [unfold('The others')] : [];
    return cardRequest(shorten(headline, NOTICE_LIMIT), body, actions);
  };
  return [firstThatFits(LISTED, make, fitsCard)];
};

export const teams: FormatModule = {
  contentType: 'application/json',
  reader: 'people',
  compose: composeForPeople(singleTeams, digestTeams),
};
