/** Many incidents as one message of Discord: how many and where, the worst, the counts, and the others in a line each. */
import type { Format } from '../../channel.ts';
import { type DigestContent, type DigestItem, nameOf, topOf } from '../../digest-content.ts';
import { colorOf, type Embed, embedRequest, LIMITS, sizeOf, textBody } from './discord-embed.ts';
import { escapeDiscord, fitted, lineDiscord, linkDiscord, valueDiscord } from './discord-text.ts';
import type { WebhookBody } from './format.ts';
import { firstThatFits } from './people.ts';

const NOTICE_LIMIT = 500;
const TITLE_LIMIT = 160;
const ROWS = 3;
const NAME_LIMIT = 80;
/** The worst come first; fewer where names and links are long. */
const WORST = [3, 1, 0];
const WORST_LIMIT = 300;
const HEAD_LIMIT = 3000;
/** What is said of each item, in UTF-16 units: less where there are many. */
const SAID_LIMITS = [160, 80, 40, 0];

const referenceOf = (item: DigestItem): string => {
  const { url, shortHash } = item;
  return url === undefined || shortHash === undefined ? valueDiscord(nameOf(item), true) : linkDiscord(shortHash, url);
};

const itemLine = (item: DigestItem, limit: number): string => {
  const said = limit === 0 ? '' : `: ${fitted(item.happened, limit)}`;
  return `${fitted(item.title, TITLE_LIMIT)}${said} ${referenceOf(item)}`;
};

const tableLines = ({ tables }: DigestContent): string[] =>
  tables.map((table) => {
    const { rows, more } = topOf(table, ROWS);
    const named = rows.map(({ name, count, url }) => {
      const shown = url === undefined ? fitted(name, NAME_LIMIT) : linkDiscord(name, url);
      return `${shown} ${count}`;
    });
    return `**${table.title}**: ${[...named, ...(more > 0 ? [`${more} more`] : [])].join(', ')}`;
  });

/** The worst, with what happened, quoted. A quotation goes on until a line is empty. */
const worstLines = (item: DigestItem): string[] => {
  const about = [referenceOf(item), ...item.remarks.map(escapeDiscord)].join(' · ');
  return [`**${fitted(item.title, TITLE_LIMIT)}** ${about}`, `> ${fitted(item.happened, WORST_LIMIT)}`, ''];
};

const headLines = (content: DigestContent, worst: number): string =>
  [
    ...content.items.slice(0, worst).flatMap(worstLines),
    ...(content.notice === undefined ? [] : [fitted(content.notice, NOTICE_LIMIT)]),
    ...tableLines(content),
    lineDiscord([...content.period, { text: `. ${content.why}` }]),
  ].join('\n');

/** Of the worst as many as leave room for the others. */
const headOf = (content: DigestContent): { head: Embed; shown: number } => {
  const shown = firstThatFits(
    WORST,
    (count) => count,
    (count) => headLines(content, count).length <= HEAD_LIMIT,
  );
  const description = headLines(content, shown);
  return { head: { title: fitted(content.title, LIMITS.title), description, color: colorOf(content.tone) }, shown };
};

const REMARK_ROOM = 160;

/** As many as there is room for; `left`: those that are not in it. */
const listed = (items: readonly DigestItem[], limit: number, room: number): { lines: string[]; left: number } => {
  const lines: string[] = [];
  let size = 0;
  for (const item of items) {
    const line = itemLine(item, limit);
    size += line.length + 1;
    if (size > room) break;
    lines.push(line);
  }
  return { lines, left: items.length - lines.length };
};

/** One request, within Discord's limits; what has no room is counted, with the command that lists it. */
export const digestDiscord = (content: DigestContent, format: Format): WebhookBody => {
  const { items, command } = content;
  const { head, shown } = headOf(content);
  const others = items.slice(shown);
  const room = Math.min(LIMITS.description, LIMITS.all - sizeOf([head])) - REMARK_ROOM;
  const remark = (left: number): string[] => (left > 0 ? [`and ${left} more; all of them: \`${command}\``] : []);
  if (format === 'minimal') {
    const { lines, left } = listed(items, 0, LIMITS.content - LIMITS.title - REMARK_ROOM);
    return textBody([fitted(content.title, LIMITS.title), ...lines, ...remark(left)].join('\n'));
  }
  const { lines, left } = firstThatFits(
    SAID_LIMITS,
    (limit) => listed(others, limit, room),
    (made) => made.left === 0,
  );
  const list: Embed = { description: [...lines, ...remark(left)].join('\n'), color: head.color };
  return { format: 'discord', requests: [embedRequest([head, list], { isBare: format !== 'rich' })] };
};
