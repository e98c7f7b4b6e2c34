/** What people read of Tocsin's own troubles, and of their end. Pure. */
import { TO_DO } from '../../announcement.ts';
import { capital, cleanLine, shorten } from '../../text.ts';
import { ageText, clockText } from '../../time.ts';
import { effectOf, nextStepOf, type Trouble } from '../../trouble.ts';
import { COMES_AND_GOES } from '../outages/message.ts';

/** A message tells at most this many; the others are counted. */
const MOST = 15;
const LIMIT = 400;

const lineOf = (text: string): string => shorten(cleanLine(text), LIMIT).replace(/\.+$/, '');

const sentenceOf = ({ what, why }: Trouble): string =>
  capital(why === undefined ? lineOf(what) : lineOf(`${what}: ${why}`));

const sinceOf = ({ since }: Trouble): string => (since === undefined ? '' : ` Since ${clockText(since)}.`);

const restOf = (count: number): string[] => (count > MOST ? [`And ${count - MOST} more: see \`tocsin status\`.`] : []);

/** The first line stands alone; then by trouble since when, what becomes of alerts, and what to do. `comesAndGoes`: one of them began so often within the hour that its next beginnings are not announced. */
export const begunText = (troubles: readonly Trouble[], { comesAndGoes }: { comesAndGoes: boolean }): string => {
  const [first] = troubles;
  const told = troubles.slice(0, MOST).map((one, index) => {
    const begins = troubles.length === 1 ? '' : `${index + 1}. ${sentenceOf(one)}.`;
    return `${begins}${sinceOf(one)} ${effectOf(one)}.\n${TO_DO}${nextStepOf(one)}.`.trim();
  });
  const head =
    troubles.length === 1 && first !== undefined
      ? `${sentenceOf(first)}.`
      : `${troubles.length} troubles in Tocsin itself, the first: ${first === undefined ? '' : sentenceOf(first)}.`;
  return [head, ...told, ...restOf(troubles.length), ...(comesAndGoes ? [COMES_AND_GOES] : [])].join('\n');
};

export interface Ended extends Trouble {
  /** The daemon that had it does not run any more, so nobody knows. */
  isUnknown: boolean;
}

/** `left`: troubles that were announced and are not over. */
export const overText = (troubles: readonly Ended[], { left, now }: { left: number; now: number }): string => {
  const [first] = troubles;
  const lasted = ({ since }: Trouble): string =>
    since === undefined
      ? ''
      : ` It lasted ${ageText(Math.max(0, now - Date.parse(since)))}, since ${clockText(since)}.`;
  const told = troubles.slice(0, MOST).map((one, index) => {
    const begins = troubles.length === 1 ? '' : `${index + 1}. ${sentenceOf(one)}.`;
    const gone = one.isUnknown ? ' The daemon that had it does not run any more.' : '';
    return `${begins}${lasted(one)}${gone}`.trim();
  });
  const head =
    troubles.length === 1 && first !== undefined
      ? `Over: “${sentenceOf(first)}”.`
      : `${troubles.length} troubles in Tocsin itself are over, the first: ${first === undefined ? '' : sentenceOf(first)}.`;
  const rest = left === 0 ? [] : [`${left === 1 ? 'One is' : `${left} are`} left: see \`tocsin status\`.`];
  return [head, ...told.filter((line) => line !== ''), ...restOf(troubles.length), ...rest].join('\n');
};
