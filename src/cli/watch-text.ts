/** What `tocsin watch` prints: one line for each event. Pure. */
import { actionText } from '../features/status/operator-log.ts';
import type { AlertEvent } from '../features/watch/changes.ts';
import type { RecordedAction } from '../ledger/operator-log.ts';
import { nameOf } from '../ledger/record.ts';
import { cleanLine, counted, shorten, shortenMiddle } from '../text.ts';
import { clock } from '../time.ts';

/** Times are ISO 8601. */
export type WatchEvent =
  | AlertEvent
  | { at: string; event: 'trouble' | 'over'; text: string }
  | { at: string; event: 'operator'; action: RecordedAction }
  | { at: string; event: 'watch'; text: string };

const MOST_NAMED = 3;

const subjectOf = ({ alert: { protocol, txHash, itemId } }: AlertEvent): string => {
  const subject = txHash === undefined ? itemId : shortenMiddle(txHash, { head: 10, tail: 6 });
  return `${shorten(cleanLine(protocol), 40)} ${cleanLine(subject)}`;
};

const destinationsText = (event: Extract<AlertEvent, { event: 'alert' }>): string => {
  const names = event.destinations.map(nameOf);
  if (names.length === 0) return 'to nobody';
  if (names.length <= MOST_NAMED) return `to ${names.join(', ')}`;
  return `to ${counted(names.length, 'destination')}`;
};

const alertText = (event: AlertEvent): string => {
  const subject = subjectOf(event);
  switch (event.event) {
    case 'alert':
      return `${subject}: ${event.alert.type}, ${destinationsText(event)}`;
    case 'delivered':
      return `${subject}: ${nameOf(event.to)}${event.replay === true ? ', as a replay' : ''}, ${event.durationMs} ms`;
    case 'muted':
      return `${subject}: ${nameOf(event.to)}${event.by === undefined ? '' : `, by ${event.by}`}`;
    case 'covered':
      return `${subject}: ${nameOf(event.to)}, an inspection's alert covers it`;
    default:
      return `${subject}: ${nameOf(event.to)}: ${event.message ?? event.reason ?? 'no destination'}`;
  }
};

const textOf = (event: WatchEvent): string => {
  if ('alert' in event) return alertText(event);
  if (event.event !== 'operator') return event.text;
  const { action, at: _at, ...facts } = event.action;
  const values = Object.entries(facts).map(([name, value]) => `${name} ${value}`);
  return [actionText({ action }), ...values].join(', ');
};

/** Without a line feed. */
export const eventLine = (event: WatchEvent): string =>
  `${clock(event.at).slice(11)}  ${event.event.padEnd(9)}  ${cleanLine(textOf(event))}`;
