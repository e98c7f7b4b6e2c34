/** The one action behind every button and link: the first one counts and is shown, whoever comes later is told who it was. */
import type { Logger } from 'pino';
import type { OperatorLog } from '../../ledger/operator-log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { counted } from '../../text.ts';
import { iso } from '../../time.ts';
import type { TellMailboxes } from './mailboxes.ts';
import type { Show } from './show.ts';
import type { AcknowledgementStore, ButtonMessage } from './store.ts';
import { type Acknowledgement, acknowledgedText, alreadyText, firstOf } from './words.ts';

export interface AcknowledgeDependencies {
  store: Pick<AcknowledgementStore, 'acknowledge' | 'acknowledged'>;
  operatorLog: Pick<OperatorLog, 'record'>;
  metrics: Pick<Metrics, 'acknowledged'>;
  show: Pick<Show, 'alerts' | 'message'>;
  /** Left out: there are none. */
  tellMailboxes?: TellMailboxes | undefined;
  log: Pick<Logger, 'info'>;
  now(): number;
}

/** Whoever does it, as `personName` and `personId` leave them. */
export interface Person {
  name: string;
  /** Absent where no platform has proven who it is. */
  userId?: string;
}

/** The log line of every press that counts, also of one that changes nothing any more. */
export const ACCEPTED = 'a press was accepted';

/** Gives a sentence for whoever did it. */
export type Acknowledge = (
  message: Pick<ButtonMessage, 'alerts' | 'destination' | 'handle'>,
  by: Person,
  how: 'button' | 'link',
) => Promise<string>;

/** Rejects where Redis fails; the same press may then come again. */
export const createAcknowledge =
  ({ store, operatorLog, metrics, show, tellMailboxes, log, now }: AcknowledgeDependencies): Acknowledge =>
  async ({ alerts, destination, handle }, { name, userId }, how) => {
    const { kind, id, label } = destination;
    const own: Acknowledgement = {
      by: name,
      ...(userId === undefined ? {} : { userId }),
      via: kind,
      to: label,
      at: iso(now()),
    };
    const fresh = await store.acknowledge(alerts, own);
    const [first] = fresh;
    const who = { author: name, ...(userId === undefined ? {} : { user: userId }) };
    const outcome = first === undefined ? 'acknowledged before' : 'acknowledged';
    const facts = { ...who, destination: id, alert: first ?? alerts[0] };
    log.info({ kind, by: how, outcome, button: 'acknowledge', ...facts }, ACCEPTED);
    if (first === undefined) {
      // It still has the button, maybe because it could not be changed then.
      if (handle !== undefined) show.message(destination, handle);
      return alreadyText(firstOf((await store.acknowledged(alerts)).values()) ?? own);
    }
    show.alerts(alerts);
    metrics.acknowledged.inc({ kind }, fresh.length);
    const what = { alert: first, acknowledged: fresh.length, ...who, destination: id, to: label };
    await operatorLog.record({ action: 'acknowledged', by: how, ...what });
    await tellMailboxes?.(fresh, own, destination);
    const rest = fresh.length < alerts.length ? `: ${counted(fresh.length, 'alert')}, the others were before` : '';
    return `${acknowledgedText(own)}${rest}.`;
  };
