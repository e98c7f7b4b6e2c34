/** `${NAME}`, `${NAME:-default}`, `${file:/run/secrets/x}` and `$$` inside a text that is already parsed. */
import { resolve } from 'node:path';
import { type ReadResult, readText } from './read.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Interpolated {
  text: string;
  /** What was replaced, by name and never by value; empty where nothing was. */
  sources: string[];
  /** One sentence for each reference that could not be replaced. */
  problems: string[];
}

export type Interpolate = (text: string) => Interpolated;

const TOKEN = /\$\$|\$\{([^{}]*)\}|\$\{/g;
const REFERENCE = /^(?:file:(?<file>.+)|(?<name>[A-Za-z_]\w*)(?::-(?<otherwise>.*))?)$/s;
const LARGEST_FILE_BYTES = 65_536;

// Not template strings: these are the signs that the operator writes.
const OPEN = '$' + '{';
const FORMS = `${OPEN}NAME}, ${OPEN}NAME:-default} or ${OPEN}file:PATH}`;
const MALFORMED = `holds ${OPEN} that begins none of ${FORMS}; write $$ for a plain $`;

type Replacement = { value: string; source: string } | { problem: string };

/** Called with each file that was read, what was in it, and how large it may be. */
export type OnFile = (file: string, read: ReadResult, limitBytes: number) => void;

const fromFile = (directory: string, path: string, onFile: OnFile): Replacement => {
  const source = `file ${path}`;
  const file = resolve(directory, path);
  const read = readText(file, LARGEST_FILE_BYTES);
  onFile(file, read, LARGEST_FILE_BYTES);
  // Editors and `echo` end a file with a line break that is no part of the secret.
  return read.ok
    ? { value: read.text.replace(/[\r\n]+$/, ''), source }
    : { problem: `names a file that cannot be read: ${path}: ${read.why}` };
};

/** What is replaced comes from there. */
interface Sources {
  environment: Environment;
  /** How to set a variable that is missing. */
  hint: string;
}

const fromVariable = ({ environment, hint }: Sources, name: string, otherwise: string | undefined): Replacement => {
  const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
  // As in a shell, `:-` also replaces a variable that is set but empty.
  if (otherwise !== undefined && (value === undefined || value === '')) return { value: otherwise, source: name };
  return value === undefined
    ? { problem: `names the variable ${name}, which is not set${hint}` }
    : { value, source: name };
};

/** Relative file names start at `directory`. What was put in is not interpolated again. */
export const createInterpolate = (
  environment: Environment,
  directory: string,
  { hint = '', onFile = () => {} }: { hint?: string; onFile?: OnFile } = {},
): Interpolate => {
  const replace = (inside: string): Replacement => {
    const { file, name, otherwise } = REFERENCE.exec(inside)?.groups ?? {};
    if (file !== undefined) return fromFile(directory, file, onFile);
    return name === undefined ? { problem: MALFORMED } : fromVariable({ environment, hint }, name, otherwise);
  };
  return (text) => {
    const sources: string[] = [];
    const problems = new Set<string>();
    const replaced = text.replace(TOKEN, (token, inside: string | undefined) => {
      if (token === '$$') return '$';
      const replacement = inside === undefined ? { problem: MALFORMED } : replace(inside);
      if ('problem' in replacement) {
        problems.add(replacement.problem);
        return '';
      }
      sources.push(replacement.source);
      return replacement.value;
    });
    return { text: replaced, sources, problems: [...problems] };
  };
};
