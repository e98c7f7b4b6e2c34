/** How bad it is, by sign and by word: as the service assesses it, as a text states it, and as a follow-up changes it. Pure. */
import {
  type Alert,
  ANNOUNCEMENTS,
  type Announcement,
  type FollowUp,
  isAnnouncement,
  isPlayedDown,
  isSample,
} from '../../alert.ts';
import { capital, quotedName, shorten } from '../../text.ts';
import { inlineName, text } from './foreign.ts';

/** Documented words have at most ten characters. */
const WORD_LIMIT = 40;

/**
 * The service spells the middle assessment `suspecious`; people read `suspicious`. One that nobody documented has no brackets:
 * `(was CRITICAL)` is ours.
 */
export const assessmentWord = (assessment: string): string => {
  const word = inlineName(assessment).replace(/[()[\]]/g, '');
  return shorten((word.trim() || 'unknown').replace(/^suspecious$/i, 'suspicious'), WORD_LIMIT);
};

const DOCUMENTED = /^\s*(?:ok|suspecious|suspicious|critical)\s*$/i;

/** Of an inspection that the service lists no more. */
export const GONE_MEANS = 'This does not mean that nothing happened: check the transaction.';

/**
 * What a follow-up says in place of what happened: behind a title, which says that it is gone, what that means; and what it was
 * about, in quotes.
 */
export const followUpNews = ({ is }: FollowUp, said: string): string => {
  const was = said === '' ? [] : [`It was: ${quotedName(said)}`];
  const news = is === undefined ? [...was, GONE_MEANS] : [`the service calls it ${assessmentWord(is)} now.`, ...was];
  return news.join(is === undefined ? '. ' : ' ');
};

/** The same as a sentence of its own. */
export const followUpNotice = ({ is }: FollowUp, news: string): string =>
  is === undefined
    ? `The service has taken this finding off its list. ${news}`
    : `${capital(news.replace(/[^.]$/, '$&.'))} The service gives no reason: check the transaction before you stand down.`;

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

/** As the service's triggers speak of an assessment. In `High activity`, `Low event count` the word would be none. */
const ASSESSED = '(critical|suspecious|suspicious)[\\s-](?:(?:transaction|tx|event|inspection|detection)s?|activity)';

const withNoun = (words: string): RegExp =>
  new RegExp(String.raw`^${DECOR}(?:(?:an?|new)\s+)?${words}(?![\p{L}\p{N}])`, 'iu');

/** `Critical finding in X`, `A high-severity alert`, `Critical transaction in X`. */
const WITH_NOUN = [withNoun(String.raw`${WORD}[\s-]${NOUN}`), withNoun(ASSESSED)];

/** `Severity: critical`, `"severity": "high"`, `*Risk level* = low`; not where it goes on: `low -> high`, `low or high`. */
const LABELLED = new RegExp(
  String.raw`(?:^|[\n,;|{([])${DECOR}(?:severity|assessment|priority|(?:risk|alert|severity)[ _-]?level)["'*_\x60]{0,3}\s{0,3}[:=]${DECOR}${WORD}(?![\p{L}\p{N}-])(?!["'*_\x60\])]*\s*(?:->|→|=>|/|\?|(?:to|or)\b))`,
  'giu',
);

/**
 * What the text of a stored notification states itself. The text is foreign, so it only selects one of the words above:
 * `CRITICAL`, in our spelling: the worst that it states, so that a line further down cannot play down the first; undefined
 * where it states none.
 */
export const statedSeverity = (message: string): string | undefined => {
  const text = message.slice(0, LOOKED_AT).trimStart();
  const beginnings = [AT_BEGINNING, ...WITH_NOUN].map((form) => form.exec(text));
  const stated = [...beginnings, ...text.matchAll(LABELLED)].map((found) => found?.[1]?.toLowerCase());
  const worst = STATED.find((word) => stated.includes(word));
  return worst === undefined ? undefined : assessmentWord(worst).toUpperCase();
};

/** What parts the word from what it says. */
const PARTED = /^[\s:|\])}!*–—-]+/u;

/**
 * The text without the word at its beginning that states `severity`: of `Critical transaction in A` it is `transaction in A`.
 * As it is where it begins otherwise or says no more.
 */
export const withoutSeverity = (message: string, severity: string): string => {
  const text = message.slice(0, LOOKED_AT).trimStart();
  const [found = '', word = ''] =
    [AT_BEGINNING, ...WITH_NOUN].map((form) => form.exec(text)).find((one) => one !== null) ?? [];
  if (assessmentWord(word).toUpperCase() !== severity) return message;
  const rest = text.slice(found.indexOf(word) + word.length).replace(PARTED, '');
  return rest === '' || /^severity/i.test(rest) ? message : rest;
};

/** What decides the colour of a message. */
export type Tone = 'critical' | 'suspicious' | 'calm' | 'news' | 'trouble' | 'test';

export interface Severity {
  /** `CRITICAL`, `SUSPICIOUS`, `OK`, `NO LONGER LISTED`, `NOTIFICATION`, `TEST`, `TOCSIN`, or an assessment nobody documented. */
  severity: string;
  tone: Tone;
}

const SIGNS: Readonly<Record<Tone, string>> = {
  critical: '🔴',
  suspicious: '🟠',
  calm: '🟢',
  news: '🔵',
  trouble: '❗',
  test: '🧪',
};

/** One character for people, which `text.ts` leaves as it is. It is never the only difference: the word stands beside it. */
export const signOf = (tone: Tone): string => SIGNS[tone];

const SIGN = new RegExp(`(?<!\\S)(?:${Object.values(SIGNS).join('|')}) `, 'u');

/** The text around the sign of the title that it begins with; a title without one, as a template words it, follows as a whole. */
export const aroundSign = (text: string): readonly [before: string, after: string] => {
  const [first = ''] = text.split('\n', 1);
  const found = SIGN.exec(first.replace(/<[^>]*>/g, (tag) => ' '.repeat(tag.length)));
  const [sign, index] = [found?.[0] ?? '', found?.index ?? 0];
  return [text.slice(0, index), text.slice(index + sign.length)];
};

const TONES: Readonly<Record<string, Tone>> = {
  CRITICAL: 'critical',
  ...{ SUSPICIOUS: 'suspicious', HIGH: 'suspicious', WARNING: 'suspicious', MEDIUM: 'suspicious' },
  ...{ OK: 'calm', LOW: 'calm', INFO: 'calm', 'FOLLOW-UP': 'news', 'NO LONGER LISTED': 'news' },
};

/** Of an assessment, or of a severity that a text states; any other word may stand for a bad one, as it does for programs. */
export const toneOf = (severity: string): Tone =>
  (Object.hasOwn(TONES, severity) ? TONES[severity] : undefined) ?? 'suspicious';

/** Of an inspection that people had and the service lists no more. A follow-up is called by what the service says now. */
const GONE: Severity = { severity: 'NO LONGER LISTED', tone: 'news' };

/** Words of ours that are no assessments. */
const OWN = ['NOTIFICATION', 'FOLLOW-UP', 'TEST', 'TOCSIN', GONE.severity];

/** One that nobody documented may be spelled like a word of ours: then it stands in quotation marks. */
const assessed = (assessment: string): Severity => {
  const word = assessmentWord(assessment).toUpperCase();
  return OWN.includes(word) ? { severity: `"${word}"`, tone: toneOf('') } : { severity: word, tone: toneOf(word) };
};

/** Announcements that something works again, or that somebody is at it. */
const GOOD: ReadonlySet<Announcement> = new Set<Announcement>([
  'alert.acknowledged',
  'destination.well',
  'service.read',
  'protocol.heard',
  'trouble.over',
]);
/** Announcements that ask for nothing urgent. */
const PLAIN: ReadonlySet<Announcement> = new Set<Announcement>([
  'destination.moved',
  'destination.new',
  'mute.ended',
  'storm.over',
]);

const announced = (type: string): Tone => {
  const about = ANNOUNCEMENTS.find((one) => type === `tocsin.${one}`);
  if (about === undefined) return 'news';
  if (GOOD.has(about)) return 'calm';
  return PLAIN.has(about) ? 'news' : 'trouble';
};

/** What the text of a stored notification says of itself. */
export const statedIn = ({ type, item }: Pick<Alert, 'type' | 'item'>): string | undefined =>
  type.startsWith('notification.') && typeof item.message === 'string' ? statedSeverity(item.message) : undefined;

/**
 * What a message calls an alert, and the tone of its colour. Of an alert whose assessment has changed it is the new one; of a
 * stored notification what its text states, else `NOTIFICATION`. An assessment that nobody documented is its own word, unless it
 * counts as critical.
 */
export const severityOf = (alert: Alert): Severity => {
  const { type, source, item } = alert;
  const changed = alert.reassessed ?? alert.followUp;
  if (isSample(alert)) return { severity: 'TEST', tone: 'test' };
  if (changed) return changed.is === undefined ? GONE : assessed(changed.is);
  if (type.startsWith('tocsin.')) return { severity: 'TOCSIN', tone: announced(type) };
  // The service's own word for it is one that nobody knows.
  if (type === 'inspection.critical' && !DOCUMENTED.test(String(item.assessment))) return assessed('critical');
  if (source !== 'notifications') return assessed(text(item.assessment));
  const severity = statedIn(alert) ?? 'NOTIFICATION';
  return { severity, tone: toneOf(severity) };
};

/** Most urgent first. `undefined` stands for every undocumented assessment. */
const KNOWN = [
  ...['CRITICAL', 'HIGH', 'SUSPICIOUS', 'WARNING', 'MEDIUM', undefined],
  ...['NOTIFICATION', 'FOLLOW-UP', GONE.severity, 'LOW', 'INFO', 'OK', 'TEST'],
];

/** A lower rank is more urgent. */
export const rankOf = (severity: string): number => {
  const rank = KNOWN.indexOf(severity);
  return rank < 0 ? KNOWN.indexOf(undefined) : rank;
};

/**
 * Whether an alert arrives without a sound: our own downgrades, and announcements that something works again. Only our own
 * words decide it. A replay makes a sound, for it may be the first that anybody hears of it.
 */
export const isSilent = (alert: Alert): boolean => {
  if (alert.followUp) return isPlayedDown(alert);
  return isAnnouncement(alert) && severityOf(alert).tone === 'calm';
};
