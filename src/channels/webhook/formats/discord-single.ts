/** One incident, or announcements of one kind, as a message of Discord; a long stored notification as several. */
import { counted, quotedLines } from '../../../text.ts';
import type { Format } from '../../channel.ts';
import { type Content, type Fact, fairShares, noticesOf } from '../../content/content.ts';
import { colorOf, type Embed, embedRequest, LIMITS, sizeOf, textBody } from './discord-embed.ts';
import { escapeDiscord, fitted, lineDiscord, linkDiscord, valueDiscord } from './discord-text.ts';
import type { WebhookBody, WebhookRequest } from './format.ts';
import { newsOf, splitText } from './people.ts';

const NOTICE_LIMIT = 500;
const SAID_LIMIT = 1800;
/** For the quotation marks. */
const QUOTES_ROOM = 300;
const NAME_LIMIT = 200;
const ABOUT_LIMIT = 1000;
/** Of a part as it is sent: with the rest of the message it fits into one description. */
const PART_LIMIT = 2500;
/** Escaping makes a text longer, up to two and a half times. */
const PART_SIZES = [2400, 1600, 1000];

const lineLimit = (lines: readonly string[], limit: number): string[] => {
  let left = limit;
  return lines.filter((line) => {
    left -= line.length + 1;
    return left >= 0;
  });
};

/** Each detector has a share of the room; a long first one does not push out the others. */
const detectionLines = ({ detections }: Content): string[] => {
  const named = detections.map(({ name, message }) => ({ bold: `**${fitted(name, NAME_LIMIT)}**`, message }));
  const shares = fairShares(
    named.map(({ bold, message }) => `${bold}: ${escapeDiscord(message)}`.length),
    SAID_LIMIT,
  );
  const lines = named.map(({ bold, message }, index) => {
    const said = fitted(message, (shares[index] ?? 0) - `${bold}: `.length);
    return quotedLines(said === '' ? bold : `${bold}: ${said}`);
  });
  const shown = lineLimit(lines, SAID_LIMIT + QUOTES_ROOM);
  const left = lines.length - shown.length;
  return left > 0 ? [...shown, `> and ${counted(left, 'more detector')}`] : shown;
};

const saidLines = (part: string, isOurs: boolean): string[] => {
  const escaped = escapeDiscord(part);
  return part === '' ? [] : [isOurs ? escaped : quotedLines(escaped)];
};

const aboutLines = ({ lines, times, links }: Content): string[] => {
  const about = [...lines, ...(times.length > 0 ? [times] : [])].map(lineDiscord);
  const linked = links.map(({ label, url }) => linkDiscord(label, url)).join(' · ');
  return lineLimit([...about, ...(linked === '' ? [] : [linked])], ABOUT_LIMIT);
};

const factLine = ({ label, value, code, note }: Fact): string =>
  `${escapeDiscord(label)}: ${valueDiscord(value, code === true)}${note === undefined ? '' : ` (${fitted(note, NAME_LIMIT)})`}`;

const detailsEmbed = ({ details }: Content, color: number, room: number): Embed[] => {
  const lines = details.map(factLine);
  const shown = lineLimit(lines, Math.min(room - 60, LIMITS.description - 60));
  const left = lines.length - shown.length;
  const description = [...shown, ...(left > 0 ? [`and ${left} more at the service`] : [])].join('\n');
  return shown.length === 0 ? [] : [{ title: 'Details', description, color }];
};

/** Our own message with its commands and links; nothing where it is too long for one description. */
const ownLines = ({ messageLines = [] }: Content): string[] => {
  const lines = messageLines.map(lineDiscord);
  return lines.join('\n').length <= PART_LIMIT ? lines : [];
};

/** An empty line ends the quotation before it. */
const remarkLines = (remark: string): string[] => (remark === '' ? [] : ['', remark]);

const firstEmbed = (content: Content, said: readonly string[], remark: string): Embed => {
  const { title, tone } = content;
  const { above, below } = noticesOf(content);
  const noticed = (notices: readonly string[]) => notices.map((notice) => fitted(notice, NOTICE_LIMIT));
  const news = newsOf(content);
  const blocks = [
    noticed(above),
    [
      ...(news === '' ? [] : [`**${fitted(news, NOTICE_LIMIT)}**`]),
      ...detectionLines(content),
      ...said,
      ...remarkLines(remark),
    ],
    noticed(below),
    aboutLines(content),
  ];
  return {
    title: fitted(title, LIMITS.title),
    // A quotation goes on until a line is empty.
    description: blocks.flatMap((lines) => (lines.length === 0 ? [] : [lines.join('\n')])).join('\n\n'),
    color: colorOf(tone),
  };
};

const minimalText = ({ headline, lines, details }: Content): string => {
  const ids = details.filter(({ code }) => code).map(({ value }) => value);
  const text = [headline, ...ids].map((one) => fitted(one, 400));
  return lineLimit([...text, ...lines.map(lineDiscord)], LIMITS.content).join('\n');
};

/** `isQuiet`: it appears without a sound. */
export const singleDiscord = (content: Content, format: Format, isQuiet: boolean): WebhookBody => {
  if (format === 'minimal') return textBody(minimalText(content));
  const { message = '', isOurs } = content;
  const options = { isQuiet, isBare: format !== 'rich' };
  const own = ownLines(content);
  const [begin, ...others] = splitText(
    own.length > 0 ? '' : message,
    PART_SIZES,
    (part) => saidLines(part, isOurs).join('').length <= PART_LIMIT,
  );
  const first = firstEmbed(content, [...own, ...saidLines(begin.text, isOurs)], begin.remark);
  const folded = detailsEmbed(content, first.color, LIMITS.all - sizeOf([first]));
  const continued = others.map(({ text, remark }): WebhookRequest => {
    const description = [...saidLines(text, isOurs), ...remarkLines(remark)].join('\n');
    return embedRequest([{ description, color: first.color }], options);
  });
  return { format: 'discord', requests: [embedRequest([first, ...folded], options), ...continued] };
};
