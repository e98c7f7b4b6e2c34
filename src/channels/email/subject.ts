/** The subject of a mail: what happened, and a mark at its end that no other finding has. */
import { type Alert, isAnnouncement, isSample } from '../../alert.ts';
import { cleanLine, shorten, shortenMiddle } from '../../text.ts';
import type { Content } from '../content/content.ts';
import type { DigestContent } from '../digest-content.ts';

/** Longer subjects are cut by most mail programs anyway. */
export const SUBJECT_LIMIT = 120;

const HASH_SHOWN = { head: 6, tail: 4 };
const ID_SHOWN = 8;

/** The transaction, shortened as everywhere; what names none has the beginning of our id, an announcement nothing. */
export const markOf = ([first]: readonly Alert[]): string => {
  if (first === undefined || isAnnouncement(first)) return '';
  const hash = cleanLine(first.txHash ?? '');
  // Every sample names the same transaction.
  return hash === '' || isSample(first) ? first.id.slice(0, ID_SHOWN) : shortenMiddle(hash, HASH_SHOWN);
};

/** What stands in brackets, and what behind the protocol: `[CRITICAL]` of a follow-up stays the word that rules look for. */
const wordsOf = ({ severity, word, was }: Content): [label: string, remark: string] => {
  const remark = ` (was ${was})`;
  return was !== undefined && word === `${severity}${remark}` ? [severity, remark] : [word, ''];
};

/**
 * `[CRITICAL] Lending Pool · Pool A: balance dropped by 90 %`. Without the sign: some mail programs show none in a subject,
 * and rules of people's mailboxes look for the word.
 */
export const headlineOf = (content: Content): string => {
  const { prefix, where, happened, isOurs, isTitled, sign, headline } = content;
  if (isTitled) return headline;
  if (isOurs) return headline.slice(sign.length).trim();
  const [label, remark] = wordsOf(content);
  return `${prefix === undefined ? '' : `${prefix} `}[${label}] ${where}${remark}: ${happened}`;
};

export const digestHeadline = ({ sign, severity, title, items: [worst] }: DigestContent): string => {
  const head = `[${severity}] ${title.slice(sign.length).trim()}`;
  return worst === undefined ? head : `${head}; worst: ${worst.protocol}: ${worst.happened}`;
};

/** The mark is never cut off. */
export const subjectOf = (headline: string, mark: string): string => {
  const end = mark === '' ? '' : ` (${mark})`;
  return `${shorten(cleanLine(headline), SUBJECT_LIMIT - end.length)}${end}`;
};
