/** What the service lists of a protocol in a time, beside what the books say of it. Changes nothing. */
import type { Alert, Item } from '../../alert.ts';
import type { Service } from '../../app/poll.ts';
import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import type { Routes } from '../../dispatch/route.ts';
import type { AlertRecord } from '../../ledger/ledger.ts';
import type { Track } from '../../poll/cursor.ts';
import { isWanted, toAlert } from '../../poll/ingest.ts';
import {
  type Account,
  balance,
  type Dates,
  disagreementOf,
  fateOf,
  type ListedItem,
  type ProtocolAudit,
} from './balance.ts';

export interface ReconcilerDependencies {
  config: Config;
  store: Pick<Store, 'ledger' | 'alertIndex' | 'seen'>;
  serviceOf(name: string): Service;
  routesOf(alert: Alert): Promise<Routes>;
  now(): number;
}

/** Epoch milliseconds by the service's clock; `since` is excluded. */
export interface AuditWindow {
  since: number;
  /** Nothing may come late any more up to here; after it a poll may still have to come. */
  closed: number;
  until: number;
}

export type Comparison = Pick<ProtocolAudit, 'listed' | 'counts' | 'missing' | 'onlyBooked' | 'disagreement'> & {
  /** The missing ones whole. */
  missingItems: Item[];
  /** Those of which something is on its way. */
  open: AlertRecord[];
};

interface Found {
  item: Item;
  alert: Alert;
}

interface Accounted {
  listed: ListedItem;
  account: Account;
  /** The whole item, where it is in nobody's books. */
  item?: Item;
  /** Where something of it is on its way. */
  record?: AlertRecord;
}

const READ_AT_ONCE = 500;

const listedOf = ({ id, itemId, txHash }: Alert, { assessment = '' }: Item): ListedItem => ({
  alertId: id,
  itemId,
  assessment,
  ...(txHash === undefined ? {} : { txHash }),
});

const datesOf = ({ dates: { createdAt, updatedAt, txTimestamp } }: Item): Dates => [createdAt, updatedAt, txTimestamp];

const isDated = ({ dates }: Item): boolean => Object.values(dates).length > 0;

export const createReconciler = ({ config, store, serviceOf, routesOf, now }: ReconcilerDependencies) => {
  const { assessments } = config.alerts;
  const { lookback } = config.poll;

  /** What nobody has to be told of, or not yet, although the books do not know it. */
  const excuseOf = async (alert: Alert, isUnseen: boolean, { closed }: AuditWindow): Promise<Account> => {
    if ((await routesOf(alert)).skipped) return 'unwanted';
    return isUnseen && Date.parse(alert.at) > closed ? 'unread' : 'unknown';
  };

  /** First what polls have seen, then the books: a poll writes them in the other order. */
  const accountFor = async (track: Track, found: readonly Found[], window: AuditWindow): Promise<Accounted[]> => {
    const identities = found.map(({ alert: { id } }) => ({ id, latest: 0 }));
    const unseen = new Set((await store.seen.unknown(track, identities)).map(({ id }) => id));
    return Promise.all(
      found.map(async ({ item, alert }) => {
        const record = await store.ledger.read(alert.id);
        const fate = fateOf((record?.deliveries ?? []).map(({ state }) => state));
        const account = fate ?? (await excuseOf(alert, unseen.has(alert.id), window));
        return {
          listed: listedOf(alert, item),
          account,
          ...(account === 'unknown' ? { item } : {}),
          ...(record && account === 'waiting' ? { record } : {}),
        };
      }),
    );
  };

  /** Without an answer there is no second opinion. */
  const criticalByStats = async ({ service, protocol }: Track, { since, until }: AuditWindow, signal: AbortSignal) => {
    const query = { protocol, startDate: since, endDate: until };
    const stats = serviceOf(service).client.inspectionStats(query, signal);
    return (await stats.catch(() => undefined))?.critical;
  };

  /** What is wanted and dated, each once. The service may filter by another date than the one an item was written at. */
  async function* read({ service, protocol }: Track, since: number, signal: AbortSignal): AsyncGenerator<Found[]> {
    const seen = new Set<string>();
    for await (const { items } of serviceOf(service).feed.inspections(protocol, since - lookback, signal, true)) {
      yield items
        .filter((item) => isWanted(item, assessments) && isDated(item))
        .map((item) => ({ item, alert: toAlert(item, service, protocol, now()) }))
        .filter(({ alert: { id } }) => seen.size < seen.add(id).size);
    }
  }

  return {
    /** `booked`: ids of the track's alerts in the books that are dated in the window. Throws a `ServiceError`. */
    compare: async (
      track: Track,
      window: AuditWindow,
      booked: readonly string[],
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
      const critical = assessments.includes('critical') ? await criticalByStats(track, window, signal) : undefined;
      const disagreement = disagreementOf(critical, dates, since, until);
      const accounts = new Map(accounted.map(({ listed, account }) => [listed.alertId, account]));
      return {
        ...balance({ listed: accounted.map(({ listed }) => listed), accounts, booked }),
        ...(disagreement === undefined ? {} : { disagreement }),
        missingItems: accounted.flatMap(({ item }) => item ?? []),
        open: accounted.flatMap(({ record }) => record ?? []),
      };
    },
    /** The alerts of a service's inspections that are in the books and dated after `since`, by protocol. */
    recordedSince: async (service: string, since: number): Promise<ReadonlyMap<string, AlertRecord['alert'][]>> => {
      const types = assessments.map((assessment) => `inspection.${assessment}`);
      const alerts: AlertRecord['alert'][] = [];
      const ids = await store.alertIndex.between(since, Number.POSITIVE_INFINITY);
      for (let start = 0; start < ids.length; start += READ_AT_ONCE) {
        const records = await Promise.all(ids.slice(start, start + READ_AT_ONCE).map(store.ledger.read));
        alerts.push(...records.flatMap((record) => record?.alert ?? []));
      }
      const own = alerts.filter((alert) => alert.service === service && types.includes(alert.type));
      return Map.groupBy(own, ({ protocol }) => protocol);
    },
  };
};
