/**
 * Who is next at a destination, as pure functions: each protocol has a line there, and the lines take turns. A message has
 * a number in its line. The numbers say the order of all of them: first all that are number 1, then all that are number 2.
 */

/** The messages of one protocol that wait at one destination: those after `served`, up to `last`. */
export interface Line {
  readonly name: string;
  readonly served: number;
  readonly last: number;
}

/** A message's number in its line; travels with the job that waits. */
export interface Ticket {
  line: string;
  number: number;
  /** When it asks again, in epoch milliseconds. */
  at: number;
}

export type Place = Pick<Ticket, 'line' | 'number'>;

/** So many protocols have a line of their own at one destination; all others share one. */
export const MOST_LINES = 100;
const OTHERS = 'others';

/** Up to which number the messages of a line go before one that has `number` in the line at `own`. */
const lastBefore = (index: number, own: number, number: number): number => (index < own ? number : number - 1);

/** Behind the last one of its line. A line that is new begins where the others are now. */
const joinEnd = (lines: readonly Line[], name: string): { lines: readonly Line[]; place: Place } => {
  const known = lines.find((line) => line.name === name);
  if (!known && lines.length >= MOST_LINES && name !== OTHERS) return joinEnd(lines, OTHERS);
  if (known) {
    const number = known.last + 1;
    return {
      lines: lines.map((line) => (line === known ? { ...known, last: number } : line)),
      place: { line: name, number },
    };
  }
  const served = Math.max(0, ...lines.map((line) => line.served));
  return { lines: [...lines, { name, served, last: served + 1 }], place: { line: name, number: served + 1 } };
};

/** The place that is held, or one at the end where there is none, or nobody knows its line any more. */
export const join = (lines: readonly Line[], name: string, held?: Place): { lines: readonly Line[]; place: Place } =>
  held && lines.some((line) => line.name === held.line && held.number <= line.last)
    ? { lines, place: held }
    : joinEnd(lines, name);

export interface Ahead {
  ofOwnLine: number;
  ofOthers: number;
}

/** How many messages go before this one. */
export const aheadOf = (lines: readonly Line[], { line, number }: Place): Ahead => {
  const own = lines.findIndex(({ name }) => name === line);
  const counts = lines.map(({ served, last }, index) =>
    Math.max(0, Math.min(last, lastBefore(index, own, number)) - served),
  );
  const ofOwnLine = counts[own] ?? 0;
  return { ofOwnLine, ofOthers: counts.reduce((sum, count) => sum + count, 0) - ofOwnLine };
};

const withServed = (lines: readonly Line[], servedOf: (line: Line, index: number) => number): readonly Line[] =>
  lines.map((line, index) => ({ ...line, served: servedOf(line, index) })).filter((line) => line.served < line.last);

/** It has its slot; one that it passed in its line has its number now. */
export const served = (lines: readonly Line[], { line }: Place): readonly Line[] =>
  withServed(lines, (each) => (each.name === line ? each.served + 1 : each.served));

/** It has its slot. Those that should have gone before it and did not come are counted no longer. */
export const servedAlone = (lines: readonly Line[], { line, number }: Place): readonly Line[] => {
  const own = lines.findIndex(({ name }) => name === line);
  return withServed(lines, (each, index) =>
    Math.max(each.served, Math.min(each.last, index === own ? number : lastBefore(index, own, number))),
  );
};
