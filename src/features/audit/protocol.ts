/** The audit of one protocol: its window, the comparison, and dispatching what is missing. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Item } from '../../item.ts';
import type { AlertIndex } from '../../ledger/index-by-date.ts';
import type { AlertRecord } from '../../ledger/ledger.ts';
import type { Cursors, Track } from '../../poll/cursor.ts';
import type { createLateItems, Unknown } from '../../poll/late-items.ts';
import type { ServiceClock } from '../../service/clock.ts';
import { iso } from '../../time.ts';
import type { ProtocolAudit } from './balance.ts';
import type { LostSearchOptions } from './lost-search.ts';
import { type AuditWindow, createReconcile, type ReconcileDependencies } from './reconcile.ts';

export interface ProtocolAuditDependencies extends Omit<ReconcileDependencies, 'settings' | 'serviceOf'> {
  settings: ReconcileDependencies['settings'] & { overlap: number };
  cursors: Pick<Cursors, 'get' | 'begun'>;
  alertIndex: Pick<AlertIndex, 'trimmedTo'>;
  lateItems: Pick<ReturnType<typeof createLateItems>, 'ingest'>;
  serviceOf(name: string): ReturnType<ReconcileDependencies['serviceOf']> & { clock: Pick<ServiceClock, 'now'> };
}

export interface AuditOptions extends LostSearchOptions {
  /** Where a protocol's window begins, in epoch milliseconds. Left out, or before its ledger begins: where that begins. */
  since?: ((protocol: string) => number | undefined) | undefined;
  /** Also reports alerts that the service no longer lists. */
  isThorough: boolean;
  /** Called with every protocol whose window was compared and, where that was asked for, healed. */
  onAudited?(audit: ProtocolAudit, window: AuditWindow): Promise<void>;
}

/** `isTrimmed`: it would begin earlier, but the ledger was full and removed what it knew of that time. */
interface TrimmedWindow {
  window: AuditWindow;
  isTrimmed: boolean;
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
  counts: { delivered: 0, waiting: 0, muted: 0, dead: 0, unwanted: 0, unread: 0 },
  missing: [],
  lost: [],
  onlyBooked: [],
  healed: 0,
});

/** Gives what dispatches missing items; false where polls held the track all the time, so that the next audit tries again. */
const createHealing = ({ ledger, lateItems, now }: ProtocolAuditDependencies) => {
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
export const createProtocolAudit = (dependencies: ProtocolAuditDependencies) => {
  const { settings, cursors, alertIndex, serviceOf, now } = dependencies;
  const reconcile = createReconcile(dependencies);
  const heal = createHealing(dependencies);

  /**
   * The ledger is asked for nothing from before the cursor began in this Redis, as a Redis that lost its data knows
   * nothing of it, and for nothing that a full ledger has removed.
   */
  const windowOf = async (track: Track, asked: number | undefined): Promise<TrimmedWindow | undefined> => {
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
    return { window: { since, closed, until }, isTrimmed: since === trimmedTo };
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
