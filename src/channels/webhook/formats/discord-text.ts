/**
 * Text for Discord's embeds, where descriptions are markdown. Source:
 * https://support.discord.com/hc/en-us/articles/210298617 (markup) and https://docs.discord.com/developers/reference,
 * "Message Formatting" (mentions, timestamps)
 */
import { shorten } from '../../../text.ts';
import type { Format } from '../../channel.ts';
import type { Line, Piece } from '../../content/content.ts';
import type { Tone } from '../../content/severity.ts';
import { requestOf, type WebhookRequest } from './format.ts';

/** Of one message. Source: https://docs.discord.com/developers/resources/message#embed-object-embed-limits */
export const LIMITS = { title: 256, description: 4096, all: 6000, content: 2000 };

export interface Embed {
  title?: string;
  description: string;
  color: number;
}

export const COLORS: Readonly<Record<Tone, number>> = {
  critical: 0xd92d20,
  suspicious: 0xe67e22,
  calm: 0x2e9e5b,
  news: 0x3478f6,
  trouble: 0xd9a400,
  test: 0x7d8590,
};

/** `SUPPRESS_NOTIFICATIONS`: it appears without a sound. */
const SILENT = 4096;

/** No text mentions anybody. */
const ALLOWED_MENTIONS = { parse: [] };

export const sizeOf = (embeds: readonly Embed[]): number =>
  embeds.reduce((sum, { title = '', description }) => sum + title.length + description.length, 0);

/** After a refusal without colours and flags, which it can do without. `isSilent`: without a sound. */
export const embedRequest = (embeds: readonly Embed[], format: Format, isSilent = false): WebhookRequest =>
  requestOf({
    embeds: embeds
      .filter(({ title = '', description }) => title !== '' || description !== '')
      .map(({ color, ...embed }) => (format === 'rich' ? { ...embed, color } : embed)),
    allowed_mentions: ALLOWED_MENTIONS,
    ...(format === 'rich' && isSilent ? { flags: SILENT } : {}),
  });

export const textRequest = (content: string): WebhookRequest =>
  requestOf({ content, allowed_mentions: ALLOWED_MENTIONS });

/** A backslash makes any of them a plain character; the colon is that of links (`https://`) and of emoji (`:fire:`). */
const ACTIVE = /[\\*_~`|[\]<>@#:]/g;
/** What begins a list at the beginning of a line. */
const BULLET = /^(\s*)([-+])/gm;
const NUMBER = /^(\s*\d+)([.)])/gm;

/** A text from outside as it is: no link, mention, heading, list or quote. */
export const escapeDiscord = (text: string): string =>
  text.replace(ACTIVE, '\\$&').replace(BULLET, '$1\\$2').replace(NUMBER, '$1\\$2');

/** Escaped, with at most `limit` UTF-16 units, and as many as fit; an ellipsis shows where something is missing. */
export const fitted = (text: string, limit: number): string => {
  const escaped = (size: number): string => escapeDiscord(shorten(text, size));
  let [fits, most] = [0, Math.min(text.length, Math.max(0, limit))];
  while (fits < most) {
    const size = Math.ceil((fits + most) / 2);
    if (escaped(size).length <= limit) fits = size;
    else most = size - 1;
  }
  return escaped(fits);
};

/** A URL ends at a bracket in a masked link; those of ours have none, and what has one is not linked. */
export const linkDiscord = (label: string, url: string): string =>
  /^https:\/\/[^\s()<>[\]]+$/.test(url) ? `[${escapeDiscord(label)}](${url})` : escapeDiscord(label);

/** Nothing is markup in code, but what ends it. */
const CODE = /^[^`\r\n]+$/;

const codeDiscord = (text: string): string => (CODE.test(text) ? `\`${text}\`` : escapeDiscord(text));

/** Of a value. Other pieces are our own words, and names that are short already. */
const LONGEST_PIECE = 300;

const pieceOf = ({ text, code, url, copy, at }: Piece): string => {
  if (at !== undefined && Number.isFinite(at))
    return `<t:${Math.floor(at / 1000)}:${/^\d{4}-/.test(text) ? 'f' : 'T'}>`;
  if (url !== undefined) return linkDiscord(text, url);
  return code ? codeDiscord(shorten(copy ?? text, LONGEST_PIECE)) : escapeDiscord(text);
};

export const lineDiscord = (line: Line): string => line.map(pieceOf).join('');

export const valueDiscord = (value: string, code: boolean): string => {
  const shown = shorten(value, LONGEST_PIECE);
  return code ? codeDiscord(shown) : escapeDiscord(shown);
};
