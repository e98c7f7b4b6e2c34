/** What the services list: how far each protocol is read, and which are not. */
import { SOURCES } from '../../alert.ts';
import { mapInChunks } from '../../chunks.ts';
import type { Config } from '../../config/schema.ts';
import type { ProtocolStatus, SourceStatus, UnwatchedStatus } from '../../ops/status.ts';
import type { CatalogEntry, Unwatched } from '../../poll/catalog.ts';
import type { Cursor, Cursors } from '../../poll/cursor.ts';
import { iso } from '../../time.ts';

export interface ListedDependencies {
  config: Pick<Config, 'services' | 'alerts'>;
  cursors: Pick<Cursors, 'get'>;
  protocols(service: string): Promise<ReadonlyMap<string, CatalogEntry>>;
  unwatched(service: string): Promise<readonly Unwatched[]>;
  now(): number;
}

const sourceStatus = (source: SourceStatus['source'], cursor: Cursor | undefined, now: number): SourceStatus => {
  if (!cursor) return { source };
  const { position, polledAt } = cursor;
  if (polledAt === undefined) return { source, cursor: iso(position) };
  const lagSeconds = Math.max(0, Math.round((now - polledAt) / 1000));
  return { source, cursor: iso(position), lastPoll: iso(polledAt), lagSeconds };
};

/** There may be thousands: all of them at once would keep others from their turn. */
const READ_AT_ONCE = 100;

/** How far the protocols of a service are read. */
export const protocolsOf = async (
  { config, cursors, protocols, now }: ListedDependencies,
  service: string,
): Promise<ProtocolStatus[]> => {
  const sources = SOURCES.filter((source) => config.alerts.sources.includes(source));
  const statusOf = async ({ name, channels }: CatalogEntry): Promise<ProtocolStatus> => {
    const found = await cursors.get(sources.map((source) => ({ service, source, protocol: name })));
    return {
      service,
      name,
      channels: [...new Set(channels.map((channel) => channel.name))],
      sources: sources.map((source, index) => sourceStatus(source, found[index], now())),
    };
  };
  return mapInChunks([...(await protocols(service)).values()], READ_AT_ONCE, statusOf);
};

const REASONS: Readonly<Record<Unwatched['why'], string>> = {
  excluded: 'left out by protocols.include and protocols.exclude',
  unreadable: 'it cannot be read as it is listed',
  unaskable: 'its inspections are not read, as no URL can carry its name',
};

/** What a service lists and nobody reads. */
export const unwatchedOf = async ({ config, unwatched }: ListedDependencies) => {
  const found: (UnwatchedStatus & Pick<Unwatched, 'why'>)[] = [];
  for (const { name: service } of config.services) {
    for (const { name, why, problem } of await unwatched(service)) {
      const reason = `${REASONS[why]}${problem === undefined ? '' : `: ${problem}`}`;
      found.push({ service, name: name === '' ? '(no name)' : name, why, reason });
    }
  }
  return found;
};
