/** The status report, put together from what is in Redis: the same for the page and for the `status` command. */
import { SOURCES } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import { nameOf } from '../../ledger/record.ts';
import type { HeldStatus, StatusReport } from '../../ops/status.ts';
import type { CatalogEntry } from '../../poll/catalog.ts';
import { iso } from '../../time.ts';
import { version } from '../../version.ts';
import type { HeldDestination } from '../approval/store.ts';
import { createActiveMutes } from '../mutes/active.ts';
import { currentOutages, outageSentence } from '../outages/current.ts';
import type { RouteReview } from '../routes/review.ts';

export interface StatusDependencies {
  config: Config;
  store: Store;
  protocols(service: string): Promise<ReadonlyMap<string, CatalogEntry>>;
  services(): StatusReport['services'];
  review: Pick<RouteReview, 'review' | 'problems' | 'protocolsOf'>;
  /** Epoch milliseconds. */
  startedAt?: number;
  now(): number;
}

/** A sentence names so many. */
const MOST_NAMED = 3;

const listText = (names: readonly string[]): string => {
  const others = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
};

const heldSentence = ({ destination, waiting, isRevoked }: HeldDestination, protocols: readonly string[]): string => {
  const listed = protocols.length === 0 ? '' : ` (for ${listText(protocols)})`;
  const state = `${isRevoked ? 'was revoked' : 'is new'} and waits for approval`;
  const count = `${waiting} ${waiting === 1 ? 'alert' : 'alerts'}`;
  return `${nameOf(destination)}${listed} ${state} with ${count}: tocsin destinations approve ${destination.id}`;
};

export const createStatus = (dependencies: StatusDependencies) => {
  const { config, store, review, now } = dependencies;
  const { sources } = config.alerts;
  const activeMutes = createActiveMutes({ config, mutes: store.mutes, now });

  const sourcesOf = async (service: string, protocol: string) => {
    const tracks = SOURCES.filter((source) => sources.includes(source)).map((source) => ({
      service,
      source,
      protocol,
    }));
    const cursors = await store.cursors.get(tracks);
    return tracks.map(({ source }, index) => {
      const cursor = cursors[index];
      if (!cursor) return { source };
      const { position, polledAt } = cursor;
      if (polledAt === undefined) return { source, cursor: iso(position) };
      const lagSeconds = Math.max(0, Math.round((now() - polledAt) / 1000));
      return { source, cursor: iso(position), lastPoll: iso(polledAt), lagSeconds };
    });
  };

  const protocolsOf = async (service: string): Promise<StatusReport['protocols']> =>
    Promise.all(
      [...(await dependencies.protocols(service)).values()].map(async ({ name, channels }) => ({
        service,
        name,
        channels: [...new Set(channels.map((channel) => channel.name))],
        sources: await sourcesOf(service, name),
      })),
    );

  return async (): Promise<StatusReport> => {
    const protocols = (await Promise.all(config.services.map(({ name }) => protocolsOf(name)))).flat();
    const destinationStats = await store.destinationStats.list();
    const held = await store.held.list();
    // What is held may be for a channel that was listed since the last review.
    for (const { name } of held.length === 0 ? [] : config.services) {
      review.review(name, await dependencies.protocols(name));
    }
    const listedBy = review.protocolsOf();
    const protocolsAt = ({ destination }: HeldDestination): readonly string[] => listedBy.get(destination.id) ?? [];
    const { active } = await activeMutes.states();
    const [broken, quarantined, dead, waiting] = await Promise.all([
      currentOutages(store.outageStore, destinationStats),
      store.quarantine.count(),
      store.dead.count(),
      store.ledger.waitingByDestination(),
    ]);
    return {
      version,
      ...(dependencies.startedAt === undefined ? {} : { startedAt: iso(dependencies.startedAt) }),
      now: iso(now()),
      services: dependencies.services(),
      protocols,
      destinations: destinationStats.map((one) => ({ ...one, waiting: waiting[one.id] ?? 0 })),
      held: held.map((one): HeldStatus => {
        const { id, kind, label } = one.destination;
        return { id, kind, label, protocols: protocolsAt(one), since: one.since, waiting: one.waiting };
      }),
      mutes: active.toSorted((a, b) => a.until.localeCompare(b.until)),
      queues: await store.queues.counts(),
      dead,
      problems: [
        ...broken.map(outageSentence),
        ...held.map((one) => heldSentence(one, protocolsAt(one))),
        ...review.problems(),
        ...(quarantined === 0 ? [] : [`${quarantined} items of the service could not be understood`]),
      ],
    };
  };
};
