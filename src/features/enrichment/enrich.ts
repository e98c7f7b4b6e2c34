/** Adds to alerts of inspections what helps to decide. Asks only Redis; a failure costs the context, never the alert. */
import type { Logger } from 'pino';
import type { Alert, AlertContext } from '../../alert.ts';
import type { CatalogEntry } from '../../poll/catalog.ts';
import { contextOf, factsOf } from './context.ts';
import type { FirstSeen, Noted } from './first-seen.ts';

type First = NonNullable<AlertContext['first']>;

export interface EnrichmentDependencies {
  firstSeen: FirstSeen;
  /** What the catalog knows of an alert's protocol. */
  protocolOf(alert: Alert): Promise<Pick<CatalogEntry, 'triggers' | 'assets'> | undefined>;
  /** Default: a failure is not logged. */
  log?: Pick<Logger, 'warn'>;
}

const isJudged = ({ source, type, followUp }: Alert): boolean =>
  source === 'inspections' && type !== 'test.sample' && followUp === undefined;

export const createEnrichment = ({ firstSeen, protocolOf, log }: EnrichmentDependencies) => {
  let isFailing = false;

  /** A replay is no news: it only reads what was seen before. */
  const firstsOf = async (noted: readonly Noted[], isReplay: boolean): Promise<(First | undefined)[]> =>
    isReplay ? Promise.all(noted.map(firstSeen.recall)) : firstSeen.note(noted);

  /** Of alerts of one protocol; in their order. */
  const contextsOf = async (alerts: readonly Alert[], isReplay: boolean): Promise<AlertContext[]> => {
    const [one] = alerts;
    if (one === undefined) return [];
    const noted = alerts.map((alert) => ({ alert, facts: factsOf(alert) }));
    const [known, firsts] = await Promise.all([protocolOf(one), firstsOf(noted, isReplay)]);
    return alerts.map((alert, index) => {
      const first = firsts[index];
      return { ...contextOf(alert, known ?? {}), ...(first && { first }) };
    });
  };

  /** Adds to `contexts` those of the alerts, which are of one protocol. */
  const addContexts = async (alerts: readonly Alert[], contexts: Map<Alert, AlertContext>): Promise<void> => {
    try {
      const found = await contextsOf(alerts, alerts[0]?.replay === true);
      isFailing = false;
      for (const [index, alert] of alerts.entries()) contexts.set(alert, found[index] ?? {});
    } catch (error) {
      const line = { service: alerts[0]?.service, item: alerts[0]?.itemId, alerts: alerts.length, err: error };
      if (!isFailing) log?.warn(line, 'alerts are sent without context');
      isFailing = true;
      for (const alert of alerts) contexts.set(alert, {});
    }
  };

  return async (alerts: readonly Alert[]): Promise<Alert[]> => {
    const contexts = new Map<Alert, AlertContext>();
    const groups = Map.groupBy(alerts.filter(isJudged), ({ service, protocol, replay }) =>
      JSON.stringify([service, protocol, replay]),
    );
    await Promise.all([...groups.values()].map((group) => addContexts(group, contexts)));
    return alerts.map((alert) => {
      const context = contexts.get(alert);
      return context === undefined ? alert : { ...alert, context };
    });
  };
};
