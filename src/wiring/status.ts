/** The status report, put together from what is in Redis: the same for the page and for the `status` command. */
import { SOURCES } from '../alert.ts';
import type { Config } from '../config/schema.ts';
import type { HeldDestination } from '../deliver/held.ts';
import { nameOf } from '../deliver/record.ts';
import type { HeldStatus, StatusReport } from '../ops/status.ts';
import type { CatalogEntry } from '../poll/catalog.ts';
import { version } from '../version.ts';
import { brokenNow, brokenSentence } from './broken.ts';
import { createMuting } from './muting.ts';
import type { Store } from './store.ts';

export interface StatusDependencies {
  config: Config;
  store: Store;
  protocols(service: string): Promise<ReadonlyMap<string, CatalogEntry>>;
  services(): StatusReport['services'];
  problems(): string[];
  /** Epoch milliseconds. */
  startedAt?: number;
  now(): number;
}

const iso = (at: number): string => new Date(at).toISOString();

const toHeldStatus = ({ destination: { id, kind, label }, since, waiting }: HeldDestination): HeldStatus => ({
  id,
  kind,
  label,
  since,
  waiting,
});

const heldSentence = ({ id, waiting, ...target }: HeldStatus): string =>
  `${nameOf(target)} is new and waits for approval with ${waiting} ${waiting === 1 ? 'alert' : 'alerts'}: tocsin destinations approve ${id}`;

export const createStatus = (dependencies: StatusDependencies) => {
  const { config, store, now } = dependencies;
  const { sources } = config.alerts;
  const muting = createMuting({ config, mutes: store.mutes, now });

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
    const standings = await store.standings.list();
    const held = (await store.held.list()).map(toHeldStatus);
    const { active } = await muting.states();
    const [broken, quarantined, dead, waiting] = await Promise.all([
      brokenNow(store, standings),
      store.quarantine.count(),
      store.dead.count(),
      store.ledger.waiting(),
    ]);
    return {
      version,
      ...(dependencies.startedAt === undefined ? {} : { startedAt: iso(dependencies.startedAt) }),
      now: iso(now()),
      services: dependencies.services(),
      protocols,
      destinations: standings.map((one) => ({ ...one, waiting: waiting[one.id] ?? 0 })),
      held,
      mutes: active.toSorted((a, b) => a.until.localeCompare(b.until)),
      queues: await store.queues.counts(),
      dead,
      problems: [
        ...broken.map(brokenSentence),
        ...held.map(heldSentence),
        ...dependencies.problems(),
        ...(quarantined === 0 ? [] : [`${quarantined} items of the service could not be understood`]),
      ],
    };
  };
};
