/** Records malformed items: in the quarantine, the metrics and the log. */
import type { Logger } from 'pino';
import type { Source } from '../alert.ts';
import type { MalformedItem } from '../item.ts';
import { createBoundCount } from './bound-count.ts';
import type { Metrics } from './metrics.ts';

type ReadFrom = Source | 'protocols';

export interface MalformedReportDependencies {
  quarantine: {
    /** Keeps malformed items that it has not seen before, and gives those. */
    admit(service: string, source: ReadFrom, malformed: readonly MalformedItem[]): Promise<readonly MalformedItem[]>;
  };
  metrics: Pick<Metrics, 'itemsMalformed' | 'boundsReached'>;
  log: Pick<Logger, 'error'>;
}

/** The log shows this much of a malformed item, in UTF-16 units. */
const EXCERPT = 300;

/** Of one page or listing: each costs a write to Redis and a log line. The log gives only the number of the others. */
const MOST_MALFORMED = 100;

/** Keeps, counts and logs each malformed item once. */
export const createMalformedReport = ({ quarantine, metrics, log }: MalformedReportDependencies) => {
  const countBound = createBoundCount(metrics);
  return async (service: string, source: ReadFrom, malformed: readonly MalformedItem[]): Promise<void> => {
    const more = malformed.length - MOST_MALFORMED;
    if (more > 0) {
      countBound(service, 'malformed');
      log.error({ service, source, more }, 'more malformed items came together than are logged one by one');
    }
    for (const item of await quarantine.admit(service, source, malformed.slice(0, MOST_MALFORMED))) {
      const { problem, raw, bound } = item;
      metrics.itemsMalformed.inc({ service, source });
      countBound(service, bound);
      log.error({ service, source, problem, item: JSON.stringify(raw).slice(0, EXCERPT) }, 'malformed item');
    }
  };
};
