/** Composes the check for protocols of which nothing is inspected. Its announcements go where those of unread ones go. */
import type { Logger } from 'pino';
import type { Config } from '../config/schema.ts';
import { createSilenceCheck } from '../features/silence/check.ts';
import { createSilenceNotifier } from '../features/silence/notifier.ts';
import { createProbe } from '../features/silence/probe.ts';
import { createProbeTimes } from '../features/silence/times.ts';
import type { Catalog } from '../poll/catalog.ts';
import { createShare } from '../poll/shares.ts';
import { isPathSegment } from '../text.ts';
import { createDestinations } from './blindness.ts';
import type { openDispatch } from './dispatch.ts';
import type { Limits } from './limits.ts';
import { elapsed, type ReadingDependencies, type ServiceOf } from './read.ts';
import type { Store } from './store.ts';

export interface OpenSilence {
  config: Config;
  store: Pick<Store, 'silent' | 'habits' | 'blindness' | 'outageStore' | 'locks'>;
  dispatching: Pick<
    ReturnType<typeof openDispatch>,
    'announce' | 'operators' | 'fallback' | 'destinationsOf' | 'isOpen'
  >;
  catalog: Pick<Catalog, 'protocols'>;
  serviceOf: ServiceOf;
  membership: ReadingDependencies['membership'];
  limits: Pick<Limits, 'silenceProbeMs'>;
  log: Logger;
  now(): number;
}

const LONGEST_ROUND_MS = 15_000;
const SHORTEST_ROUND_MS = 250;

/** An operator's shortest expectation is looked at several times within it. */
const roundMsOf = (expectations: readonly number[]): number =>
  Math.max(SHORTEST_ROUND_MS, Math.min(LONGEST_ROUND_MS, ...expectations.map((ms) => ms / 4)));

const openCheck = (dependencies: OpenSilence) => {
  const { config, store, dispatching, catalog, serviceOf, membership, log, now } = dependencies;
  const { overrides } = config.protocols;
  const expectEvery = (protocol: string): number | undefined =>
    Object.hasOwn(overrides, protocol) ? overrides[protocol]?.expectEvery : undefined;
  const clock = (service: string): number => serviceOf(service).clock.now();
  const { requestsPerSecond } = config.poll;
  return createSilenceCheck({
    probe: createProbe({
      pages: (service, protocol, since, signal) => serviceOf(service).every.inspections(protocol, since, signal),
      count: async (service, protocol, startDate, signal) =>
        (await serviceOf(service).client.inspectionStats({ protocol, startDate }, signal)).total,
      clock,
    }),
    habits: store.habits,
    silent: store.silent,
    unread: store.blindness,
    notifier: createSilenceNotifier({
      silent: store.silent,
      outages: store.outageStore,
      announce: dispatching.announce,
      operators: dispatching.operators,
      fallback: dispatching.fallback.destinations,
      destinationsOf: createDestinations(dispatching),
      log,
      now,
    }),
    locks: store.locks,
    times: createProbeTimes({
      requestsPerSecond,
      daemonsOf: (service) => membership.readersOf(service).length,
      expectEvery,
      leastMs: dependencies.limits.silenceProbeMs,
      elapsed,
    }),
    protocolsOf: async (service) => [...(await catalog.protocols(service)).keys()].filter(isPathSegment),
    isOwn: (service) => {
      const isShare = createShare(membership.own, membership.readersOf(service));
      return (protocol) => isShare({ service, source: 'inspections', protocols: [protocol] });
    },
    expectEvery,
    clock,
    log,
  });
};

export const openSilence = (dependencies: OpenSilence) => {
  const { config } = dependencies;
  const { sources } = config.alerts;
  const everyMs = roundMsOf(Object.values(config.protocols.overrides).flatMap((one) => one.expectEvery ?? []));
  const check = openCheck(dependencies);
  return {
    everyMs,
    /** One look at every service; one that fails does not keep the others from it. */
    round: async (signal: AbortSignal): Promise<void> => {
      if (!sources.includes('inspections')) return;
      const ends = await Promise.allSettled(config.services.map(({ name }) => check.round(name, signal)));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    },
  };
};
