/** Composes what becomes of inspections that do not fit where the service lists them. */
import { ServiceError } from '../errors.ts';
import { createMisfits } from '../features/misfits/misfits.ts';
import type { Item } from '../item.ts';
import { isWanted, toAlert } from '../poll/ingest.ts';
import { identityOf } from '../poll/seen.ts';
import { createAssignment } from '../poll/stream.ts';
import type { Turn } from '../redis/turns.ts';
import { plainName } from '../text.ts';
import { createDestinations } from './checks.ts';
import { type Context, monotonic } from './context.ts';
import type { Dispatching } from './dispatch.ts';
import type { Reading } from './poll.ts';

type MisfitsReading = Reading & {
  readersOf(service: string): readonly string[];
  forward: Parameters<typeof createMisfits>[0]['forward'];
};

const MISFITS_EVERY_MS = 5000;

/** Polls know what they have read; what the config excludes is asked for. */
const isListedThere = async (
  { store, stopping, now }: Context,
  { catalog, serviceOf }: Reading,
  service: string,
  item: Item,
): Promise<boolean | undefined> => {
  const isNamed = (name: string): boolean => plainName(name) === plainName(item.protocol);
  const protocol = [...(await catalog.protocols(service)).keys()].find(isNamed);
  if (protocol !== undefined) {
    const track = { service, source: 'inspections', protocol } as const;
    return (await store.seen.unknown(track, [identityOf(toAlert(item, service, protocol, now()))])).length === 0;
  }
  const excluded = (await catalog.unwatched(service)).find(({ name, why }) => why === 'excluded' && isNamed(name));
  if (excluded === undefined) return false;
  try {
    return (await serviceOf(service).lookUp(excluded.name, [item], stopping)).get(item.itemId)?.kind === 'found';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return ['missing', 'rejected'].includes(error.reason) ? false : undefined;
  }
};

/** Inspections that do not fit where they are listed. `note`: to be called with every page of a poll. */
export const openMisfits = (context: Context, dispatching: Dispatching, reading: MisfitsReading) => {
  const { config, limits, log, now } = context;
  const { catalog, readersOf, forward } = reading;
  const { note, round } = createMisfits({
    isWanted: (item) => isWanted(item, config.alerts.assessments),
    isListedThere: (service, item) => isListedThere(context, reading, service, item),
    ...{ forward, announcer: dispatching.announcer, destinationsOf: createDestinations(dispatching) },
    protocolsOf: async (service) => [...(await catalog.protocols(service)).keys()],
    isOwn: (service) => {
      const isShare = createAssignment(context.id, readersOf(service));
      return (protocol) => isShare({ service, source: 'inspections', protocols: [protocol] });
    },
    ...{ waitMs: limits.misfitWaitMs, lastsMs: limits.misfitLastsMs, log, monotonic, now },
  });
  const turns = config.services.map(
    ({ name }): Turn => ({ name: `misfits ${name}`, everyMs: MISFITS_EVERY_MS, run: () => round(name) }),
  );
  return { note, turns };
};
