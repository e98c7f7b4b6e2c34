/** Replays history: finds the alerts of a period, routes each of them, and enqueues them marked as a replay. */
import { randomUUID } from 'node:crypto';
import type { Alert, Destination } from '../../alert.ts';
import type { Config } from '../../config/schema.ts';
import type { Routes } from '../../dispatch/dispatch.ts';
import { toParcels } from '../../dispatch/parcels.ts';
import { nameText } from '../../text.ts';
import { createHistoryCorrelation } from '../correlation/correlate.ts';
import { routeAlert, routeSettings } from '../routes/routes.ts';
import type { HistoryProtocol, openHistory, Period, Unread } from './history.ts';
import type { Resent } from './retry.ts';

export interface ReplayPlan {
  protocols: readonly HistoryProtocol[];
  period: Period;
  /** Instead of the protocols' own destinations. */
  to?: readonly Destination[];
}

export interface ReplayedAlert {
  alert: Alert;
  routes: Routes;
}

export interface ReplayCounts extends Resent {
  alerts: number;
  /** Alerts that no trigger asks for. */
  skipped: number;
  /** Alerts without any destination. */
  stranded: number;
  /** Stored notifications that inspections cover at one destination or more, and that are not sent there. */
  correlated: number;
  /** Why, one sentence each. */
  problems: string[];
  unread: Unread[];
}

export interface ReplayProgress {
  /** Sources of protocols. */
  done: number;
  of: number;
  counts: ReplayCounts;
}

interface ReplayDependencies {
  config: Config;
  history: Pick<ReturnType<typeof openHistory>, 'read'>;
  /** Enqueues again. Left out: nothing is sent. */
  resend?(parcels: ReturnType<typeof toParcels>, act: 'replayed', nonce: string): Promise<Resent>;
  /** Adds to alerts what helps to decide. Default: nothing is added. */
  withContext?(alerts: readonly Alert[]): Promise<Alert[]>;
  onReplayed?(replayed: ReplayedAlert): void;
  onProgress?(progress: ReplayProgress): void;
  /** Called with the number of deliveries queued so far, each time some were. */
  onQueued?(sent: number): void;
}

const noCounts = (): ReplayCounts => ({
  ...{ alerts: 0, sent: 0, held: 0, waiting: 0, delivered: 0, skipped: 0, stranded: 0, correlated: 0 },
  ...{ problems: [], unread: [] },
});

/** Routes alerts, and counts what becomes of them. */
const createReplayRouting = (config: Config, to: ReplayPlan['to'], counts: ReplayCounts) => {
  const settings = routeSettings(config);
  const uncoveredAt = createHistoryCorrelation(config);
  return (alert: Alert, protocol: HistoryProtocol): ReplayedAlert => {
    const routes = to ? { destinations: [...to], problems: [] } : routeAlert(alert, protocol, settings);
    const problems = routes.problems.map((problem) => `${nameText(protocol.name)}: ${problem}`);
    counts.alerts += 1;
    counts.problems = [...new Set([...counts.problems, ...problems])];
    if (routes.skipped) counts.skipped += 1;
    else if (routes.destinations.length === 0) counts.stranded += 1;
    const destinations = uncoveredAt(alert, routes.destinations);
    if (destinations.length < routes.destinations.length) counts.correlated += 1;
    return { alert, routes: { ...routes, destinations } };
  };
};

/** Runs a plan. Replayed alerts keep their identities. */
export const replayHistory = async (
  { config, history, resend, withContext, onReplayed, onProgress, onQueued }: ReplayDependencies,
  { protocols, period, to }: ReplayPlan,
): Promise<ReplayCounts> => {
  const nonce = `replay ${randomUUID()}`;
  const counts = noCounts();
  const route = createReplayRouting(config, to, counts);

  const send = async (replayed: readonly ReplayedAlert[]): Promise<void> => {
    if (resend === undefined) return;
    const parcels = toParcels(replayed.map(({ alert, routes: { destinations } }) => ({ alert, destinations })));
    const resent = await resend(parcels, 'replayed', nonce);
    counts.sent += resent.sent;
    counts.held += resent.held;
    counts.waiting += resent.waiting;
    onQueued?.(counts.sent + counts.held);
  };

  counts.unread = await history.read(protocols, {
    period,
    onAlerts: async (protocol, alerts) => {
      const marked = alerts.map((alert) => ({ ...alert, replay: true }));
      const enriched = (await withContext?.(marked)) ?? marked;
      const replayed = enriched.map((alert) => route(alert, protocol));
      for (const each of replayed) onReplayed?.(each);
      await send(replayed);
    },
    onRead: (_protocol, _source, done, of) => onProgress?.({ done, of, counts }),
  });
  return counts;
};
