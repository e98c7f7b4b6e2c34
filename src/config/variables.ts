/** Where values come from besides the config: variables, files of secrets, and `tocsin.env` beside `tocsin.yaml`. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, parse, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { orUndefined } from '../errors.ts';

/** A small file, or in words why it cannot be read. */
export type ReadResult = { ok: true; text: string } | { ok: false; why: string };

export const LARGEST_CONFIG_BYTES = 1_048_576;

export const NO_SUCH_FILE = 'there is no such file';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: NO_SUCH_FILE,
  ENOTDIR: NO_SUCH_FILE,
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  EISDIR: 'it is a directory',
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';

const decode = (bytes: Buffer): ReadResult => {
  const text = orUndefined(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  return text === undefined ? { ok: false, why: 'it is not UTF-8 text' } : { ok: true, text };
};

/** Pipes are read too, so that a file may come from a decrypting program. */
export const readBytes = (
  file: string,
  limitBytes: number,
): { ok: true; bytes: Buffer } | { ok: false; why: string } => {
  try {
    const stat = statSync(file);
    if (stat.isCharacterDevice() || stat.isBlockDevice()) return { ok: false, why: 'it is a device' };
    const bytes = stat.size > limitBytes ? undefined : readFileSync(file);
    if (bytes === undefined || bytes.length > limitBytes) {
      return { ok: false, why: `it is larger than ${limitBytes / 1024} KiB` };
    }
    return { ok: true, bytes };
  } catch (error) {
    const code = codeOf(error);
    return { ok: false, why: REASONS[code] ?? code };
  }
};

/** The same as UTF-8 text; a byte order mark is dropped. */
export const readText = (file: string, limitBytes: number): ReadResult => {
  const read = readBytes(file, limitBytes);
  return read.ok ? decode(read.bytes) : read;
};

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Variables {
  environment: Environment;
  /** How to set a variable that is missing; goes on from "which is not set". */
  hint: string;
}

interface Interpolated {
  text: string;
  /** What was replaced, by name and never by value; empty where nothing was. */
  sources: string[];
  /** One sentence for each reference that could not be replaced. */
  problems: string[];
}

export type Interpolate = (text: string) => Interpolated;

const TOKEN = /\$\$|\$\{([^{}]*)\}|\$\{/g;
const REFERENCE = /^(?:file:(?<file>.+)|(?<name>[A-Za-z_]\w*)(?::-(?<otherwise>.*))?)$/s;
/** Of a secret, and of the file of variables. */
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

const fromVariable = ({ environment, hint }: Variables, name: string, otherwise: string | undefined): Replacement => {
  const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
  // As in a shell, `:-` also replaces a variable that is set but empty.
  if (otherwise !== undefined && (value === undefined || value === '')) return { value: otherwise, source: name };
  return value === undefined
    ? { problem: `names the variable ${name}, which is not set${hint}` }
    : { value, source: name };
};

/**
 * Replaces `${NAME}`, `${NAME:-default}`, `${file:/run/secrets/x}` and `$$` inside a text that is already parsed. Relative
 * file names start at `directory`. What was put in is not interpolated again.
 */
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

/** So nobody has to export a secret, and none stands in the config itself. */
export const envFileOf = (configFile: string): string => join(dirname(configFile), `${parse(configFile).name}.env`);

/** Node's reader of `NAME=value` lines; what it cannot read as one is left out. */
export const readEnvText = (text: string): Record<string, string> =>
  Object.fromEntries(Object.entries(parseEnv(text)).map(([name, value]) => [name, value ?? '']));

/** The environment wins; a variable that is set but empty counts as none, as where Compose passes one on that nobody has set. */
export const withEnvFile = (configFile: string, environment: Environment, onFile: OnFile = () => {}): Variables => {
  const file = envFileOf(configFile);
  const read = readText(file, LARGEST_FILE_BYTES);
  onFile(file, read, LARGEST_FILE_BYTES);
  if (!read.ok) {
    const why = read.why === NO_SUCH_FILE ? '' : `, which cannot be read: ${read.why}`;
    return { environment, hint: `: export it, or write it into ${file}${why}` };
  }
  const isGiven = ([, value]: [string, string | undefined]): boolean => value !== undefined && value !== '';
  const given = Object.fromEntries(Object.entries(environment).filter(isGiven));
  return {
    environment: { ...environment, ...readEnvText(read.text), ...given },
    hint: `: export it, or write it into ${file}`,
  };
};
