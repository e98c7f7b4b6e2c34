/**
 * A log line for people at a terminal: time, level, message, then the other fields. Made of the finished JSON line, so
 * nothing is in it that is not in the other form. Own, because `pino-pretty` formats in a thread or by a second parser of
 * its own, and knows nothing of text that moves a terminal's cursor.
 */
import { escapeInvisible } from '../text.ts';
import { clock } from '../time.ts';

/** SGR codes of each level. */
const COLOURS: Readonly<Record<string, string>> = {
  trace: '90',
  debug: '90',
  info: '32',
  warn: '33',
  error: '31',
  fatal: '1;31',
};

const FAINT = '2';
const STRONG = '1';

/** On one line, and without what a terminal would obey. */
const plain = (text: string): string =>
  // Most texts are of these characters only, and looking is much cheaper than replacing.
  /^[ -~]*$/.test(text) ? text : escapeInvisible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');

/** A word stands as it is; anything else is JSON, so that it ends where it ends. */
const WORD = /^[\p{L}\p{N}_./:@#+*,-]+$/u;

const valueText = (value: unknown): string => {
  if (typeof value === 'string' && WORD.test(value)) return value;
  if (Array.isArray(value)) return `[${value.map(valueText).join(' ')}]`;
  return plain(JSON.stringify(value) ?? 'undefined');
};

type Paint = (code: string, text: string) => string;

const errorText = (err: unknown): { field: string; stack: string[] } => {
  if (typeof err !== 'object' || err === null) return { field: valueText(err), stack: [] };
  const { type, message, stack, ...rest } = err as Record<string, unknown>;
  const more = Object.entries(rest).map(([key, value]) => ` (${plain(key)} ${valueText(value)})`);
  const field = `${plain(String(type))}: ${plain(String(message))}${more.join('')}`;
  const frames = typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s+at /.test(line)) : [];
  return { field, stack: frames.map((line) => `    ${plain(line.trim())}`) };
};

/** Gives what writes one JSON line, with its line feed, in this form. */
export const createPrettyLine = (hasColour: boolean): ((line: string) => string) => {
  const paint: Paint = (code, text) => (hasColour ? `\u001b[${code}m${text}\u001b[0m` : text);
  return (line) => {
    const {
      time,
      level,
      name: _n,
      pid: _p,
      hostname: _h,
      msg,
      err,
      ...fields
    } = JSON.parse(line) as Record<string, unknown>;
    const word = String(level);
    const error = err === undefined ? undefined : errorText(err);
    const shown = Object.entries(fields).map(([key, value]) => ` ${paint(FAINT, `${plain(key)}=`)}${valueText(value)}`);
    const head = `${paint(FAINT, clock(String(time), 'milliseconds').slice(11))} ${paint(COLOURS[word] ?? STRONG, word.toUpperCase().padEnd(5))}`;
    const first = `${head} ${paint(STRONG, plain(String(msg ?? '')))}${shown.join('')}`;
    const lines = error === undefined ? [first] : [`${first} ${paint('31', error.field)}`, ...error.stack];
    return `${lines.join('\n')}\n`;
  };
};
