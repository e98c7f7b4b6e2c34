/** What this daemon knows, as it reports it to other processes. */

import type { CheckReport, Health } from '../../ops/health.ts';
import type { ServiceStatus } from '../../ops/status.ts';
import type { PaceState } from '../../poll/pacer.ts';
import { shorten } from '../../text.ts';
import { iso } from '../../time.ts';
import { version } from '../../version.ts';
import type { DaemonReport } from './daemons.ts';

export interface SelfReportDependencies {
  /** Who we are. */
  id: string;
  host: string;
  pid: number;
  /** Epoch milliseconds. */
  startedAt: number;
  health: Pick<Health, 'ready'>;
  /** Which services have no read that fails. */
  services(): readonly (Pick<ServiceStatus, 'name' | 'up' | 'since' | 'lastError'> & { pace?: PaceState })[];
  scrub(text: string): string;
}

/** A sentence of a report has at most this many UTF-16 units: it is written every few seconds. */
const LONGEST_SENTENCE = 1000;

const NOT_YET = 'it was not read yet';
const NOT_LATELY = 'it was not read lately';

type KnownService = ReturnType<SelfReportDependencies['services']>[number];

/**
 * `check` says whether the service as a whole can be read; `reads`, whether some of its reads fail; `protocols`, whether
 * some are not read at all, for whatever reason.
 */
const serviceStatus = (
  reads: Omit<KnownService, 'pace'>,
  check: CheckReport | undefined,
  protocols: CheckReport | undefined,
): ServiceStatus => {
  const { name } = reads;
  const since = check === undefined ? {} : { since: check.since };
  if (check?.status === 'ok') {
    if (reads.up && protocols?.status === 'failing') {
      return { name, up: false, state: 'partly', since: protocols.since, lastError: protocols.detail ?? NOT_LATELY };
    }
    return reads.up ? { name, up: true, state: 'answers', ...since } : { ...reads, state: 'partly' };
  }
  if (check?.status === 'failing') {
    return { name, up: false, state: 'fails', ...since, lastError: check.detail ?? 'it does not answer' };
  }
  // Not proven lately, and the reads say why.
  const isStale = check?.detail !== undefined;
  if (isStale && !reads.up) return { ...reads, state: 'fails' };
  return { name, up: false, state: isStale ? 'fails' : 'unknown', ...since, lastError: isStale ? NOT_LATELY : NOT_YET };
};

const paceStatus = ({
  everyMs,
  needed,
}: PaceState): Pick<ServiceStatus, 'pollSeconds' | 'neededRequestsPerSecond'> => ({
  pollSeconds: Math.round(everyMs / 100) / 10,
  ...(needed === undefined ? {} : { neededRequestsPerSecond: needed }),
});

export const createSelfReport = ({ health, services, scrub, startedAt, ...self }: SelfReportDependencies) => {
  const sentence = (text: string): string => shorten(scrub(text), LONGEST_SENTENCE);

  return (): DaemonReport => {
    const { status, checks, troubles } = health.ready();
    const checkOf = (wanted: string): CheckReport | undefined => checks.find(({ name }) => name === wanted);
    const known = services().map(({ pace, ...one }) => ({
      ...serviceStatus(one, checkOf(`service:${one.name}`), checkOf(`protocols:${one.name}`)),
      ...(pace === undefined ? {} : paceStatus(pace)),
    }));
    return {
      ...self,
      version,
      startedAt: iso(startedAt),
      ready: status === 'ok',
      checks: checks.map(({ detail, ...check }) =>
        detail === undefined ? check : { ...check, detail: sentence(detail) },
      ),
      services: known.map(({ lastError, ...service }) =>
        lastError === undefined ? service : { ...service, lastError: sentence(lastError) },
      ),
      ...(troubles === undefined
        ? {}
        : {
            troubles: troubles.map(({ why, ...trouble }) => ({
              ...trouble,
              what: sentence(trouble.what),
              ...(why === undefined ? {} : { why: sentence(why) }),
            })),
          }),
    };
  };
};
