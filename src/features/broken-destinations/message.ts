/** The words about a destination that is broken, works again or has moved. Pure. */
import type { Destination } from '../../alert.ts';
import { kindFacts, placeOf } from '../../channels/registry.ts';
import type { Subject } from '../../deliver/health.ts';
import { type DeliveryReason, type Explanation, factsOf } from '../../errors.ts';
import type { Target } from '../../ledger/record.ts';
import { capital, counted, countedInWords, namesText, quotedName } from '../../text.ts';
import { ageText, clockText } from '../../time.ts';
import { TO_DO } from '../announcements/announce.ts';

/** What is broken, or works again, as people read it. */
export const subjectName = ({ destination, isSender }: Subject): string =>
  isSender ? kindFacts(destination.kind).words.every : placeOf(destination);

const sentenceOf = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** What the command line calls a destination: its label where a shell takes that as one word. */
const named = ({ id, label }: Destination): string => {
  if (!/^[\w@.+/-]+$/.test(label)) return ` ${id}`;
  return label.startsWith('-') ? `=${label}` : ` ${label}`;
};

/** Sends what died: at one destination, or at all of a kind. */
const retryCommand = ({ destination, isSender }: Subject): string =>
  `tocsin dead retry --destination${isSender ? ` ${destination.kind}` : named(destination)}`;

export interface BrokenInput extends Subject {
  reason: DeliveryReason;
  /** Its receiver wants nothing more: nothing is sent there until an operator enables it. */
  isDisabled?: boolean;
  message: string;
  /** The same for people, and what the provider answered. */
  explanation?: Explanation | undefined;
  said?: string | undefined;
  /** Those whose alerts it did not take. */
  protocols?: readonly string[];
  since: string;
  /** Alerts on their way there. */
  waiting: number;
  /** Alerts that could not be delivered there, and are kept. */
  dead: number;
  /** Such alerts go to the fallback: there is one, and this is no part of it. */
  hasFallback: boolean;
}

/** The first line stands alone: what is wrong, and where. */
const whatIsWrong = (input: BrokenInput): string => {
  const { explanation, isSender, destination, message } = input;
  const name = capital(subjectName(input));
  if (explanation === undefined) return `${name} takes no alerts: ${sentenceOf(message)}`;
  const { who, is } = explanation;
  if (isSender) return `${capital(who ?? name)} ${is}: ${kindFacts(destination.kind).words.none}.`;
  return who === undefined ? `${name} ${is}.` : `${name} takes no alerts: ${who} ${is}.`;
};

const deadText = ({ dead, hasFallback }: Pick<BrokenInput, 'dead' | 'hasFallback'>): string =>
  `${capital(countedInWords(dead, 'alert'))} could not be delivered and ${hasFallback ? 'went to the fallback' : dead === 1 ? 'is kept' : 'are kept'}.`;

const waitText = (waiting: number): string =>
  `${waiting === 0 ? 'No alerts are' : capital(countedInWords(waiting, 'alert is', 'alerts are'))} waiting.`;

const comesText = ({ waiting, hasFallback }: Pick<BrokenInput, 'waiting' | 'hasFallback'>): string => {
  const how = waiting === 1 ? 'It is delivered by itself' : 'They are delivered by themselves';
  const late = hasFallback ? '; what nobody has accepted in time goes to the fallback' : '';
  return `${waiting === 0 ? 'New ones wait, and are delivered by themselves' : how} when it works${late}.`;
};

const whatBecomes = (input: BrokenInput): string[] => {
  const { reason, isSender, waiting, dead, hasFallback } = input;
  const doDie = factsOf(reason).next === 'dead' && !isSender;
  const next = `New alerts for it ${hasFallback ? 'go to the fallback, too' : 'are kept, too, and not delivered'}.`;
  return [
    ...(dead === 0 ? [] : [deadText(input)]),
    ...(doDie && waiting === 0 ? [] : [waitText(waiting)]),
    doDie ? next : comesText(input),
  ];
};

/** What somebody has to do, each with the command whole. */
const whatToDo = (input: BrokenInput): string => {
  const { destination, isSender, reason, isDisabled, explanation } = input;
  const retry = retryCommand(input);
  if (isSender) {
    const correct = `correct channels.${destination.kind} (token, password or server)`;
    const look = factsOf(reason).outlook === 'passing' ? 'see whether its server runs and can be reached, or ' : '';
    const todo = explanation?.todo ?? `${look}${correct}`;
    return `${todo}. To see whether it works, run: tocsin check --online`;
  }
  if (isDisabled) {
    return `ask its owner. If it is to have alerts again, run \`tocsin destinations enable ${destination.id}\`, and to send those that died: ${retry}`;
  }
  if (factsOf(reason).next === 'dead') {
    return `${explanation?.todo ?? 'correct it, at the monitoring service or in the config of Tocsin'}; then, to send what it missed, run: ${retry}`;
  }
  const todo = explanation?.todo ?? 'see why it takes nothing: ask its owner, or look at its server';
  return `${todo}. Nothing has to be sent again. To see how it is doing, run: tocsin status`;
};

/** What is wrong, since when, how many alerts, what becomes of them, what to do; the provider's own answer last. */
export const brokenText = (input: BrokenInput): string => {
  const { since, said, protocols = [], isSender, destination } = input;
  const { label, name }: Pick<Target, 'label' | 'name'> = destination;
  const whose = isSender || protocols.length === 0 ? [] : [`Alerts of ${namesText(protocols)} do not arrive there.`];
  const isAnId = name === undefined && /^[A-Z]?-?[A-Z0-9]+$/.test(label);
  const ask =
    whose.length > 0 && isAnId ? [`Nobody knows its name here: ask the team of ${namesText(protocols)}.`] : [];
  return [
    whatIsWrong(input),
    [`Since ${clockText(since)}.`, ...whose, ...ask, ...whatBecomes(input)].join(' '),
    `${TO_DO}${whatToDo(input)}`,
    ...(said === undefined ? [] : [`Its answer: ${quotedName(said)}`]),
  ].join('\n');
};

/** `now`: epoch milliseconds. */
type RecoveredInput = Subject &
  Pick<BrokenInput, 'since' | 'message' | 'waiting' | 'dead' | 'hasFallback'> & { now: number };

/** That it works comes first: how many waited and what becomes of them, how many died; then how long it lasted, and why. */
export const recoveredText = (input: RecoveredInput): string => {
  const { since, message, waiting, dead, now } = input;
  const lasted = ageText(Math.max(0, now - Date.parse(since)));
  return [
    `${capital(subjectName(input))} works again${waiting === 0 ? '' : `: ${counted(waiting, 'alert comes', 'alerts come')} late`}.`,
    waiting === 0
      ? `${waitText(0)}${dead === 0 ? ' Nothing has to be done.' : ''}`
      : `Read ${waiting === 1 ? 'it' : 'them'}: nobody may have seen ${waiting === 1 ? 'it' : 'them'} yet.`,
    ...(dead === 0
      ? []
      : [deadText(input), `${TO_DO}to send ${dead === 1 ? 'it' : 'them'} after all, run: ${retryCommand(input)}`]),
    `No alerts arrived there for ${lasted}, from ${clockText(since)} on. The reason was: ${quotedName(message)}`,
  ].join('\n');
};

export const movedText = (destination: Destination & Pick<Target, 'name'>, newLabel: string): string =>
  [
    `${capital(placeOf(destination))} has a new id: ${newLabel}.`,
    `${capital(destination.kind)} says so, and alerts already go to the new id: none is lost.`,
    `${TO_DO}write ${newLabel} wherever ${destination.label} is listed, at the monitoring service or in the config of Tocsin.`,
  ].join('\n');
