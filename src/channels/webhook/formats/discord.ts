/**
 * Discord's webhooks: embeds that mention nobody. Source: https://docs.discord.com/developers/resources/webhook#execute-webhook
 * and https://docs.discord.com/developers/topics/rate-limits
 */
import type { Alert } from '../../../alert.ts';
import { counted, quotedLines } from '../../../text.ts';
import type { Format } from '../../channel.ts';
import { type Content, codesOf, type Detection, type Fact, fairShares, noticesOf } from '../../content/content.ts';
import { jsonObjectIn } from '../../content/foreign.ts';
import { moreProtocols, unsaid } from '../../content/heading.ts';
import { type DigestContent, type DigestItem, nameOf, topOf } from '../../digest-content.ts';
import { dead, type Verdict } from '../../failures.ts';
import type { PostResponse } from '../../http.ts';
import { wholeFile } from '../../whole.ts';
import { formOf } from './discord-file.ts';
import {
  COLORS,
  type Embed,
  embedRequest,
  escapeDiscord,
  fitted,
  LIMITS,
  lineDiscord,
  linkDiscord,
  sizeOf,
  textRequest,
  valueDiscord,
} from './discord-text.ts';
import { type FormatModule, idAt, requestOf, type WebhookBody } from './format.ts';
import { composeForPeople, firstThatFits, fittedText } from './people.ts';

// One incident, or announcements of one kind; of a long text the beginning, and a file with all of it.

const NOTICE_LIMIT = 500;
const SAID_LIMIT = 1800;
/** For the quotation marks. */
const QUOTES_ROOM = 300;
const NAME_LIMIT = 200;
const ABOUT_LIMIT = 1000;
/** Of a text as it is sent: with the rest of the message it fits into one description. */
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
const detectionLines = (detections: readonly Detection[], limit: number): string[] => {
  const named = detections.map(({ name, message, between = ': ' }) => ({
    bold: `**${fitted(name, NAME_LIMIT)}**${message === '' ? '' : between}`,
    message,
  }));
  const sizeOf = ({ bold, message }: (typeof named)[number]): number => `${bold}${escapeDiscord(message)}`.length;
  const lines = fairShares(named, sizeOf, limit).map(([{ bold, message }, share]) =>
    quotedLines(`${bold}${fitted(message, share - bold.length)}`),
  );
  const shown = lineLimit(lines, limit + QUOTES_ROOM);
  const left = lines.length - shown.length;
  return left > 0 ? [...shown, `> and ${counted(left, 'more detector')}`] : shown;
};

const foundLines = (content: Content): string[] => {
  const more = moreProtocols(content);
  // A quotation goes on until a line is empty.
  return [...detectionLines(content.gist, SAID_LIMIT), ...(more === '' ? [] : ['', more])];
};

const saidLines = (part: string, isOurs: boolean): string[] => {
  const escaped = escapeDiscord(part);
  return part === '' ? [] : [isOurs ? escaped : quotedLines(escaped)];
};

const aboutLines = ({ lines, times, links }: Content): string[] => {
  const about = [...lines, ...(times.length > 0 ? [times] : [])].map(lineDiscord);
  // The transaction is linked where it stands.
  const others = links.filter(({ url }) => !lines.flat().some((piece) => piece.url === url));
  const linked = others.map(({ label, url }) => linkDiscord(label, url)).join(' · ');
  return lineLimit([...about, ...(linked === '' ? [] : [linked])], ABOUT_LIMIT);
};

const factLine = ({ label, value, code, note }: Fact): string =>
  `${escapeDiscord(label)}: ${valueDiscord(value, code === true)}${note === undefined ? '' : ` (${fitted(note, NAME_LIMIT)})`}`;

/** Everything else, and in full what is short above. */
const detailsEmbed = (content: Content, color: number, room: number): Embed[] => {
  const lines = [...content.details.map(factLine), ...detectionLines(unsaid(content, content.gist), SAID_LIMIT)];
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
  const blocks = [
    noticed(above),
    [...foundLines(content), ...said, ...remarkLines(remark)],
    noticed(below),
    aboutLines(content),
  ];
  return {
    title: fitted(title, LIMITS.title),
    // A quotation goes on until a line is empty.
    description: blocks.flatMap((lines) => (lines.length === 0 ? [] : [lines.join('\n')])).join('\n\n'),
    color: COLORS[tone],
  };
};

const minimalText = (content: Content): string => {
  const { headline, lines } = content;
  const text = [headline, ...codesOf(content).map(({ value }) => value)].map((one) => fitted(one, 400));
  return lineLimit([...text, ...lines.map(lineDiscord)], LIMITS.content).join('\n');
};

const singleDiscord = (content: Content, format: Format, isSilent: boolean, alerts: readonly Alert[]): WebhookBody => {
  if (format === 'minimal') return [textRequest(minimalText(content))];
  const { message = '', isOurs } = content;
  const own = ownLines(content);
  const isWithin = (part: string): boolean => saidLines(part, isOurs).join('').length <= PART_LIMIT;
  const begin = fittedText(
    own.length > 0 ? '' : message,
    PART_SIZES,
    isWithin,
    format === 'rich' ? 'in the file' : undefined,
  );
  const first = firstEmbed(content, [...own, ...saidLines(begin.text, isOurs)], begin.remark);
  const folded = detailsEmbed(content, first.color, LIMITS.all - sizeOf([first]));
  const file = begin.remark === '' || format !== 'rich' ? {} : { file: wholeFile(content, alerts) };
  return [{ ...embedRequest([first, ...folded], format, isSilent), ...file }];
};

// Many incidents as one message of Discord: how many and where, the worst, the counts, and the others in a line each.

const TITLE_LIMIT = 160;
const ROW_LIMIT = 80;
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

/** `said`: so much of what happened. */
const itemLine = (item: DigestItem, said: number): string =>
  `${fitted(item.title, TITLE_LIMIT)}${said === 0 ? '' : `: ${fitted(item.said, said)}`} ${referenceOf(item)}`;

const tableLines = ({ tables }: DigestContent): string[] =>
  tables.map((table) => {
    const { rows, more } = topOf(table);
    const named = rows.map(
      ({ name, count, url }) => `${url === undefined ? fitted(name, ROW_LIMIT) : linkDiscord(name, url)} ${count}`,
    );
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

const REMARK_ROOM = 160;

/** As many as there is room for; `left`: those that are not in it. */
const listed = (items: readonly DigestItem[], limit: number, room: number): { lines: string[]; left: number } => {
  const lines: string[] = [];
  let left = room;
  for (const item of items) {
    const line = itemLine(item, limit);
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
  }
  return { lines, left: items.length - lines.length };
};

/** One request, within Discord's limits; what has no room is counted, with the command that lists it. */
const digestDiscord = (content: DigestContent, format: Format): WebhookBody => {
  const { items, command } = content;
  const title = fitted(content.title, LIMITS.title);
  const shown = WORST.find((count) => headLines(content, count).length <= HEAD_LIMIT) ?? 0;
  const head: Embed = { title, description: headLines(content, shown), color: COLORS[content.tone] };
  const room = Math.min(LIMITS.description, LIMITS.all - sizeOf([head])) - REMARK_ROOM;
  const remark = (left: number): string[] => (left > 0 ? [`and ${left} more; all of them: \`${command}\``] : []);
  if (format === 'minimal') {
    const { lines, left } = listed(items, 0, LIMITS.content - LIMITS.title - REMARK_ROOM);
    return [textRequest([title, ...lines, ...remark(left)].join('\n'))];
  }
  const { lines, left } = firstThatFits(
    SAID_LIMITS,
    (limit) => listed(items.slice(shown), limit, room),
    (made) => made.left === 0,
  );
  const list: Embed = { description: [...lines, ...remark(left)].join('\n'), color: head.color };
  return [embedRequest([head, list], format)];
};

const LONGEST_WAIT_MS = 3_600_000;

/** `Unknown Webhook`, `Unknown Channel` and `Invalid Webhook Token` do not mend themselves. Source: .../topics/opcodes-and-status-codes */
const GONE_CODES = [10_003, 10_015, 50_027];

/** Somebody has deleted the message that was to be changed. */
const UNKNOWN_MESSAGE = 10_008;

const GONE = dead(
  'is a webhook that was deleted at Discord',
  "make another in the channel's settings, and write its URL where the old one is, at the monitoring service or in the config of Tocsin",
);

/** The wait in the body has parts of a second; the header has whole ones. */
const verdictOf = ({ status, text }: PostResponse): Verdict | undefined => {
  const { code, retry_after: seconds } = jsonObjectIn(text);
  if (GONE_CODES.some((one) => one === code)) return GONE;
  if (code === UNKNOWN_MESSAGE) return { reason: 'bad-message' };
  if (status !== 429 || typeof seconds !== 'number' || !(seconds >= 0)) return undefined;
  return { reason: 'rate-limited', retryAfterMs: Math.ceil(Math.min(seconds * 1000, LONGEST_WAIT_MS)) };
};

export const discord: FormatModule = {
  contentType: 'application/json',
  reader: 'people',
  compose: composeForPeople(singleDiscord, digestDiscord),
  complete: ({ path, text, file }, { address }) => {
    const url = new URL(address);
    // Discord answers when the message is kept, with its id; else a message that is not kept is no error.
    if (path === undefined) url.searchParams.set('wait', 'true');
    else url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
    if (file === undefined) return { url: url.href };
    const form = formOf(text, file);
    return { url: url.href, text: form.text, headers: { 'content-type': form.contentType } };
  },
  idIn: idAt('id'),
  amending: ({ text }, id) => {
    // A sound is for new messages.
    const { flags: _flags, ...message } = JSON.parse(text) as Record<string, unknown>;
    return { ...requestOf(message), path: `/messages/${encodeURIComponent(id)}`, method: 'PATCH' };
  },
  verdictOf,
};
