/** The title of an announcement: what is wrong, so that it is read first. Pure. */
import { type Content, type Line, lineText } from './content.ts';
import { firstLine } from './heading.ts';

/** What every kind shows as a title, Slack's header the least. */
const TITLE_LIMIT = 140;

/** A title is text: no clock of the reader's, no link, no command to copy. */
const isPlain = (line: Line): boolean =>
  line.every(({ at, url, code }) => at === undefined && url === undefined && code === undefined);

/**
 * With the first line of one announcement of ours in its title, `❗ Tocsin: Slack #ops is archived`, and not again below. As it
 * is where that line is no title or all of it, or where several announcements are one message.
 */
export const ownTitled = (content: Content): Content => {
  const { isOurs, isTitled, messageLines = [], message = '', happened } = content;
  const [first, ...lines] = messageLines;
  if (!isOurs || isTitled || first === undefined || !isPlain(first)) return content;
  const title = `${content.title}: ${lineText(first).replace(/\.$/, '')}`;
  if (title.length > TITLE_LIMIT || firstLine(lineText(first)) !== happened) return content;
  const begin = lines.findIndex((line) => lineText(line) !== '');
  if (begin < 0) return content;
  const rest = message.split('\n').slice(1 + begin);
  return { ...content, title, message: rest.join('\n'), messageLines: lines.slice(begin) };
};
