/** Many incidents as one card of Teams: how many and where, the worst, the counts, and the others in a line each. */
import { shorten } from '../../../text.ts';
import { type DigestContent, type DigestItem, nameOf, topOf } from '../../digest-content.ts';
import type { WebhookBody } from './format.ts';
import { firstThatFits } from './people.ts';
import {
  type Block,
  block,
  cardRequest,
  fitsCard,
  headBlock,
  linkRun,
  quoteBlock,
  type Run,
  run,
} from './teams-card.ts';

const TITLE_LIMIT = 160;
const NAME_LIMIT = 80;
const NOTICE_LIMIT = 500;
const ROWS = 3;
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

const itemBlock = (item: DigestItem, said: number): Block[] =>
  block(
    [
      ...run(shorten(item.title, TITLE_LIMIT), { weight: 'Bolder' }),
      ...run(said === 0 ? ' ' : `: ${shorten(item.happened, said)} `),
      ...referenceRun(item),
    ],
    'Small',
  );

/** What happened is quoted. */
const worstBlocks = (item: DigestItem): Block[] => [
  ...block([
    ...run(`${shorten(item.title, TITLE_LIMIT)} `, { weight: 'Bolder' }),
    ...referenceRun(item),
    ...run(item.remarks.map((remark) => ` · ${remark}`).join('')),
  ]),
  ...quoteBlock(block(run(shorten(item.happened, WORST_LIMIT)), 'Small')),
];

const tableBlocks = ({ tables }: DigestContent): Block[] =>
  tables.flatMap((table) => {
    const { rows, more } = topOf(table, ROWS);
    const named = rows.flatMap(({ name, count, url }, index) => [
      ...run(index === 0 ? '' : ', '),
      ...(url === undefined ? run(shorten(name, NAME_LIMIT)) : linkRun(shorten(name, NAME_LIMIT), url)),
      ...run(` ${count}`),
    ]);
    return block(
      [...run(`${table.title}: `, { weight: 'Bolder' }), ...named, ...run(more > 0 ? `, ${more} more` : '')],
      'Small',
    );
  });

/** One card, as large as Teams takes it; what has no room is counted, with the command that lists it. */
export const digestTeams = (content: DigestContent, isMinimal: boolean): WebhookBody => {
  const { tone, title, notice, why, span, items, command, headline } = content;
  const worst = isMinimal ? 0 : WORST;
  const make = (count: number) => {
    const left = items.length - Math.min(items.length, count);
    return cardRequest(shorten(headline, NOTICE_LIMIT), [
      headBlock(tone, shorten(title, TITLE_LIMIT)),
      ...items.slice(0, worst).flatMap(worstBlocks),
      ...block(run(shorten(notice ?? '', NOTICE_LIMIT))),
      ...(isMinimal ? [] : tableBlocks(content)),
      ...block([...run(`${span}. `), ...run(why, { isSubtle: true })], 'Small'),
      ...items.slice(worst, count).flatMap((item) => itemBlock(item, isMinimal ? 0 : SAID_LIMIT)),
      ...(left > 0
        ? block([...run(`and ${left} more; all of them: `), ...run(command, { fontType: 'Monospace' })])
        : []),
    ]);
  };
  return { format: 'teams', requests: [firstThatFits(LISTED, make, fitsCard)] };
};
