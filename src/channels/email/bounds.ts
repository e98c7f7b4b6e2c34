/**
 * What of a content a mail shows first, and what it has in full further down: so that a detector that says much pushes out
 * neither the others nor who and what. Neither is without a limit, and what is cut off is told.
 */
import { counted, shorten } from '../../text.ts';
import { type Content, type Detection, type Fact, fairShares, type Line, lineText } from '../content/content.ts';
import { type Said, saidFirst } from '../content/said.ts';

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
  const shares = fairShares(
    kept.map(({ message }) => message.length),
    TEXT_LIMIT,
  );
  const whole = kept.map(({ id, name, message, leftOut }, index) => ({
    ...{ id, name: bound(name, NAME_LIMIT), message: bound(message, shares[index] ?? 0, leftOut) },
  }));
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
    ...(fact.note === undefined ? {} : { note: bound(fact.note, VALUE_LIMIT) }),
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
  const { detections, notice, message, messageLines, details } = content;
  const { first, more, whole } = saidFirst(detections);
  return {
    content: {
      ...content,
      detections: first,
      ...(notice === undefined ? {} : { notice: bound(notice, VALUE_LIMIT) }),
      ...(message === undefined ? {} : { message: bound(message, TEXT_LIMIT) }),
      ...(messageLines === undefined ? {} : { messageLines: boundLines(messageLines) }),
      details: boundFacts(details),
    },
    more,
    whole: wholeOf(whole),
  };
};
