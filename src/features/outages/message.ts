/** Whom to tell that a destination is broken, and in which words; also that it works again, and that it has moved. Pure. */
import { type Destination, isHuman } from '../../alert.ts';
import type { DeliveryReason } from '../../errors.ts';
import { type Subject, subjectName } from '../../ledger/outage-subject.ts';
import { nameOf } from '../../ledger/record.ts';
import { clockText } from '../../time.ts';

export interface AudienceInput extends Subject {
  fallback: readonly Destination[];
  /** Where the alerts go that met it. */
  routed: readonly Destination[];
  isBroken(destination: Destination): boolean;
}

/** The fallback; people of the same protocols where that has no destination that works; nobody where these have none. */
export const audienceOf = ({ destination, isSender, fallback, routed, isBroken }: AudienceInput): Destination[] => {
  const isWell = (one: Destination): boolean =>
    one.id !== destination.id && !(isSender && one.kind === destination.kind) && !isBroken(one);
  const first = fallback.filter(isWell);
  return first.length > 0 ? first : routed.filter((one) => isHuman(one) && isWell(one));
};

const sentenceOf = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** So many breaks within an hour are told; then it is known to come and go. */
export const TOLD_BREAKS = 3;
const COMES_AND_GOES = 'It comes and goes: for the rest of the hour its changes are only in the log, not announced.';

const waitText = (waiting: number): string => {
  if (waiting === 0) return 'Nothing waits for it.';
  return waiting === 1 ? 'One alert waits for it.' : `${waiting} alerts wait for it.`;
};

export interface BrokenInput extends Subject {
  reason: DeliveryReason;
  /** What it said. */
  message: string;
  /** ISO 8601. */
  since: string;
  /** Alerts on their way there. */
  waiting: number;
  /** A fallback is configured. */
  hasFallback: boolean;
  /** How often it broke within an hour, this time included. */
  outageStore: number;
}

/** What becomes of alerts, and what somebody should do. */
const adviceOf = ({ destination: { kind }, isSender, reason, hasFallback }: BrokenInput): string[] => {
  const goesOn = hasFallback ? ', and what no person has accepted in time goes to the fallback' : '';
  if (isSender) {
    return [
      `What is for it waits${goesOn}.`,
      `To do: mend channels.${kind} (token, password or server); \`tocsin check --online\` tells whether it works. What waits is sent by itself then.`,
    ];
  }
  if (reason === 'destination-dead') {
    return [
      `What is for it is dead and kept${hasFallback ? ', and goes to the fallback' : ''}.`,
      'To do: correct the channel, at the service or in the config. `tocsin dead list` shows what is kept, `tocsin dead retry` sends it again.',
    ];
  }
  return [
    `What is for it waits${goesOn}.`,
    'To do: see why it does not answer. What waits is sent by itself when it does; `tocsin status` shows how it is doing.',
  ];
};

export const brokenText = (input: BrokenInput): string =>
  [
    `${capital(subjectName(input))} takes no alerts: ${sentenceOf(input.message)}`,
    `Since ${clockText(input.since)}. ${waitText(input.waiting)}`,
    ...adviceOf(input),
    ...(input.outageStore >= TOLD_BREAKS ? [COMES_AND_GOES] : []),
  ].join('\n');

export interface WellInput extends Subject {
  since: string;
  reason: DeliveryReason;
  message: string;
  waiting: number;
}

export const wellText = (input: WellInput): string =>
  [
    `${capital(subjectName(input))} works again.`,
    `It was broken since ${clockText(input.since)}: ${sentenceOf(input.message)}`,
    input.waiting === 0 ? waitText(0) : `${waitText(input.waiting)} They are sent now.`,
    ...(input.reason === 'destination-dead' ? ['What died meanwhile is kept: `tocsin dead retry` sends it.'] : []),
  ].join('\n');

export const movedText = (destination: Destination, newLabel: string): string =>
  [
    `${capital(nameOf(destination))} has moved to ${newLabel}.`,
    'Its provider says so, and alerts follow it there.',
    `To do: update the contact to ${newLabel} wherever ${destination.label} is listed, at the service or in the config.`,
  ].join('\n');
