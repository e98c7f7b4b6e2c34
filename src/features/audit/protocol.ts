/** The audit of one protocol: its window, the comparison, and dispatching what is missing. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Alert, Destination, Parcel } from '../../alert.ts';
import type { Config } from '../../config/schema.ts';
import type { Routes } from '../../dispatch/dispatch.ts';
import type { Item } from '../../item.ts';
import type { DeadLetters } from '../../ledger/dead-letters.ts';
import { createDistinguish } from '../../ledger/distinguish.ts';
import type { AlertIndex } from '../../ledger/index-by-date.ts';
import type { AlertRecord, Ledger } from '../../ledger/ledger.ts';
import type { Cursors, Track } from '../../poll/cursor.ts';
import { isWanted, type LateItems, toAlert, type Unknown } from '../../poll/ingest.ts';
import { identityOf, type Seen } from '../../poll/seen.ts';
import type { JobScan } from '../../queue/scan.ts';
import type { Locks } from '../../redis/lock.ts';
import type { ServiceClient, ServiceClock } from '../../service/client.ts';
import type { Feed } from '../../service/feed.ts';
import type { Lookup } from '../../service/lookup.ts';
import { iso } from '../../time.ts';
import {
  type Account,
  balance,
  type Dates,
  disagreementOf,
  fateOf,
  type ListedItem,
  noCounts,
  type ProtocolAudit,
} from './balance.ts';

export interface AuditParts {
  settings: Pick<Config['alerts'], 'assessments' | 'sources'> &
    Pick<Config['poll'], 'lookback' | 'overlap'> &
    Pick<Config['audit'], 'lostAfter'>;
  ledger: Pick<Ledger, 'read' | 'summaries' | 'recordAttempt' | 'waitingByDestination'>;
  alertIndex: Pick<AlertIndex, 'open' | 'between' | 'trimmedTo'>;
  seen: Pick<Seen, 'unknown'>;
  cursors: Pick<Cursors, 'get' | 'begun'>;
  lateItems: Pick<LateItems, 'ingest'>;
  jobScan: JobScan;
  dead: Pick<DeadLetters, 'add'>;
  locks: Pick<Locks, 'take'>;
  serviceOf(name: string): {
    feed: Pick<Feed, 'inspections' | 'notifications'>;
    client: Pick<ServiceClient, 'inspectionStats'>;
    clock: Pick<ServiceClock, 'now'>;
    lookUp: Lookup;
  };
  /** Those that are polled. */
  protocolsOf(service: string): Promise<readonly string[]>;
  /** Notes those that are polled, and gives all of the last weeks. */
  listedLately(service: string, protocols: readonly string[]): Promise<readonly string[]>;
  /** `skipped`: no trigger of the protocol asks for the alert. */
  routesOf(alert: Alert): Promise<Pick<Routes, 'skipped'>>;
  /** Where alerts of its protocol go now, triggers aside; of an announcement, where it may have gone. */
  destinationsOf(alert: AlertRecord['alert']): Promise<Destination[]>;
  enqueue(parcels: readonly Parcel[], nonce: string): Promise<void>;
  now(): number;
}

type Compared = Pick<AuditParts, 'settings' | 'ledger' | 'seen' | 'serviceOf' | 'routesOf' | 'now'>;
type Audits = Compared & Pick<AuditParts, 'cursors' | 'alertIndex' | 'lateItems'>;

/** Epoch milliseconds by the service's clock; `since` is excluded. */
export interface AuditWindow {
  since: number;
  /** Polls have read everything up to here; a poll may still have to come for what is later. */
  closed: number;
  until: number;
}

interface Found {
  item: Item;
  alert: Alert;
}

interface Accounted {
  listed: ListedItem;
  account: Account;
  /** The whole item, where the ledger lacks it. */
  item?: Item;
  /** Where one of its deliveries waits. */
  record?: AlertRecord;
}

const listedOf = ({ id, itemId, txHash }: Alert, { assessment = '' }: Item): ListedItem => ({
  alertId: id,
  itemId,
  assessment,
  ...(txHash === undefined ? {} : { txHash }),
});

const datesOf = ({ dates: { createdAt, updatedAt, txTimestamp } }: Item): Dates => [createdAt, updatedAt, txTimestamp];

const isDated = ({ dates }: Item): boolean => Object.values(dates).length > 0;

const createAccounting = ({ ledger, seen, routesOf }: Compared) => {
  const distinguish = createDistinguish(ledger);
  /** Why the ledger may lack an alert. */
  const excuseOf = async (alert: Alert, isUnseen: boolean, { closed }: AuditWindow): Promise<Account> => {
    if ((await routesOf(alert)).skipped) return 'unwanted';
    return isUnseen && Date.parse(alert.at) > closed ? 'unread' : 'unknown';
  };

  const accountFor = async ({ item, alert }: Found, isUnseen: boolean, window: AuditWindow): Promise<Accounted> => {
    const record = await ledger.read(alert.id);
    const fate = fateOf((record?.deliveries ?? []).map(({ state }) => state));
    const account = fate ?? (await excuseOf(alert, isUnseen, window));
    return {
      listed: listedOf(alert, item),
      account,
      ...(account === 'unknown' ? { item } : {}),
      ...(record && account === 'waiting' ? { record } : {}),
    };
  };

  /** What polls have seen is asked first, the ledger second: a poll writes them in the other order. */
  return async (track: Track, found: readonly Found[], window: AuditWindow): Promise<Accounted[]> => {
    const identities = found.map(({ alert }) => identityOf(alert));
    const unseen = new Set((await seen.unknown(track, identities)).map(({ id }) => id));
    const alerts = await distinguish(found.map(({ alert }) => alert));
    return Promise.all(
      found.map(({ item, alert }, index) =>
        accountFor({ item, alert: alerts[index] ?? alert }, unseen.has(identityOf(alert).id), window),
      ),
    );
  };
};

/** Gives what is wanted and dated, each item once. The service may filter by another date than `createdAt`. */
const openReading = ({ settings: { assessments, lookback }, serviceOf, now }: Compared) =>
  async function* read({ service, protocol }: Track, since: number, signal: AbortSignal): AsyncGenerator<Found[]> {
    const seen = new Set<string>();
    for await (const { items } of serviceOf(service).feed.inspections(protocol, since - lookback, signal, true)) {
      yield items
        .filter((item) => isWanted(item, assessments) && isDated(item))
        .map((item) => ({ item, alert: toAlert(item, service, protocol, now()) }))
        .filter(({ alert }) => seen.size < seen.add(identityOf(alert).id).size);
    }
  };

/**
 * What a service lists of a protocol in a window, compared with what the ledger says of it. Changes nothing. `recorded`: ids
 * of the track's alerts in the ledger that are dated in the window. Throws a `ServiceError`.
 */
export const createReconcile = (dependencies: Compared) => {
  const { settings, serviceOf } = dependencies;
  const read = openReading(dependencies);
  const accountFor = createAccounting(dependencies);

  /** Undefined where the service does not answer: then there is no second opinion. */
  const criticalByStats = async ({ service, protocol }: Track, { since, until }: AuditWindow, signal: AbortSignal) => {
    if (!settings.assessments.includes('critical')) return undefined;
    const query = { protocol, startDate: since, endDate: until };
    const stats = serviceOf(service).client.inspectionStats(query, signal);
    return (await stats.catch(() => undefined))?.critical;
  };

  return async (track: Track, window: AuditWindow, recorded: readonly string[], signal: AbortSignal) => {
    const { since, until } = window;
    const accounted: Accounted[] = [];
    const dates: Dates[] = [];
    for await (const found of read(track, since, signal)) {
      dates.push(...found.filter(({ item }) => item.assessment === 'critical').map(({ item }) => datesOf(item)));
      const inside = found.filter(({ alert: { at } }) => Date.parse(at) > since && Date.parse(at) <= until);
      accounted.push(...(await accountFor(track, inside, window)));
    }
    const disagreement = disagreementOf(await criticalByStats(track, window, signal), dates, since, until);
    const accounts = new Map(accounted.map(({ listed, account }) => [listed.alertId, account]));
    return {
      ...balance({ listed: accounted.map(({ listed }) => listed), accounts, recorded }),
      ...(disagreement === undefined ? {} : { disagreement }),
      missingItems: accounted.flatMap(({ item }) => item ?? []),
      waiting: accounted.flatMap(({ record }) => record ?? []),
    };
  };
};

export interface AuditOptions {
  /** Queues what is missing or lost again. */
  isHealing: boolean;
  /** Instead of `settings.lostAfter`. */
  lostAfterMs?: number;
  /** Where a protocol's window begins, in epoch milliseconds. Left out, or before its ledger begins: where that begins. */
  since?: ((protocol: string) => number | undefined) | undefined;
  /** Also reports alerts that the service no longer lists. */
  isThorough: boolean;
  /** Called with every protocol whose window was compared and, where that was asked for, healed. */
  onAudited?(audit: ProtocolAudit, window: AuditWindow): Promise<void>;
}

/** `waiting`: its alerts with a waiting delivery. */
export type Audited = { audit: ProtocolAudit; waiting: AlertRecord[] } | { problem: string };

/** Less than the ledger keeps, so that what it has just forgotten is no difference. */
export const REMEMBERED_MS = 34 * 86_400_000;
/** A poll holds a track for less, unless the service hangs. */
const LOCK_PATIENCE_MS = 15_000;
const LOCK_RETRY_MS = 100;
const UNSWEPT = 'no sweep has read it to the end yet';

export const emptyAudit = (service: string, protocol: string, at: number): ProtocolAudit => ({
  service,
  protocol,
  since: iso(at),
  until: iso(at),
  listed: 0,
  counts: noCounts(),
  missing: [],
  lost: [],
  onlyBooked: [],
  healed: 0,
});

/** Gives what dispatches missing items; false where polls held the track all the time, so that the next audit tries again. */
const createHealing = ({ ledger, lateItems, now }: Audits) => {
  const unknown: Unknown = async (_track, alerts) => {
    const records = await Promise.all(alerts.map(({ id }) => ledger.read(id)));
    return alerts.filter((_, index) => (records[index]?.deliveries ?? []).length === 0);
  };

  return async (track: Track, items: readonly Item[], signal: AbortSignal): Promise<boolean> => {
    for (const begun = now(); now() - begun < LOCK_PATIENCE_MS && !signal.aborted; ) {
      if ((await lateItems.ingest(track, items, unknown)) !== undefined) return true;
      await sleep(LOCK_RETRY_MS, undefined, { signal }).catch(() => {});
    }
    return false;
  };
};

/** `recorded`: the track's alerts in the ledger. Throws a `ServiceError`. */
export const createProtocolAudit = (dependencies: Audits) => {
  const { settings, cursors, alertIndex, serviceOf, now } = dependencies;
  const reconcile = createReconcile(dependencies);
  const heal = createHealing(dependencies);

  /**
   * `isTrimmed`: it would begin earlier, but the ledger was full and removed what it knew of that time.
   * The ledger is asked for nothing from before the cursor began in this Redis, as a Redis that lost its data knows
   * nothing of it, and for nothing that a full ledger has removed.
   */
  const windowOf = async (track: Track, asked: number | undefined) => {
    const [[cursor], [begun], trimmedTo = 0] = await Promise.all([
      cursors.get([track]),
      cursors.begun([track]),
      alertIndex.trimmedTo(),
    ]);
    if (cursor?.sweptAt === undefined) return undefined;
    const first = Math.max(cursor.start, begun ?? cursor.start, now() - REMEMBERED_MS, trimmedTo);
    const until = serviceOf(track.service).clock.now();
    // A mark ahead of the service's clock says nothing: an answer that named a wrong time has moved it.
    const since = asked === undefined || asked > until ? first : Math.max(asked, first);
    const closed = Math.min(cursor.sweptAt, until) - settings.lookback - settings.overlap;
    const window: AuditWindow = { since, closed, until };
    return { window, isTrimmed: since === trimmedTo };
  };

  return async (
    track: Track,
    recorded: readonly AlertRecord['alert'][],
    { since, isHealing, onAudited }: AuditOptions,
    signal: AbortSignal,
  ): Promise<Audited> => {
    const found = await windowOf(track, since?.(track.protocol));
    if (!found) return { problem: UNSWEPT };
    const { window, isTrimmed } = found;
    const isInside = ({ at }: { at: string }) => Date.parse(at) > window.since && Date.parse(at) <= window.until;
    const ids = recorded.filter(isInside).map(({ id }) => id);
    const { missingItems, waiting, ...compared } = await reconcile(track, window, ids, signal);
    const healed = isHealing && missingItems.length > 0 && (await heal(track, missingItems, signal));
    const audit = {
      ...emptyAudit(track.service, track.protocol, window.until),
      since: iso(window.since),
      ...(isTrimmed ? { trimmedTo: iso(window.since) } : {}),
      ...compared,
      healed: healed ? missingItems.length : 0,
    };
    await onAudited?.(audit, window);
    return { audit, waiting };
  };
};
