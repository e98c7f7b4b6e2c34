/** Colours for a terminal: on heads, and on the words that say how it stands. */
import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** As https://no-color.org and FORCE_COLOR have it: the environment may say no or yes, else a terminal does. */
export const isColoured = (
  { NO_COLOR: no = '', FORCE_COLOR: force, TERM: term }: Readonly<Record<string, string | undefined>>,
  isTty: boolean,
): boolean => {
  if (force !== undefined) return force !== '0' && force !== 'false';
  return no === '' && isTty && term !== 'dumb';
};

const paint = (format: Format, text: string): string => styleText(format, text, { validateStream: false });

const RULES: readonly [pattern: RegExp, format: Format][] = [
  // The heads of a table, and the titles of sections.
  [/^ *[A-Z]+…?(?: [A-Z()]+…?)*(?: {2,}[A-Z][A-Z ()…]*)+$/gm, ['bold', 'dim']],
  [
    /^(?:Daemons|Services|Destinations|Mutes|Queues|Protocols|Not watched|Detectors|Assets|Channels)(?: \(\d+\))?$/gm,
    'bold',
  ],
  [/^Needs a look$/gm, ['bold', 'yellow']],
  [/^ok(?= {2})/gm, 'green'],
  [/^FAIL(?= {2})/gm, ['bold', 'red']],
  [/(?<=: )delivered(?= )/g, 'green'],
  [/(?<=: )dead, (?:kept|no longer kept)|failed for good/g, 'red'],
];

/** `text` is safe to show already. */
export const painted = (text: string): string =>
  RULES.reduce((done, [pattern, format]) => done.replace(pattern, (found) => paint(format, found)), text);
