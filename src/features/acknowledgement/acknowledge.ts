/** The one action behind every button and link: the first one counts, is shown, and is announced to mailboxes. */
import type { Logger } from 'pino';
import type { Alert, Destination } from '../../alert.ts';
import { getOrCreate } from '../../bounded-map.ts';
import { isHash } from '../../channels/chains.ts';
import { shortHex } from '../../channels/content/foreign.ts';
import { acknowledgesByLink, placeOf } from '../../channels/registry.ts';
import { mapInChunks } from '../../chunks.ts';
import { destinationId } from '../../item.ts';
import type { AlertRecord, DeliveryRecord, Target } from '../../ledger/record.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { counted, nameText, quotedName } from '../../text.ts';
import { iso } from '../../time.ts';
import type { Announce } from '../announcements/announce.ts';
import { type Names, withName } from '../names/names.ts';
import type { createTellReceivers } from './receivers.ts';
import type { Show } from './show.ts';
import type { AcknowledgementParts, ButtonMessage } from './store.ts';
import { type Acknowledgement, acknowledgedText, alreadyText, firstOf, timeText } from './words.ts';

/** What announcing to mailboxes needs; `fallback`: its destinations. */
interface MailboxesDependencies extends Pick<AcknowledgementParts, 'ledger' | 'isOpen'> {
  announce: Announce;
  fallback: readonly Pick<Destination, 'id'>[];
  names(): Promise<Names>;
  log: Pick<Logger, 'warn'>;
}

/**
 * Announces to mailboxes who acknowledged an alert that they have: a mail cannot be changed, so a short one follows it, one
 * to each mailbox. Never rejects: that somebody acknowledged holds without it.
 */
export type TellMailboxes = (
  alerts: readonly Alert['id'][],
  by: Acknowledgement,
  /** Whose message was pressed. */
  where: Target,
) => Promise<void>;

const MOST_MAILBOXES = 100;
const READ_AT_ONCE = 50;
const MOST_NAMED = 3;

/** What one mailbox has of the alerts. */
interface Mailbox {
  destination: Destination;
  alerts: AlertRecord['alert'][];
}

/** The ledger has no addresses, but a mailbox's label is its address: its id proves that. */
const mailboxOf = ({ id, kind, label }: Target): Destination | undefined =>
  acknowledgesByLink(kind) && destinationId(kind, label) === id ? { id, kind, address: label, label } : undefined;

/**
 * It has the mail, or is about to get it by its own routes: the news then waits with it. What is only on its way to the
 * fallback ends now. Who asked for a delivery is known until its first attempt.
 */
const has = ({ state, handle, by, attempts }: DeliveryRecord, isFallback: boolean): boolean =>
  state === 'delivered'
    ? handle !== undefined
    : state === 'waiting' && by === undefined && (attempts.length === 0 || !isFallback);

const placeText = ({ via, to }: Acknowledgement, name: string | undefined): string =>
  acknowledgesByLink(via)
    ? `by the link in the mail to ${to}`
    : `on ${placeOf(name === undefined ? { kind: via, label: to } : { kind: via, label: to, name })}`;

/**
 * `“Ann” is on 2 alerts (“Harbor Lending”, “Meridian Swap”, 0x5033…5ccb): acknowledged 02:45:10 UTC on Slack channel #alerts
 * (C024BE91L).` The transaction where it is one.
 */
export const mailboxText = (
  by: Acknowledgement,
  name: string | undefined,
  alerts: readonly Pick<Alert, 'protocol' | 'txHash'>[],
): string => {
  const protocols = [...new Set(alerts.map(({ protocol }) => nameText(protocol)))];
  const hashes = new Set(alerts.map(({ txHash }) => txHash));
  const [hash = ''] = hashes.size === 1 ? hashes : [];
  const transaction = isHash(hash) ? [shortHex(hash)] : [];
  const isMany = protocols.length > MOST_NAMED;
  const named = [...(isMany ? [] : protocols), ...transaction].join(', ');
  const of = [isMany ? `in ${protocols.length} protocols` : '', named === '' ? '' : `(${named})`].join(' ').trim();
  return `${quotedName(by.by)} is on ${counted(alerts.length, 'alert')} ${of}: acknowledged ${timeText(by.at)} ${placeText(by, name)}.`;
};

/** The alert below which the news stands; of several transactions it names none. */
const subjectOf = ([first, ...others]: AlertRecord['alert'][]): Pick<Alert, 'id' | 'txHash'> => {
  const { id = '', txHash } = first ?? {};
  return txHash !== undefined && others.every((one) => one.txHash === txHash) ? { id, txHash } : { id };
};

/** At most a hundred mailboxes for one press; the log names how many more there were. */
export const createTellMailboxes = (dependencies: MailboxesDependencies): TellMailboxes => {
  const { ledger, announce, isOpen, fallback, names, log } = dependencies;
  const isFallback = new Set(fallback.map(({ id }) => id));

  const note = (found: Map<string, Mailbox>, { alert, deliveries }: AlertRecord): void => {
    for (const delivery of deliveries) {
      const destination = mailboxOf(delivery.destination);
      if (destination === undefined || !has(delivery, isFallback.has(destination.id))) continue;
      getOrCreate(found, destination.id, () => ({ destination, alerts: [] })).alerts.push(alert);
    }
  };

  const find = async (ids: readonly Alert['id'][]): Promise<Mailbox[]> => {
    const found = new Map<string, Mailbox>();
    for (const record of await mapInChunks(ids, READ_AT_ONCE, ledger.read)) if (record) note(found, record);
    return [...found.values()];
  };

  const tell: TellMailboxes = async (ids, by, where) => {
    const found = await find(ids);
    if (found.length === 0) return;
    const mayHear = await isOpen();
    const open = found.filter(({ destination }) => mayHear(destination));
    const heard = open.slice(0, MOST_MAILBOXES);
    if (open.length > heard.length) {
      const facts = { alert: ids[0], more: open.length - heard.length, most: MOST_MAILBOXES };
      log.warn(facts, 'some mailboxes do not hear who acknowledged an alert: there are too many');
    }
    const { name } = withName(where, await names());
    // An alert is acknowledged once, so it names the news. Most mailboxes have the same ones.
    for (const [key, same] of Map.groupBy(heard, ({ alerts }) => `${alerts[0]?.id} ${alerts.length}`)) {
      const alerts = same[0]?.alerts ?? [];
      const news = { about: 'alert.acknowledged' as const, key, message: mailboxText(by, name, alerts) };
      const destinations = same.map(({ destination }) => destination);
      await announce({ ...news, of: subjectOf(alerts) }, Date.parse(by.at), destinations);
    }
  };

  return (...what) =>
    tell(...what).catch((error: unknown) => {
      log.warn({ err: error, alert: what[0][0] }, 'mailboxes may not hear who acknowledged an alert');
    });
};

interface AcknowledgeDependencies extends Pick<AcknowledgementParts, 'store' | 'operatorLog' | 'now'> {
  metrics: Pick<Metrics, 'acknowledged'>;
  /** Nobody had acknowledged these before. */
  onAcknowledged?(alerts: readonly Alert['id'][], by: Acknowledgement): void;
  show: Show;
  /** Left out: there are none. */
  tellMailboxes?: TellMailboxes | undefined;
  /** The same. */
  tellReceivers?: ReturnType<typeof createTellReceivers> | undefined;
  log: Pick<Logger, 'info'>;
}

/** Who presses, as `personName` and `personId` leave it. */
export interface Person {
  name: string;
  /** Absent where no platform has proven who it is. */
  userId?: string;
}

/** The log line of every press that counts, also of one that changes nothing any more. */
export const ACCEPTED = 'a press was accepted';

/** Gives a sentence for the person. */
export type Acknowledge = (
  message: Pick<ButtonMessage, 'alerts' | 'destination' | 'handle'>,
  by: Person,
  how: 'button' | 'link',
) => Promise<string>;

/** Rejects where Redis fails; the same press may then come again. */
export const createAcknowledge =
  ({
    store,
    operatorLog,
    metrics,
    onAcknowledged,
    show,
    tellMailboxes,
    tellReceivers,
    log,
    now,
  }: AcknowledgeDependencies): Acknowledge =>
  async ({ alerts, destination, handle }, { name, userId }, how) => {
    const { kind, id, label } = destination;
    const proven = userId === undefined ? {} : { userId };
    const own: Acknowledgement = { by: name, ...proven, via: kind, to: label, destination: id, at: iso(now()) };
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
    onAcknowledged?.(fresh, own);
    const what = { alert: first, acknowledged: fresh.length, ...who, destination: id, to: label };
    await operatorLog.record({ action: 'acknowledged', by: how, ...what });
    await Promise.all([tellMailboxes?.(fresh, own, destination), tellReceivers?.(fresh, own)]);
    const rest = fresh.length < alerts.length ? `: ${counted(fresh.length, 'alert')}, the others were before` : '';
    return `${acknowledgedText(own)}${rest}.`;
  };
