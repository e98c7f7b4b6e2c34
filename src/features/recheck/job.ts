/** The recheck of a running daemon: what it watches, and what runs in its turns. */
import type { Logger } from 'pino';
import type { Config } from '../../config/schema.ts';
import type { Item } from '../../item.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { Outages } from '../../ops/outages.ts';
import type { LateItems, Unknown } from '../../poll/late-items.ts';
import type { Seen } from '../../poll/seen.ts';
import type { Service } from '../../service/open.ts';
import { createFollowUps, type FollowUpDependencies } from './follow-up.ts';
import { createRecheck } from './recheck.ts';
import type { RecheckStore } from './store.ts';
import { hasRecheck, type RecheckConfig } from './turns.ts';
import { createWatch } from './watch.ts';

export interface RecheckJobDependencies extends FollowUpDependencies {
  config: RecheckConfig & { poll: Pick<Config['poll'], 'lookback' | 'overlap'> };
  store: RecheckStore;
  lateItems: LateItems;
  seen: Pick<Seen, 'unknown'>;
  metrics: Pick<Metrics, 'rechecks'>;
  outages: Pick<Outages, 'worked' | 'failed'>;
  log: Pick<Logger, 'info' | 'warn'>;
  serviceOf(name: string): Pick<Service, 'clock' | 'near' | 'lookUp'>;
}

const CONFIRM_MS = 60_000;

const subjectOf = (protocol: string): string => `recheck of ${protocol}`;

/** Forwards as a poll would. */
const createForward = ({ lateItems, seen, ledger, log }: RecheckJobDependencies) => {
  /** A poll may have queued it meanwhile, or have found that no trigger asks for it. */
  const unknown: Unknown = async (track, alerts) => {
    const identities = alerts.map(({ id }) => ({ id, latest: 0 }));
    const ids = new Set((await seen.unknown(track, identities)).map(({ id }) => id));
    const records = await Promise.all(alerts.map(({ id }) => ledger.read(id)));
    return alerts.filter(({ id }, index) => ids.has(id) && records[index] === undefined);
  };

  return async (service: string, protocol: string, item: Item): Promise<'forwarded' | 'known' | 'busy'> => {
    const ingested = await lateItems.ingest({ service, source: 'inspections', protocol }, [item], unknown);
    if (ingested === undefined) return 'busy';
    if (ingested.length === 0) return 'known';
    log.info({ service, protocol, item: item.itemId }, 'found by a recheck');
    return 'forwarded';
  };
};

export const createRecheckJob = (dependencies: RecheckJobDependencies) => {
  const { config, store, metrics, outages, log, serviceOf } = dependencies;
  const { secondLook: offsets, assessments } = config.alerts;
  const worked = (service: string, protocol: string): void => outages.worked(service, subjectOf(protocol));
  const onFailed = (service: string, protocol: string, error: unknown): void =>
    outages.failed(service, subjectOf(protocol), error);

  const { note, readSuspicious } = createWatch({
    store,
    isOn: hasRecheck(config),
    settings: { offsets, assessments, lookback: config.poll.lookback, overlap: config.poll.overlap },
    serviceOf,
    onRead: worked,
    onFailed,
    log,
  });
  const run = createRecheck({
    store,
    settings: { offsets, assessments, confirmAfter: Math.min(CONFIRM_MS, ...offsets) },
    lookUp: (service, protocol, wanted, signal) => serviceOf(service).lookUp(protocol, wanted, signal),
    forward: createForward(dependencies),
    ...createFollowUps(dependencies),
    onRechecked: (service, { protocol }, outcome) => {
      metrics.rechecks.inc({ service, outcome });
      worked(service, protocol);
    },
    onFailed,
    clock: (service) => serviceOf(service).clock.now(),
  });
  return { note, readSuspicious, run };
};
