/** The table of log fields in docs/logs.md, and which fields of log lines it does not allow. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/logs.md'), 'utf8');
const ROW = /^\| (`.*?`) \| ([a-z, ]+) \|/gm;

/** One type for all names of a row, or one for each of them. */
export const documentedFields = (): Map<string, string> =>
  new Map(
    [...DOCUMENT.matchAll(ROW)].flatMap(([, names = '', types = '']) => {
      const each = types.split(', ');
      return names.split(', ').map((name, index) => [name.replaceAll('`', ''), each[index] ?? each[0] ?? ''] as const);
    }),
  );

const typeOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'list';
  if (value === null) return 'nothing';
  return typeof value === 'string' ? 'text' : typeof value;
};

const FIELDS = documentedFields();

/** `field: type in "message"`, for every field that the table lacks or gives another type. */
export const undocumentedFields = (lines: readonly Record<string, unknown>[]): string[] => [
  ...new Set(
    lines.flatMap((line) =>
      Object.entries(line)
        .filter(([name, value]) => FIELDS.get(name) !== typeOf(value))
        .map(([name, value]) => `${name}: ${typeOf(value)} in "${String(line.msg)}"`),
    ),
  ),
];
