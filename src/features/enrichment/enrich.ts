/** Adds to alerts of inspections what helps to decide. Asks only Redis; a failure costs the context, never the alert. */
import type { Logger } from 'pino';
import type { Alert, AlertContext } from '../../alert.ts';
import type { CatalogEntry } from '../../poll/catalog.ts';
import { contextOf, factsOf } from './context.ts';
import type { FirstSeen } from './first-seen.ts';

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
  const contextFor = async (alert: Alert): Promise<AlertContext> => {
    const facts = factsOf(alert);
    const [known, first] = await Promise.all([
      protocolOf(alert),
      alert.replay ? firstSeen.recall(alert, facts) : firstSeen.note(alert, facts),
    ]);
    return { ...contextOf(alert, known ?? {}), ...(first && { first }) };
  };

  const withContext = async (alert: Alert): Promise<Alert> => {
    if (!isJudged(alert)) return alert;
    try {
      const context = await contextFor(alert);
      isFailing = false;
      return { ...alert, context };
    } catch (error) {
      const line = { service: alert.service, item: alert.itemId, err: error };
      if (!isFailing) log?.warn(line, 'alerts are sent without context');
      isFailing = true;
      return { ...alert, context: {} };
    }
  };

  return (alerts: readonly Alert[]): Promise<Alert[]> => Promise.all(alerts.map(withContext));
};
