/** A trace as text: the item, then each destination with every attempt. Pure. */

import { whoText } from '../features/acknowledgement/words.ts';
import { historyOf } from '../features/trace/history.ts';
import type { Trace, TracedAcknowledgement, TracedDelivery } from '../features/trace/trace.ts';
import { nameOf } from '../ledger/record.ts';
import { cleanLine } from '../text.ts';
import { clockText } from '../time.ts';

/** `2026-11-20 10:07:31.002 UTC` */
export const exactTime = (at: string): string => clockText(at, 'milliseconds');

/** Attempts and what was done by hand, in order of time. */
export const historyLines = (delivery: Pick<TracedDelivery, 'attempts' | 'acts'>): string[] =>
  historyOf(delivery).map(({ at, text }) => `${exactTime(at)}  ${text}`);

const waitText = ({ waitsFor, at, destination, attempts }: TracedDelivery): string => {
  if (waitsFor === 'approval') {
    return `held since ${exactTime(at)}: the destination is not approved; tocsin destinations approve ${destination.id}`;
  }
  if (waitsFor === 'turn') return 'in a batch with others, until its destination can take it';
  return attempts.length === 0 ? 'waiting, not tried yet' : 'waiting for the next try';
};

const stateText = (delivery: TracedDelivery): string => {
  const { id, state, at, isKept, with: other } = delivery;
  switch (state) {
    case 'waiting':
      return waitText(delivery);
    case 'delivered':
      return other === undefined
        ? `delivered ${exactTime(at)}`
        : `not sent: alert ${other} of the inspection covers it`;
    case 'muted':
      return 'muted, not sent';
    case 'dead':
      return isKept ? `dead, kept: \`tocsin dead retry ${id}\` sends it again` : 'dead, no longer kept';
  }
};

const deliveryLines = (delivery: TracedDelivery): string[] => {
  const { id, destination } = delivery;
  const to = destination.kind === 'none' ? destination.label : cleanLine(nameOf(destination));
  return [
    `  ${to}: ${stateText(delivery)}`,
    `    delivery ${id}, destination ${destination.id}`,
    ...historyLines(delivery).map((line) => `    ${line}`),
  ];
};

const acknowledgedLine = ({ by, userId, via, to, at }: TracedAcknowledgement): string =>
  `  acknowledged ${exactTime(at)} by ${cleanLine(whoText({ by, userId }))}, in ${via} ${cleanLine(to)}`;

const traceLines = ({ alert, acknowledged, deliveries }: Trace): string[] => [
  `${alert.type} ${cleanLine(alert.itemId)}`,
  `  protocol     ${cleanLine(alert.protocol)} (service ${alert.service})`,
  ...(alert.txHash === undefined ? [] : [`  transaction  ${cleanLine(alert.txHash)}`]),
  `  written      ${exactTime(alert.at)}`,
  `  read         ${exactTime(alert.readAt)}`,
  `  alert        ${alert.id}`,
  ...(acknowledged === undefined ? [] : [acknowledgedLine(acknowledged)]),
  '',
  ...(deliveries.length === 0 ? ['  it had no destination'] : deliveries.flatMap(deliveryLines)),
];

/** Ends with a line feed. */
export const renderTraces = (traces: readonly Trace[]): string =>
  `${traces.map((trace) => traceLines(trace).join('\n')).join('\n\n')}\n`;
