/** What a service lists of a protocol in a window, compared with what the ledger says of it. Changes nothing. */
import type { Alert } from '../../alert.ts';
import type { Config } from '../../config/schema.ts';
import type { Routes } from '../../dispatch/route.ts';
import type { Item } from '../../item.ts';
import type { AlertRecord, Ledger } from '../../ledger/ledger.ts';
import type { Track } from '../../poll/cursor.ts';
import { isWanted, toAlert } from '../../poll/ingest.ts';
import type { Seen } from '../../poll/seen.ts';
import type { ServiceClient } from '../../service/client.ts';
import type { Feed } from '../../service/feed.ts';
import {
  type Account,
  balance,
  type Dates,
  disagreementOf,
  fateOf,
  type ListedItem,
  type ProtocolAudit,
} from './balance.ts';

export interface ReconcileDependencies {
  settings: { assessments: Config['alerts']['assessments']; lookback: number };
  ledger: Pick<Ledger, 'read'>;
  seen: Pick<Seen, 'unknown'>;
  serviceOf(name: string): { feed: Pick<Feed, 'inspections'>; client: Pick<ServiceClient, 'inspectionStats'> };
  /** `skipped`: no trigger of the protocol asks for the alert. */
  routesOf(alert: Alert): Promise<Pick<Routes, 'skipped'>>;
  now(): number;
}

/** Epoch milliseconds by the service's clock; `since` is excluded. */
export interface AuditWindow {
  since: number;
  /** Polls have read everything up to here; a poll may still have to come for what is later. */
  closed: number;
  until: number;
}

export type Comparison = Pick<ProtocolAudit, 'listed' | 'counts' | 'missing' | 'onlyBooked' | 'disagreement'> & {
  /** The missing ones whole. */
  missingItems: Item[];
  /** Those with a waiting delivery. */
  waiting: AlertRecord[];
};

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

/** Gives what became of each item. */
const createAccounting = ({ ledger, seen, routesOf }: ReconcileDependencies) => {
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
    const identities = found.map(({ alert: { id } }) => ({ id, latest: 0 }));
    const unseen = new Set((await seen.unknown(track, identities)).map(({ id }) => id));
    return Promise.all(found.map((one) => accountFor(one, unseen.has(one.alert.id), window)));
  };
};

/** Gives what is wanted and dated, each item once. The service may filter by another date than `createdAt`. */
const openReading = ({ settings: { assessments, lookback }, serviceOf, now }: ReconcileDependencies) =>
  async function* read({ service, protocol }: Track, since: number, signal: AbortSignal): AsyncGenerator<Found[]> {
    const seen = new Set<string>();
    for await (const { items } of serviceOf(service).feed.inspections(protocol, since - lookback, signal, true)) {
      yield items
        .filter((item) => isWanted(item, assessments) && isDated(item))
        .map((item) => ({ item, alert: toAlert(item, service, protocol, now()) }))
        .filter(({ alert: { id } }) => seen.size < seen.add(id).size);
    }
  };

/** `recorded`: ids of the track's alerts in the ledger that are dated in the window. Throws a `ServiceError`. */
export const createReconcile = (dependencies: ReconcileDependencies) => {
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

  return async (
    track: Track,
    window: AuditWindow,
    recorded: readonly string[],
    signal: AbortSignal,
  ): Promise<Comparison> => {
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
