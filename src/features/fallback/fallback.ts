/** Sends to the fallback: alerts that nobody has accepted in time, that are dead, unroutable, or held for approval. */
import type { Logger } from 'pino';
import { type Alert, type Destination, isAnnouncement, type Parcel } from '../../alert.ts';
import type { DispatchDependencies } from '../../dispatch/dispatch.ts';
import { toParcels } from '../../dispatch/parcels.ts';
import { senderId } from '../../item.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { AlertRecord, DeliveryRecord, Target } from '../../ledger/record.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { Deadlines } from '../../queue/deadlines.ts';
import type { EnqueueOnce } from '../announcements/announce.ts';
import { type Names, withName } from '../names/names.ts';
import {
  type DivertReason,
  deadNotice,
  isAccepted,
  lateNotice,
  mayDivert,
  unacknowledgedNotice,
  unroutableNotice,
  waitsForNobody,
} from './notice.ts';

interface FallbackDependencies {
  /** Of `fallback.channels`; none where no fallback is configured. */
  destinations: readonly Destination[];
  /** Who gets alerts as well while nothing of the fallback works: the first of these lists of which somebody can be reached. */
  standIns: readonly (readonly Destination[])[];
  /** `fallback.after` in milliseconds. */
  afterMs: number;
  /** What has to happen by then. */
  until: 'delivered' | 'acknowledged';
  /** Ids of those of these alerts that somebody has acknowledged: nothing goes to the fallback for them. Default: none. */
  acknowledged?(alerts: readonly Alert['id'][]): Promise<Pick<ReadonlySet<Alert['id']>, 'has'>>;
  ledger: Pick<Ledger, 'read'>;
  enqueueOnce: EnqueueOnce;
  deadlines: Pick<Deadlines, 'set' | 'work'>;
  /** What is broken among these. */
  outages: { get(ids: readonly string[]): Promise<ReadonlyMap<string, { message: string }>> };
  names(): Promise<Names>;
  /** Which alerts another one covers at the fallback. Default: none. */
  correlation?: Pick<DispatchDependencies, 'uncoveredAt' | 'delayOf'>;
  metrics: Pick<Metrics, 'fallbackAlerts'>;
  /** These are queued for the fallback. */
  onDiverted?(alerts: readonly Alert['id'][], reason: DivertReason): void;
  log: Pick<Logger, 'warn'>;
}

/** Why alerts are diverted. */
interface Diversion {
  reason: DivertReason;
  /** Names who asks: a diversion that was cut short resumes when the same one asks again. */
  by: string;
  /** A sentence without secrets, shown to the reader first. */
  notice(alert: Alert): string;
  /** Default: the fallback. */
  to?: readonly Destination[];
}

export type Fallback = ReturnType<typeof createFallback>;

/** Deadlines checked at once in this process; each check asks only Redis. */
const CONCURRENCY = 4;
const NAMED_ITEMS = 5;

/** These alerts come as soon as they are read; all others have waited in a queue for what may cover them. */
const AT_ONCE: ReadonlySet<DivertReason> = new Set(['held', 'stranded']);

/** Enqueues alerts for the fallback, each once, and by how long they wait for what may cover them. */
const createEnqueueDiverted =
  ({ destinations, enqueueOnce, correlation = {} }: FallbackDependencies) =>
  async (
    alerts: readonly Alert[],
    { reason, by, to = destinations }: Pick<Diversion, 'reason' | 'by' | 'to'>,
  ): Promise<Parcel[]> => {
    const routed = await Promise.all(
      alerts.map(async (alert) => ({
        alert,
        destinations: (await correlation.uncoveredAt?.(alert, to)) ?? to,
      })),
    );
    const delayOf = ({ alert }: { alert: Alert }): number | undefined =>
      AT_ONCE.has(reason) ? correlation.delayOf?.(alert) : undefined;
    const parcels: Parcel[] = [];
    for (const [delayMs, some] of Map.groupBy(routed, delayOf)) {
      parcels.push(...(await enqueueOnce(toParcels(some), by, delayMs)));
    }
    return parcels;
  };

type StandIns = (dead?: Destination['id']) => Promise<readonly Destination[]>;

/** Who stands in for the fallback now: nobody while any of it works. `dead`: takes nothing, though nobody knows that yet. */
const createStandIns =
  ({ destinations, standIns, outages }: FallbackDependencies): StandIns =>
  async (dead) => {
    const groups = [destinations, ...standIns];
    const ids = new Set(groups.flat().flatMap(({ id, kind }) => [id, senderId(kind)]));
    const broken = standIns.length === 0 ? new Map() : await outages.get([...ids]);
    const isWell = ({ id, kind }: Destination): boolean =>
      id !== dead && !broken.has(id) && !broken.has(senderId(kind));
    const first = groups.findIndex((group) => group.some(isWell));
    return first < 1 ? [] : (groups[first] ?? []).filter(isWell);
  };

/** Sends alerts to the fallback; durable when it resolves. */
const createDivert = (dependencies: FallbackDependencies, standIns: StandIns) => {
  const { destinations, acknowledged, ledger, metrics, onDiverted, log } = dependencies;
  const enqueueDiverted = createEnqueueDiverted(dependencies);

  /** Without those that somebody has acknowledged; what is recorded already needs its job, which ends it. */
  const unanswered = async (alerts: readonly Alert[], by: string): Promise<Alert[]> => {
    const answered = await acknowledged?.(alerts.map(({ id }) => id));
    const isBegun = async ({ id }: Alert): Promise<boolean> =>
      (await ledger.read(id))?.deliveries.some((one) => one.by === by) ?? false;
    const stays = await Promise.all(alerts.map(async (alert) => !answered?.has(alert.id) || isBegun(alert)));
    return alerts.filter((_, index) => stays[index]);
  };

  return async (alerts: readonly Alert[], diversion: Diversion): Promise<void> => {
    const { reason, by, notice, to: named = [...destinations, ...(await standIns())] } = diversion;
    const possible = alerts.filter(mayDivert);
    if (possible.length === 0 || destinations.length === 0) return;
    const diverted = (await unanswered(possible, by)).map(({ readers: _, ...alert }) => ({
      ...alert,
      notice: notice(alert),
    }));
    if (diverted.length === 0) return;
    const parcels = await enqueueDiverted(diverted, { reason, by, to: named });
    const sent = new Map(parcels.flatMap((parcel) => parcel.alerts).map((alert) => [alert.id, alert]));
    const [first] = sent.values();
    if (first === undefined) return;
    metrics.fallbackAlerts.inc({ reason }, sent.size);
    onDiverted?.([...sent.keys()], reason);
    const { protocol, notice: why } = first;
    const items = [...sent.values()].slice(0, NAMED_ITEMS).map(({ itemId }) => itemId);
    const to = [...new Set(parcels.map(({ destination }) => destination.label))];
    log.warn({ reason, why, protocol, alerts: sent.size, items, to }, 'to the fallback');
  };
};

const isOneOf = (destinations: readonly Destination[], { id }: Pick<Destination, 'id'>): boolean =>
  destinations.some((one) => one.id === id);

const createDeadlineCheck = (
  dependencies: FallbackDependencies,
  divert: ReturnType<typeof createDivert>,
  standIns: StandIns,
) => {
  const { destinations, afterMs, until, ledger, deadlines, outages, names } = dependencies;

  /** Why destinations take nothing at present, where that is known. */
  const faultsOf = async (records: readonly AlertRecord[]): Promise<(target: Target) => string | undefined> => {
    const targets = records.flatMap(({ deliveries }) => deliveries.map(({ destination }) => destination));
    const subjects = new Set(targets.flatMap(({ id, kind }) => [id, senderId(kind)]));
    const broken = await outages.get([...subjects]);
    return ({ id, kind }) => (broken.get(id) ?? broken.get(senderId(kind)))?.message;
  };

  /** Why an alert goes to the fallback when its deadline has come; undefined where it does not. */
  const lateReason = ({ alert, deliveries }: AlertRecord): 'late' | 'unacknowledged' | undefined => {
    if (!isAccepted(deliveries)) return 'late';
    return !isAnnouncement(alert) && until === 'acknowledged' && !waitsForNobody(deliveries)
      ? 'unacknowledged'
      : undefined;
  };

  /** An alert that this check has begun to divert is diverted to the end, also where somebody has accepted it meanwhile. */
  const isLate = (record: AlertRecord, by: string): boolean =>
    lateReason(record) !== undefined || record.deliveries.some((one) => one.by === by);

  /** What waits at the fallback is looked at again, until somebody has it: meanwhile the fallback may break. */
  const lookAgain = async (alerts: readonly Alert[], records: ReadonlyMap<Alert['id'], AlertRecord>, look: number) => {
    if (dependencies.standIns.length === 0) return;
    const open = alerts.filter(({ id }) => {
      const { deliveries } = records.get(id) ?? {};
      if (deliveries === undefined || isAccepted(deliveries)) return false;
      return look === 1 || deliveries.some(({ state }) => state === 'waiting');
    });
    if (open.length > 0) await deadlines.set(open, afterMs, look + 1);
  };

  /** Diverts those of the alerts that nobody has accepted, or acknowledged, by their deadline. */
  return async (alerts: readonly Alert[], by: string, look: number): Promise<void> => {
    const known = await Promise.all(alerts.map(({ id }) => ledger.read(id)));
    const counts = ({ readers }: Alert, { destination, by: asked }: DeliveryRecord): boolean =>
      readers === undefined || readers.includes(destination.id) || isOneOf(destinations, destination) || asked === by;
    const records = alerts.map((alert, index): AlertRecord => {
      const { deliveries = [] } = known[index] ?? {};
      return { alert: known[index]?.alert ?? alert, deliveries: deliveries.filter((one) => counts(alert, one)) };
    });
    const late = new Map(records.filter((record) => isLate(record, by)).map((record) => [record.alert.id, record]));
    if (late.size === 0) return;
    const faultOf = await faultsOf([...late.values()]);
    const named = await names();
    const reasonOf = ({ id }: Alert) => {
      const record = late.get(id);
      return record && (lateReason(record) ?? 'late');
    };
    const notice = (alert: Alert): string => {
      const deliveries = (late.get(alert.id)?.deliveries ?? [])
        .filter(({ destination }) => look > 1 || !isOneOf(destinations, destination))
        .map((one) => ({ ...one, destination: withName(one.destination, named) }));
      return reasonOf(alert) === 'unacknowledged'
        ? unacknowledgedNotice({ deliveries, afterMs })
        : lateNotice({ deliveries, afterMs, faultOf });
    };
    const others = await standIns();
    for (const [reason, some] of Map.groupBy(alerts, reasonOf)) {
      if (reason !== undefined) await divert(some, { reason, by, notice, to: [...destinations, ...others] });
    }
    if (others.length === 0) await lookAgain(alerts, late, look);
  };
};

/** The fallback of one config. Everything that goes there is diverted here. */
export const createFallback = (dependencies: FallbackDependencies) => {
  const { destinations, afterMs, deadlines, names } = dependencies;
  const standIns = createStandIns(dependencies);
  const divert = createDivert(dependencies, standIns);
  const checkDeadline = createDeadlineCheck(dependencies, divert, standIns);

  return {
    destinations,
    divert,
    /** Notes when to check whether alerts were accepted; durable when it resolves. */
    setDeadline: async (alerts: readonly Alert[]): Promise<void> => {
      if (destinations.length > 0) await deadlines.set(alerts.filter(mayDivert), afterMs);
    },
    /** Alerts that died at a destination of the fallback are not sent to its other destinations; if none works, to who stands in. */
    onDead: async (destination: Destination, alerts: readonly Alert[], why: string): Promise<void> => {
      const to = isOneOf(destinations, destination) ? await standIns(destination.id) : undefined;
      if (to?.length === 0) return;
      const text = deadNotice(withName(destination, await names()), why);
      await divert(alerts, { reason: 'dead', by: `dead ${destination.id}`, notice: () => text, ...(to && { to }) });
    },
    onUnroutable: (alert: Alert, why: string): Promise<void> =>
      divert([alert], { reason: 'stranded', by: 'stranded', notice: () => unroutableNotice(why) }),
    /** Begins to check deadlines; gives what ends it. */
    start: (): ((graceMs: number) => Promise<void>) => {
      if (destinations.length === 0) return async () => {};
      return deadlines.work(CONCURRENCY, checkDeadline).stop;
    },
  };
};
