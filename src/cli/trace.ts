/** `tocsin trace`: where one item went, at every destination. */

import { UsageError } from '../errors.ts';
import { type Acknowledgement, whoText } from '../features/acknowledgement/words.ts';
import {
  createHashFinder,
  createTracer,
  historyOf,
  messageIn,
  shortHashOf,
  type Trace,
  type TracedDelivery,
} from '../features/trace/trace.ts';
import { nameOf, RETENTION_SECONDS } from '../ledger/record.ts';
import { cleanLine } from '../text.ts';
import { clockText } from '../time.ts';
import { type Action, answer } from './context.ts';
import { type View, withView } from './with-view.ts';

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

const acknowledgedLine = ({ by, userId, via, to, at }: Acknowledgement): string =>
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

/** The item, then each destination with every attempt. Ends with a line feed. */
export const renderTraces = (traces: readonly Trace[]): string =>
  `${traces.map((trace) => traceLines(trace).join('\n')).join('\n\n')}\n`;

/** Of the transactions that a short hash may mean. */
const MOST_LISTED = 20;

const DAYS_KEPT = RETENTION_SECONDS / 86_400;

const TOO_SHORT = /^0x[0-9a-f]{0,5}(…|\.{2,3})?$/i;

const unknown = (name: string): UsageError =>
  new UsageError(
    TOO_SHORT.test(name)
      ? `'${name}' is too short to tell transactions apart: give six digits of the hash or more`
      : messageIn(name) === undefined
        ? `nothing is known about '${name}': it was never forwarded, or more than ${DAYS_KEPT} days ago, which is as long as the ledger keeps alerts`
        : `'${name}' is the id of a message that is not found: it had several alerts, or the ledger, which keeps ${DAYS_KEPT} days, has forgotten it; trace also takes an inspection's id, a transaction hash or an alert's id`,
  );

/** A short hash in full. Throws a `UsageError` that lists the candidates where it may mean several transactions. */
const inFull = async (name: string, { store }: View): Promise<string> => {
  const short = shortHashOf(name);
  if (short === undefined) return name;
  const found = await createHashFinder(store)(short);
  const [one, ...others] = found;
  if (one?.txHash === undefined) return name;
  if (others.length === 0) return one.txHash;
  const lines = found
    .slice(-MOST_LISTED)
    .map((alert) => `  ${alert.txHash}  ${clockText(alert.at)}  ${alert.protocol}`);
  throw new UsageError(`'${name}' may be any of ${found.length} transactions:\n${lines.map(cleanLine).join('\n')}`);
};

export const trace: Action<{ id: string }> = (options, context) =>
  withView(options, context, async (view, { services }) => {
    const { store } = view;
    const names = services.map(({ name }) => name);
    const id = await inFull(options.id.trim(), view);
    const traces = await createTracer({ ...store, services: names })(id);
    if (traces.length === 0) throw unknown(id);
    return answer(context, options, traces, () => renderTraces(traces), context.show);
  });
