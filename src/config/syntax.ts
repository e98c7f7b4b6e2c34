/** Text to a YAML 1.2 document. The parser's own messages quote the file, which may hold secrets, so each is replaced by our own words. */
import { type Document, parseDocument } from 'yaml';
import type { Finding } from './findings.ts';
import { indentationFault } from './indentation.ts';
import { createPlaceOf, type PlaceOf } from './positions.ts';

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
