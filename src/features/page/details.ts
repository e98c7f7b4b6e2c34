/** Gathers what the page shows besides the status: what happened lately, and what an operator may change. */
import type { Chains } from '../../channels/chains.ts';
import type { DisabledDestination } from '../../deliver/disabled.ts';
import type { DeadDelivery, DeadLetters } from '../../ledger/dead-letters.ts';
import type { DestinationStats } from '../../ledger/destination-stats.ts';
import type { OperatorLog } from '../../ledger/operator-log.ts';
import type { Outlines } from '../../ledger/outline.ts';
import { NO_DESTINATION } from '../../ledger/record.ts';
import {
  ACTIVITY_STEP_MS,
  ACTIVITY_STEPS,
  type ActivityStep,
  type ApprovalDetails,
  type AuditDetails,
  type ConfigEntry,
  type DeadDetails,
  type PageDetails,
  type TracedAlert,
} from '../../ops/page/details.ts';
import type { CatalogEntry } from '../../poll/catalog.ts';
import { iso } from '../../time.ts';
import type { AcknowledgementStore } from '../acknowledgement/store.ts';
import type { KnownDestination } from '../approval/destinations.ts';
import type { AuditMarks } from '../audit/job.ts';
import type { Trace } from '../trace/trace.ts';
import { recentAlert, targetName, tracedAlert } from './alerts.ts';
import { createLinker, type Linker } from './links.ts';
import type { RouteDetailsOf } from './routes.ts';
import { actionDetails } from './words.ts';

export interface PageDetailsDependencies {
  services: readonly string[];
  chains: Chains;
  config: readonly ConfigEntry[];
  isGateOn: boolean;
  outlines: Outlines;
  destinationStats: Pick<DestinationStats, 'latencies'>;
  deadLetters: Pick<DeadLetters, 'latest'>;
  operatorLog: Pick<OperatorLog, 'latest'>;
  marks: Pick<AuditMarks, 'of'>;
  routes: RouteDetailsOf;
  protocols(service: string): Promise<ReadonlyMap<string, CatalogEntry>>;
  /** Every destination that is known: thousands. Only asked where one may wait for approval. */
  known(): Promise<readonly KnownDestination[]>;
  /** True where alerts are held for some destination. */
  isHolding(): Promise<boolean>;
  listDisabled(): Promise<readonly Pick<DisabledDestination, 'id'>[]>;
  acknowledgements: Pick<AcknowledgementStore, 'acknowledged'>;
  trace(name: string): Promise<Trace[]>;
  now(): number;
}

const MOST_ALERTS = 50;
/** Of one alert; there may be thousands. */
const MOST_DELIVERIES = 5;
const MOST_DEAD = 50;
const MOST_ACTIONS = 30;
const MOST_APPROVALS = 200;

const activityOf = async ({ outlines, destinationStats, now }: PageDetailsDependencies): Promise<ActivityStep[]> => {
  const last = Math.floor(now() / ACTIVITY_STEP_MS) * ACTIVITY_STEP_MS;
  const starts = Array.from(
    { length: ACTIVITY_STEPS },
    (_, index) => last - (ACTIVITY_STEPS - 1 - index) * ACTIVITY_STEP_MS,
  );
  const [counts, latencies] = await Promise.all([
    outlines.counts(starts.map((from) => ({ from, to: from + ACTIVITY_STEP_MS }))),
    destinationStats.latencies(starts[0] ?? last, last),
  ]);
  const byStart = new Map(latencies.map(({ at, medianMs, mostMs }) => [at, { medianMs, mostMs }]));
  return starts.map((at, index) => {
    const latency = byStart.get(at);
    return { at, alerts: counts[index] ?? 0, ...(latency === undefined ? {} : { latency }) };
  });
};

const auditsOf = async ({ services, marks, protocols }: PageDetailsDependencies): Promise<AuditDetails[]> =>
  Promise.all(
    services.map(async (service) => {
      const markOf = await marks.of(service);
      const found = [...(await protocols(service)).keys()].map(markOf);
      const known = found.filter((mark) => mark !== undefined);
      const oldest = known.reduce((least, mark) => Math.min(least, mark), Number.POSITIVE_INFINITY);
      return { service, never: found.length - known.length, ...(known.length === 0 ? {} : { auditedTo: iso(oldest) }) };
    }),
  );

const deadDetails = (letter: DeadDelivery, link: Linker): DeadDetails => {
  const { id, alert, destination, reason, message, attempts, at } = letter;
  const to = targetName(destination ?? NO_DESTINATION);
  return { id, protocol: alert.protocol, to, reason, message, attempts, at, ...link(alert) };
};

type Approvable = KnownDestination & Pick<ApprovalDetails, 'state'>;

const isApprovable = (one: KnownDestination): one is Approvable => ['held', 'new', 'revoked'].includes(one.state);

const approvalOf = ({ id, kind, label, name, state, protocols, waiting, since }: Approvable): ApprovalDetails => ({
  ...{ id, kind, label, state, protocols, waiting },
  ...(name === undefined ? {} : { name }),
  ...(since === undefined ? {} : { since }),
});

const approvalsOf = async ({ isGateOn, isHolding, known }: PageDetailsDependencies): Promise<ApprovalDetails[]> => {
  if (!isGateOn && !(await isHolding())) return [];
  return (await known()).filter(isApprovable).slice(0, MOST_APPROVALS).map(approvalOf);
};

const linkerOf = async ({ services, chains, protocols }: PageDetailsDependencies): Promise<Linker> =>
  createLinker(
    chains,
    new Map(await Promise.all(services.map(async (service) => [service, await protocols(service)] as const))),
  );

export const createPageDetails = (dependencies: PageDetailsDependencies) => {
  const { config, isGateOn, outlines, deadLetters, operatorLog, routes, listDisabled, acknowledgements, trace } =
    dependencies;

  return {
    details: async (): Promise<PageDetails> => {
      const link = await linkerOf(dependencies);
      const [alerts, activity, letters, actions, audits, approvals, disabled] = await Promise.all([
        outlines.latest(MOST_ALERTS, MOST_DELIVERIES),
        activityOf(dependencies),
        deadLetters.latest(MOST_DEAD),
        operatorLog.latest(MOST_ACTIONS),
        auditsOf(dependencies),
        approvalsOf(dependencies),
        listDisabled(),
      ]);
      const acknowledged = await acknowledgements.acknowledged(alerts.map(({ alert }) => alert.id));
      return {
        alerts: alerts.map((one) => recentAlert(one, link, acknowledged.get(one.alert.id))),
        activity,
        ...(await routes()),
        disabled: new Set(disabled.map(({ id }) => id)),
        approvals,
        isGateOn,
        dead: letters.map((one) => deadDetails(one, link)),
        audits,
        actions: actions.map(actionDetails),
        config,
      };
    },
    trace: async (name: string): Promise<TracedAlert[]> => {
      const link = await linkerOf(dependencies);
      return (await trace(name)).map((one) => tracedAlert(one, link));
    },
  };
};
