/** Which of the parser's complaints are about indentation, and where the line stands that is indented wrongly. Pure. */

export interface Complaint {
  code: string;
  message: string;
  pos: readonly [from: number, to: number];
}

export interface IndentationFault {
  offset: number;
  rule: string;
}

const DEEPER = 'is indented deeper than the line above, whose value is complete there; begin it in column';
const UNEQUAL = 'is not indented like the keys beside it; they must all begin in the same column';
const ENTRY = 'is a list entry (- ) that is not indented like the entries above it';
const NO_DASH = 'is indented like neither the list entry above (keys begin under its first key) nor a new one (- )';
const FIRST = 'begins further left than the first key of the file; all keys of the top must begin in the same column';
const FLOW = 'is not indented further than what it belongs to, or a { or [ above is not closed';

/** Offset of the first sign from `offset` on that is no comment. */
const firstSign = (text: string, offset: number): number =>
  offset + (/^(?:[^\S\n]*(?:#[^\n]*)?\n)*[^\S\n]*/.exec(text.slice(offset))?.[0].length ?? 0);

const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

/** The column, from 1, in which the key of a line begins: after its spaces and `- `. */
const keyColumn = (text: string, offset: number): number => {
  const start = lineStart(text, offset);
  return 1 + (/^(?:[^\S\n]|-[^\S\n])*/.exec(text.slice(start))?.[0].length ?? 0);
};

/** A value that goes on in the next line, which has a key of its own and is indented deeper. */
const deeperLine = (text: string, { pos: [from] }: Complaint): IndentationFault | undefined => {
  const next = /\n(?:[^\S\n]*(?:#[^\n]*)?\n)*([^\S\n]*)[^\s#][^\n]*:(?:\s|$)/.exec(text.slice(from));
  if (next === null || text.slice(from, from + next.index).includes(': ')) return undefined;
  const offset = from + next.index + next[0].search(/[^\s#][^\n]*:(?:\s|$)/);
  const column = keyColumn(text, from);
  return keyColumn(text, offset) > column ? { offset, rule: `${DEEPER} ${column}` } : undefined;
};

/** Undefined where the complaint is about something else. */
export const indentationFault = (text: string, complaint: Complaint): IndentationFault | undefined => {
  const { code, message, pos } = complaint;
  const offset = firstSign(text, pos[0]);
  if (message.startsWith('All mapping items must start')) return { offset, rule: UNEQUAL };
  if (message.startsWith('Sequence item without -')) return { offset, rule: NO_DASH };
  if (message.startsWith('A block sequence may not be used as an implicit map key')) return { offset, rule: ENTRY };
  if (code === 'BAD_INDENT') return { offset, rule: FLOW };
  if (code === 'BLOCK_AS_IMPLICIT_KEY' || code === 'MULTILINE_IMPLICIT_KEY') return deeperLine(text, complaint);
  const isAtEnd = message.startsWith('Unexpected scalar at node end') && lineStart(text, pos[0]) === pos[0];
  return isAtEnd && /^(?:\s*(?:#[^\n]*)?\n)*[^\S\n]+[^\s#]/.test(text) ? { offset, rule: FIRST } : undefined;
};
