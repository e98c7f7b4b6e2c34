/** The words about Tocsin's own troubles: that they have begun, and that they are over. Pure. */
import { type Condition, conditionText, nextStepOf, rowOf } from '../../condition.ts';
import { capital, cleanLine, shorten } from '../../text.ts';
import { ageText, clockText } from '../../time.ts';
import { TO_DO } from '../announcements/announce.ts';

/** A message tells at most this many; the others are counted. */
const MOST = 15;
const LIMIT = 400;

const lineOf = (text: string): string => shorten(cleanLine(text), LIMIT).replace(/\.+$/, '');

const sentenceOf = ({ what, why }: Condition): string => capital(lineOf(conditionText({ what, why })));

const sinceOf = ({ since }: Condition): string => (since === undefined ? '' : ` Since ${clockText(since)}.`);

/** What they are, and a line about each. `alone`: how one is said; `verb`: of several. */
const linesOf = (
  troubles: readonly Condition[],
  alone: (sentence: string) => string,
  verb: string,
  lineFor: (one: Condition) => string,
): string[] => {
  const [first = ''] = troubles.map(sentenceOf);
  const isAlone = troubles.length === 1;
  const lines = troubles
    .slice(0, MOST)
    .map((one, index) => `${isAlone ? '' : `${index + 1}. ${sentenceOf(one)}.`}${lineFor(one)}`.trim());
  const more = troubles.length - MOST;
  return [
    isAlone ? alone(first) : `${troubles.length} troubles in Tocsin itself${verb}, the first: ${first}.`,
    ...lines.filter((line) => line !== ''),
    ...(more > 0 ? [`And ${more} more: see \`tocsin status\`.`] : []),
  ];
};

/** The first line stands alone; then by trouble since when, what becomes of alerts, and what to do. */
export const begunText = (troubles: readonly Condition[]): string =>
  linesOf(
    troubles,
    (one) => `${one}.`,
    '',
    (one) => `${sinceOf(one)} ${rowOf(one.name).effect}.\n${TO_DO}${nextStepOf(one)}.`,
  ).join('\n');

/** `left`: troubles that were announced and are not over. `hosts`: of the daemons that run. `now`: epoch milliseconds. */
export const overText = (
  troubles: readonly Condition[],
  { left, hosts, now }: { left: number; hosts: ReadonlySet<string>; now: number },
): string => {
  /** A time that lies ahead was taken from a clock that was wrong. */
  const lasted = ({ since }: Condition): string =>
    since === undefined || Date.parse(since) > now
      ? ''
      : ` It lasted ${ageText(now - Date.parse(since))}, since ${clockText(since)}.`;
  /** Nobody knows whether it is over. */
  const gone = ({ name, at = '' }: Condition): string =>
    rowOf(name).isOfOneDaemon && !hosts.has(at) ? ' The daemon that had it does not run any more.' : '';
  const lines = linesOf(
    troubles,
    (one) => `Over: ${one}.`,
    ' are over',
    (one) => `${lasted(one)}${gone(one)}`,
  );
  const rest = `${left === 1 ? 'One is' : `${left} are`} left: see \`tocsin status\`.`;
  return [...lines, left === 0 ? 'Nothing has to be done.' : rest].join('\n');
};
