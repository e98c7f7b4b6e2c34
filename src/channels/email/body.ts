/** What a mail is made of. */
import { counted, shorten } from '../../text.ts';
import { type Content, type Detection, type Fact, fairShares, type Line, lineText } from '../content/content.ts';
import { type Said, saidFirst } from '../content/heading.ts';

export interface MailParts {
  text: string;
  /** Absent in the plainer formats. */
  html?: string;
  /** Text files. */
  attachments?: { filename: string; content: string }[];
}

/** A mail without its addresses, which the transport adds. */
export interface MailBody extends MailParts {
  subject: string;
  /** It says the whole of an incident that has grown, and so in its subject, too. */
  isRetold?: true;
  /** `CRITICAL · Lending Pool`: said beside the subject where that is an earlier mail's, see `thread.ts`. */
  what?: string;
  /** ISO 8601. */
  date: string;
  /** The same for all mails of a thread, see `thread.ts`. */
  threadId: string;
  /** Somebody should be woken by it: mail programs show it as important. */
  isUrgent: boolean;
  /** For List-Id, so that people can filter by protocol: a label for a domain name, and the protocol's name. */
  list: { label: string; name: string };
}

/** RFC 5322, section 2.1.1: 78, less two that a reply puts before each line. */
const COLUMNS = 76;
const MARK = '> ';

/** At spaces only, as a word that is too long may be a hash or a link. */
const wrapLine = (line: string, columns: number): string[] => {
  if (line.length <= columns) return [line];
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > columns) {
      lines.push(current);
      current = word;
    } else current = current === '' ? word : `${current} ${word}`;
  }
  return [...lines, current];
};

const wrapLines = (text: string, columns: number): string[] =>
  text.split('\n').flatMap((line) => wrapLine(line, columns));

export const wrap = (text: string): string => wrapLines(text, COLUMNS).join('\n');

/** Text from outside: no line of it can be taken for one of ours. */
export const quoted = (text: string): string =>
  wrapLines(text, COLUMNS - MARK.length)
    .map((line) => `${MARK}${line}`.trimEnd())
    .join('\n');

/** The parts that are not empty, with `between` between them. */
export const joined = (parts: readonly string[], between = '\n'): string =>
  parts.filter((part) => part !== '').join(between);

export const paragraphs = (...parts: string[]): string => `${joined(parts, '\n\n')}\n`;

/** Far longer than what a person writes: it keeps a runaway text from filling mailboxes. */
const TEXT_LIMIT = 100_000;
const NAME_LIMIT = 300;
const VALUE_LIMIT = 4000;
/** There are about ten detectors. A mail names all that fired, and has the messages of at most this many. */
const DETECTIONS_MAX = 100;
const FACTS_MAX = 150;

/** Shortens a text, and says by how much. */
const bound = (text: string, limit: number, leftOut = 0): string => {
  const missing = leftOut + Math.max(0, text.length - limit);
  return missing === 0 ? text : `${shorten(text, limit)} [${missing.toLocaleString('en')} characters left out]`;
};

export interface Bounded extends Pick<Said, 'more' | 'whole'> {
  content: Content;
}

const wholeOf = (detections: readonly Detection[]): Detection[] => {
  const kept = detections.slice(0, DETECTIONS_MAX);
  const whole = fairShares(kept, ({ message }) => message.length, TEXT_LIMIT).map(
    ([{ id, name, message, leftOut }, share]) => ({
      ...{ id, name: bound(name, NAME_LIMIT), message: bound(message, share, leftOut) },
    }),
  );
  const rest = detections.slice(DETECTIONS_MAX).map(({ name }) => name);
  if (rest.length === 0) return whole;
  return [
    ...whole,
    { id: '', name: counted(rest.length, 'more detector'), message: bound(rest.join(', '), VALUE_LIMIT) },
  ];
};

const boundFacts = (facts: readonly Fact[]): Fact[] => {
  const kept = facts.slice(0, FACTS_MAX).map((fact) => ({
    ...fact,
    value: bound(fact.value, VALUE_LIMIT),
    note: fact.note && bound(fact.note, VALUE_LIMIT),
  }));
  const more = facts.length - kept.length;
  return more > 0 ? [...kept, { label: 'Left out', value: counted(more, 'more fact') }] : kept;
};

const boundLines = (all: readonly Line[]): Line[] => {
  let left = TEXT_LIMIT;
  const kept = all.filter((line) => {
    left -= lineText(line).length + 1;
    return left >= 0;
  });
  const more = all.length - kept.length;
  return more > 0 ? [...kept, [{ text: `[${counted(more, 'line')} left out]` }]] : kept;
};

/** The content as a mail shows it, within the bounds above, and the detections that it has in full further down. */
export const boundedOf = (content: Content): Bounded => {
  const { notice, message, messageLines, details } = content;
  const { first, more, whole } = saidFirst(content);
  return {
    content: {
      ...content,
      detections: first,
      notice: notice && bound(notice, VALUE_LIMIT),
      message: message && bound(message, TEXT_LIMIT),
      messageLines: messageLines && boundLines(messageLines),
      details: boundFacts(details),
    },
    more,
    whole: wholeOf(whole),
  };
};
