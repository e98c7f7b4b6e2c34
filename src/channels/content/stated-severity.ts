/**
 * The severity that the text of a stored notification states itself: `Critical: ...`, `[HIGH] ...`, `Severity: warning`. The
 * text is foreign and may say anything, so it only selects one of these words. Pure.
 */
import { assessmentWord } from './follow-up.ts';

/** The worst first, as the service and other monitors spell them. */
const STATED = ['critical', 'high', 'suspecious', 'suspicious', 'warning', 'medium', 'low', 'info'] as const;
const WORD = `(${STATED.join('|')})`;

/** A text says what it is in its first lines. What it quotes further down is not its own. */
const LOOKED_AT = 2000;

/** What may stand before or around a word: markup, quotes, brackets, a coloured sign. */
const DECOR = String.raw`[^\p{L}\p{N}\n]{0,12}`;

const NOUN = '(?:alert|finding|incident|notification|severity)s?';

/** `Critical: ...`, `[CRITICAL] ...`, `🔴 Critical - ...`; in `Low-level call`, `High gas` and `Critical?` it is no label. */
const AT_BEGINNING = new RegExp(String.raw`^${DECOR}${WORD}(?=\s*(?:[:|\])}!*–—]|-(?!\p{L})|\n|$))`, 'iu');

/** `Critical finding in X`, `A high-severity alert`. */
const WITH_NOUN = new RegExp(String.raw`^${DECOR}(?:(?:an?|new)\s+)?${WORD}[\s-]${NOUN}(?![\p{L}\p{N}])`, 'iu');

/** `Severity: critical`, `"severity": "high"`, `*Risk level* = low`; not where it goes on: `low -> high`, `low or high`. */
const LABELLED = new RegExp(
  String.raw`(?:^|[\n,;|{([])${DECOR}(?:severity|assessment|priority|(?:risk|alert|severity)[ _-]?level)["'*_\x60]{0,3}\s{0,3}[:=]${DECOR}${WORD}(?![\p{L}\p{N}-])(?!["'*_\x60\])]*\s*(?:->|→|=>|/|\?|(?:to|or)\b))`,
  'giu',
);

/**
 * `CRITICAL`, in our spelling: the worst that it states, so that a line further down cannot play down the first; undefined
 * where it states none.
 */
export const statedSeverity = (message: string): string | undefined => {
  const text = message.slice(0, LOOKED_AT).trimStart();
  const stated = [AT_BEGINNING.exec(text), WITH_NOUN.exec(text), ...text.matchAll(LABELLED)].map((found) =>
    found?.[1]?.toLowerCase(),
  );
  const worst = STATED.find((word) => stated.includes(word));
  return worst === undefined ? undefined : assessmentWord(worst).toUpperCase();
};

/** What parts the word from what it says. */
const PARTED = /^[\s:|\])}!*–—-]+/u;

/** The text without the word at its beginning that states `severity`; as it is where it begins otherwise or says no more. */
export const withoutSeverity = (message: string, severity: string): string => {
  const text = message.slice(0, LOOKED_AT).trimStart();
  const [label = '', word = ''] = AT_BEGINNING.exec(text) ?? [];
  if (assessmentWord(word).toUpperCase() !== severity) return message;
  const rest = text.slice(label.length).replace(PARTED, '');
  return rest === '' ? message : rest;
};
