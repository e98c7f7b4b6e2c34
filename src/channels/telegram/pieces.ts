/** Lines of the content model as lines of Telegram's. */
import type { Line as ContentLine, Piece as ContentPiece } from '../content/content.ts';
import { takesLink } from './keyboard.ts';
import type { Line, Piece } from './lines.ts';

/** Telegram takes times up to 1098 days ahead. Source: https://core.telegram.org/constructor/messageEntityFormattedDate */
const AHEAD_MAX_MS = 1000 * 24 * 3_600_000;

const pieceOf =
  (now: number) =>
  ({ text, url, code, at }: ContentPiece): Piece => {
    if (url !== undefined && takesLink(url)) return { text, href: url };
    if (at !== undefined && at >= 1000 && at - now < AHEAD_MAX_MS) {
      return { text, time: { unix: Math.floor(at / 1000), format: /^\d{4}-/.test(text) ? 'dT' : 'T' } };
    }
    return code || url !== undefined ? { text, mark: 'code' } : { text };
  };

/** `now`: epoch milliseconds. */
export const lineOf = (line: ContentLine, now: number): Line => line.map(pieceOf(now));
