/** Who gets the news that a destination is broken, works again or has moved, and the text of each announcement. Pure. */
import type { Destination } from '../../alert.ts';
import type { DeliveryReason } from '../../errors.ts';
import { type Subject, subjectName } from '../../ledger/outage-subject.ts';
import { nameOf } from '../../ledger/record.ts';
import { clockText } from '../../time.ts';
import { readersOf } from './audience.ts';

export interface AudienceInput extends Subject {
  operators?: readonly Destination[];
  fallback: readonly Destination[];
  /** Other destinations of the alerts that failed. */
  routed: readonly Destination[];
  isBroken(destination: Destination): boolean;
}

/** As in `readersOf`, without what is broken itself. */
export const audienceOf = (input: AudienceInput): Destination[] => {
  const { destination, isSender, operators = [], fallback, routed, isBroken } = input;
  const isWell = (one: Destination): boolean =>
    one.id !== destination.id && !(isSender && one.kind === destination.kind) && !isBroken(one);
  return readersOf({ operators, fallback, routed, isWell });
};

const sentenceOf = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Outages of one destination that are announced within an hour; after these it is known to come and go. */
export const ANNOUNCED_AN_HOUR = 3;
const COMES_AND_GOES = 'It comes and goes: for the rest of the hour its changes are only in the log, not announced.';

const waitText = (waiting: number): string => {
  if (waiting === 0) return 'No alerts are waiting for it.';
  return waiting === 1 ? 'One alert is waiting for it.' : `${waiting} alerts are waiting for it.`;
};

export interface BrokenInput extends Subject {
  reason: DeliveryReason;
  /** Its receiver wants nothing more: nothing is sent there until an operator enables it. */
  isDisabled?: boolean;
  /** The error that it gave. */
  message: string;
  /** ISO 8601. */
  since: string;
  /** Alerts on their way there. */
  waiting: number;
  /** A fallback is configured. */
  hasFallback: boolean;
  /** How often it broke within an hour, this time included. */
  outagesThisHour: number;
}

/** What becomes of the alerts, and what somebody has to do. */
const adviceOf = ({ destination: { id, kind }, isSender, reason, isDisabled, hasFallback }: BrokenInput): string[] => {
  const goesOn = hasFallback ? ', and those that no person has accepted in time go to the fallback' : '';
  if (isSender) {
    return [
      `Alerts for it wait${goesOn}.`,
      `To do: fix channels.${kind} (token, password or server); \`tocsin check --online\` shows whether it works. Waiting alerts are then sent by themselves.`,
    ];
  }
  if (reason === 'destination-dead') {
    const dead = `Alerts for it are dead and kept${hasFallback ? ', and go to the fallback' : ''}.`;
    if (isDisabled) {
      return [
        dead,
        `To do: ask its owner. If it takes alerts again, \`tocsin destinations enable ${id}\` lets new ones go there, and \`tocsin dead retry --destination ${id}\` sends those that died, the first one too. If it does not, remove it at the service or in the config.`,
      ];
    }
    return [
      dead,
      'To do: correct the channel, at the service or in the config. `tocsin dead list` shows the dead alerts, `tocsin dead retry` sends them again.',
    ];
  }
  return [
    `Alerts for it wait${goesOn}.`,
    'To do: see why it does not answer. Waiting alerts are sent by themselves when it does; `tocsin status` shows how it is doing.',
  ];
};

export const brokenText = (input: BrokenInput): string =>
  [
    `${capital(subjectName(input))} takes no alerts: ${sentenceOf(input.message)}`,
    `Since ${clockText(input.since)}. ${waitText(input.waiting)}`,
    ...adviceOf(input),
    ...(input.outagesThisHour >= ANNOUNCED_AN_HOUR ? [COMES_AND_GOES] : []),
  ].join('\n');

export interface RecoveredInput extends Subject {
  since: string;
  reason: DeliveryReason;
  message: string;
  waiting: number;
}

export const recoveredText = (input: RecoveredInput): string =>
  [
    `${capital(subjectName(input))} works again.`,
    `It was broken since ${clockText(input.since)}: ${sentenceOf(input.message)}`,
    input.waiting === 0 ? waitText(0) : `${waitText(input.waiting)} They are sent now.`,
    ...(input.reason === 'destination-dead'
      ? [`Alerts that died meanwhile are kept: \`tocsin dead retry --destination ${input.destination.id}\` sends them.`]
      : []),
  ].join('\n');

export const movedText = (destination: Destination, newLabel: string): string =>
  [
    `${capital(nameOf(destination))} has moved to ${newLabel}.`,
    'Its provider says so, and alerts follow it there.',
    `To do: update the contact to ${newLabel} wherever ${destination.label} is listed, at the service or in the config.`,
  ].join('\n');
