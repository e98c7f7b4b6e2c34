/** Balances the books of one service, protocol by protocol, and puts on its way again what is in nobody's books or was lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Alert, Item, Parcel } from '../../alert.ts';
import type { Service } from '../../app/poll.ts';
import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import type { Routes } from '../../dispatch/route.ts';
import { messageOf, ServiceError } from '../../errors.ts';
import type { AlertRecord } from '../../ledger/ledger.ts';
import type { Catalog } from '../../poll/catalog.ts';
import type { Track } from '../../poll/cursor.ts';
import { createWalkDetector, type WalkDetector } from '../../poll/failure-detector.ts';
import { createLateItems, type Unknown } from '../../poll/late-items.ts';
import { createPollLock } from '../../poll/lock.ts';
import { iso } from '../../time.ts';
import type { AuditReport, ProtocolAudit, Unaudited } from './balance.ts';
import { type AuditWindow, createReconciler } from './compare.ts';
import { createLostSearch, type FoundLost } from './lost-search.ts';

export interface AuditDependencies {
  config: Config;
  store: Store;
  catalog: Pick<Catalog, 'protocols' | 'protocolOf'>;
  serviceOf(name: string): Service;
  routesOf(alert: Alert): Promise<Routes>;
  dispatch(alerts: readonly Alert[], nonce: string): Promise<void>;
  /** Enqueues parcels, or holds them for approval; gives how many deliveries are held. */
  enqueueApproved(parcels: readonly Parcel[], nonce: string): Promise<number>;
  now(): number;
}

export interface AuditOptions {
  /** Where a protocol's window begins, in epoch milliseconds; before the books know it, or left out: where they begin. */
  since?: ((protocol: string) => number | undefined) | undefined;
  /** Puts differences on their way again. */
  isHealing: boolean;
  /** Also tells what is only in the books. */
  isThorough: boolean;
  /** Told of every protocol whose window was compared and, where that was asked for, healed. */
  onAudited?(audit: ProtocolAudit, window: AuditWindow): Promise<void>;
}

/** `open`: what is on its way of it. */
type Audited = { audit: ProtocolAudit; open: AlertRecord[] } | { problem: string };

/** Less than the books keep, so that the edge of their memory is no difference. */
const REMEMBERED_MS = 34 * 86_400_000;
/** Requests at once, besides those of polls. */
const WIDTH = 4;
/** A poll that holds a track ends sooner, but for a service that hangs. */
const LOCK_PATIENCE_MS = 15_000;
const LOCK_RETRY_MS = 100;
const NOT_ASKED = 'not asked, as the service is in trouble';
const UNSWEPT = 'no sweep has read it to the end yet';

const emptyAudit = (service: string, protocol: string, at: number): ProtocolAudit => ({
  service,
  protocol,
  since: iso(at),
  until: iso(at),
  listed: 0,
  counts: { delivered: 0, waiting: 0, muted: 0, dead: 0, unwanted: 0, unread: 0 },
  missing: [],
  lost: [],
  onlyBooked: [],
  healed: 0,
});

export const createAuditor = (dependencies: AuditDependencies) => {
  const { config, store, catalog, serviceOf, dispatch, now } = dependencies;
  const { lookback, overlap } = config.poll;
  const books = createReconciler(dependencies);
  const searchLost = createLostSearch(dependencies);
  const lateItems = createLateItems({
    cursors: store.cursors,
    seen: store.seen,
    lock: createPollLock(store.locks),
    dispatch: (alerts) => dispatch(alerts, `audit ${now()}`),
    now,
  });

  const windowOf = async (track: Track, asked: number | undefined): Promise<AuditWindow | undefined> => {
    const [[cursor], [begun]] = await Promise.all([store.cursors.get([track]), store.cursors.begun([track])]);
    if (cursor?.sweptAt === undefined) return undefined;
    const first = Math.max(cursor.start, begun ?? cursor.start, now() - REMEMBERED_MS);
    return {
      since: Math.max(asked ?? first, first),
      closed: cursor.sweptAt - lookback - overlap,
      until: serviceOf(track.service).clock.now(),
    };
  };

  const unknown: Unknown = async (_track, alerts) => {
    const records = await Promise.all(alerts.map(({ id }) => store.ledger.read(id)));
    return alerts.filter((_, index) => (records[index]?.deliveries ?? []).length === 0);
  };

  /** False where the track was being read all the time: the next audit tries again. */
  const healMissing = async (track: Track, items: readonly Item[], signal: AbortSignal): Promise<boolean> => {
    for (const begun = now(); now() - begun < LOCK_PATIENCE_MS && !signal.aborted; ) {
      if ((await lateItems.take(track, items, unknown)) !== undefined) return true;
      await sleep(LOCK_RETRY_MS, undefined, { signal }).catch(() => {});
    }
    return false;
  };

  /** Throws a `ServiceError`. */
  const auditOne = async (
    track: Track,
    booked: readonly AlertRecord['alert'][],
    { since, isHealing, onAudited }: AuditOptions,
    signal: AbortSignal,
  ): Promise<Audited> => {
    const window = await windowOf(track, since?.(track.protocol));
    if (!window) return { problem: UNSWEPT };
    const isInside = ({ at }: { at: string }) => Date.parse(at) > window.since && Date.parse(at) <= window.until;
    const ids = booked.filter(isInside).map(({ id }) => id);
    const { missingItems, open, ...compared } = await books.compare(track, window, ids, signal);
    const healed = isHealing && missingItems.length > 0 && (await healMissing(track, missingItems, signal));
    const audit = {
      ...emptyAudit(track.service, track.protocol, window.until),
      since: iso(window.since),
      ...compared,
      healed: healed ? missingItems.length : 0,
    };
    await onAudited?.(audit, window);
    return { audit, open };
  };

  /** Adds what was lost to its protocols' audits. */
  const addLost = (service: string, audits: Map<string, ProtocolAudit>, found: readonly FoundLost[]): void => {
    for (const { suspect, healed } of found) {
      const { protocol, itemId, id } = suspect.record;
      const audit = audits.get(protocol) ?? emptyAudit(service, protocol, now());
      audit.lost.push({ alertId: id, itemId, destination: suspect.destination, healed });
      audit.healed += healed ? 1 : 0;
      audits.set(protocol, audit);
    }
  };

  const attempt = async (
    track: Track,
    booked: readonly AlertRecord['alert'][],
    options: AuditOptions,
    detector: WalkDetector,
    signal: AbortSignal,
  ): Promise<Audited> => {
    if (detector.isDown()) return { problem: NOT_ASKED };
    try {
      const audited = await auditOne(track, booked, options, signal);
      detector.worked(track.protocol);
      return audited;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      detector.failed(track.protocol, error);
      return { problem: messageOf(error) };
    }
  };

  const bookedFor = (service: string, { isThorough }: AuditOptions): ReturnType<typeof books.recordedSince> =>
    isThorough ? books.recordedSince(service, now() - REMEMBERED_MS) : Promise.resolve(new Map());

  const auditAll = async (service: string, options: AuditOptions, signal: AbortSignal) => {
    const isRead = config.alerts.sources.includes('inspections');
    const protocols = isRead ? (await catalog.protocols(service)).keys() : [].values();
    const booked = await bookedFor(service, options);
    const detector = createWalkDetector();
    const audits = new Map<string, ProtocolAudit>();
    const unaudited: Unaudited[] = [];
    const open: AlertRecord[] = [];
    const work = async (): Promise<void> => {
      for (const protocol of protocols) {
        signal.throwIfAborted();
        const track: Track = { service, source: 'inspections', protocol };
        const audited = await attempt(track, booked.get(protocol) ?? [], options, detector, signal);
        if ('problem' in audited) {
          unaudited.push({ service, protocol, problem: audited.problem });
        } else {
          audits.set(protocol, audited.audit);
          open.push(...audited.open);
        }
      }
    };
    await Promise.all(Array.from({ length: WIDTH }, work));
    return { audits, unaudited, open };
  };

  return {
    /** Throws where Redis failed or the signal aborted; a service that does not answer is in the report. */
    run: async (service: string, options: AuditOptions, signal: AbortSignal): Promise<AuditReport> => {
      const { audits, unaudited, open } = await auditAll(service, options, signal);
      addLost(service, audits, await searchLost(service, open, options.isHealing, signal));
      return { protocols: [...audits.values()], unaudited };
    },
  };
};
