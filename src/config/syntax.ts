/** Text to a YAML 1.2 document. The parser's own messages quote the file, which may hold secrets, so each is replaced by our own words. */

import { type Document, parseDocument, type YAMLError } from 'yaml';
import type { ConfigProblem } from '../errors.ts';
import { type Path, showPath, showUnknownKey } from './problems.ts';

/** Offsets into the text, in UTF-16 units. */
interface Offsets {
  key?: number;
  value: number;
}

/** Where in the file each key and each value stands. */
export const createPositions = () => {
  const known = new Map<string, Offsets>();
  const nearest = (path: Path): Offsets =>
    known.get(JSON.stringify(path)) ?? (path.length === 0 ? { value: 0 } : nearest(path.slice(0, -1)));
  return {
    note: (path: Path, offsets: Offsets): void => {
      known.set(JSON.stringify(path), offsets);
    },
    /** For a value that is missing, where the map that lacks it begins. */
    ofValue: (path: Path): number => nearest(path).value,
    /** For an element of a list, where its value stands. */
    ofKey: (path: Path): number => {
      const { key, value } = nearest(path);
      return key ?? value;
    },
  };
};

export type Positions = ReturnType<typeof createPositions>;

/** Both count from 1. */
export type PlaceOf = (offset: number) => { line: number; column: number };

const createPlaceOf = (text: string): PlaceOf => {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  return (offset) => {
    const within = Math.min(Math.max(0, offset), text.length);
    const line = starts.findLastIndex((start) => start <= within);
    return { line: line + 1, column: within - (starts[line] ?? 0) + 1 };
  };
};

export interface Finding {
  path: Path;
  /** Offset into the text, in UTF-16 units. */
  offset: number;
  /** A sentence that goes on from the path. */
  rule: string;
  /** Already fit to be shown. */
  got?: string;
  /** The last key of the path may be a secret that slipped there. */
  isUnknown?: true;
}

const shownPath = ({ path, isUnknown }: Finding): string =>
  isUnknown ? showPath([...path.slice(0, -1), showUnknownKey(String(path.at(-1)))]) : showPath(path);

/** One problem for each finding, by their order in the file; the same rule at the same place is reported once. */
export const toProblems = (file: string, findings: readonly Finding[], placeOf: PlaceOf): ConfigProblem[] => {
  const bySentence = new Map(
    findings
      .toSorted((a, b) => a.offset - b.offset)
      .map((finding) => [`${finding.offset} ${shownPath(finding)} ${finding.rule}`, finding]),
  );
  return [...bySentence.values()].map((finding) => ({
    file,
    ...placeOf(finding.offset),
    path: shownPath(finding),
    rule: finding.rule,
    ...(finding.got === undefined ? {} : { got: finding.got }),
  }));
};

type IndentationFault = Pick<Finding, 'offset' | 'rule'>;

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
const deeperLine = (text: string, { pos: [from] }: YAMLError): IndentationFault | undefined => {
  const next = /\n(?:[^\S\n]*(?:#[^\n]*)?\n)*([^\S\n]*)[^\s#][^\n]*:(?:\s|$)/.exec(text.slice(from));
  if (next === null || text.slice(from, from + next.index).includes(': ')) return undefined;
  const offset = from + next.index + next[0].search(/[^\s#][^\n]*:(?:\s|$)/);
  const column = keyColumn(text, from);
  return keyColumn(text, offset) > column ? { offset, rule: `${DEEPER} ${column}` } : undefined;
};

/** Where the line stands that is indented wrongly; undefined where the complaint is about something else. */
const indentationFault = (text: string, complaint: YAMLError): IndentationFault | undefined => {
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

const NOT_YAML = 'is not YAML here';

const RULES: Readonly<Record<string, string>> = {
  BAD_ALIAS: 'has an anchor or alias without a clear name',
  BAD_DIRECTIVE: 'has a directive (%) that is not known',
  BAD_DQ_ESCAPE: 'has an unknown \\ escape in double quotes; single quotes take it as it stands',
  BAD_SCALAR_START: 'begins with a sign that YAML reserves; put the value in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'has a second ": " on one line; put such a value in quotes, or fix the indentation',
  BLOCK_IN_FLOW: 'has a block inside { } or [ ]',
  MISSING_CHAR: 'lacks a quote, a comma, a colon or a space',
  MULTILINE_IMPLICIT_KEY: 'has a key that goes over several lines, or lacks a colon',
  MULTIPLE_DOCS: 'begins a second document; there must be one',
  RESOURCE_EXHAUSTION: 'is nested too deep',
  TAB_AS_INDENT: 'is indented by a tab; YAML takes spaces',
  TAG_RESOLVE_FAILED: 'has a tag (!) that is not known or does not fit',
  UNEXPECTED_TOKEN: 'has a sign that is not expected; put a value with any of { } [ ] , in quotes',
};

/** After these the document is still complete, so its content is checked too. */
const HARMLESS = new Set(['BAD_DIRECTIVE', 'TAG_RESOLVE_FAILED']);

export interface Syntax {
  document: Document.Parsed;
  findings: Finding[];
  /** False where the text is so broken that its content would only cause follow-up problems. */
  whole: boolean;
  placeOf: PlaceOf;
}

/** Only the first of a line: the others are mostly its consequences. */
const firstOfLine = (findings: readonly Finding[], placeOf: PlaceOf): Finding[] => [
  ...new Map(findings.toReversed().map((finding) => [placeOf(finding.offset).line, finding])).values(),
];

export const parseYaml = (text: string): Syntax => {
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    prettyErrors: false,
    // The reader reports duplicate keys itself, with the key and the place of the first.
    uniqueKeys: false,
  });
  const placeOf = createPlaceOf(text);
  const issues = [...document.errors, ...document.warnings];
  const faults = issues.map((issue) => ({ issue, fault: indentationFault(text, issue) }));
  // What follows a line that is indented wrongly is mostly its consequence.
  const first = faults.findIndex(({ fault }) => fault !== undefined);
  const findings = (first < 0 ? faults : faults.slice(0, first + 1)).map(({ issue: { code, pos }, fault }) => ({
    path: ['yaml'],
    offset: fault?.offset ?? pos[0],
    rule: fault?.rule ?? RULES[code] ?? NOT_YAML,
  }));
  if (document.directives.yaml.version !== '1.2') {
    findings.push({ path: ['yaml'], offset: 0, rule: 'must be YAML 1.2' });
  }
  const whole = document.errors.every(({ code }) => HARMLESS.has(code));
  return { document, findings: firstOfLine(findings, placeOf), whole, placeOf };
};
