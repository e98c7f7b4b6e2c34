/** Remarks: what somebody should look at when there is time, each as a whole sentence. */
import { CHANNEL_KINDS } from '../../alert.ts';
import type { Condition, ConditionName } from '../../condition.ts';
import type { Config } from '../../config/schema.ts';
import { type DeadLetters, MOST_DEAD } from '../../ledger/dead-letters.ts';
import { nameOf } from '../../ledger/record.ts';
import type { ServiceStatus } from '../../ops/status.ts';
import type { CatalogEntry, Unwatched } from '../../poll/catalog.ts';
import type { Quarantine } from '../../poll/seen.ts';
import { replayOf, type Skipped, type SkippedStore } from '../../poll/skipped.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import { counted, namesText, nameText } from '../../text.ts';
import { clockText, iso } from '../../time.ts';
import { type ApprovalStore, type HeldDestination, HOLD_BOUNDS } from '../approval/store.ts';
import { type NameStore, withName } from '../names/names.ts';
import type { RouteReview } from '../routes/review.ts';

export interface NotesDependencies {
  config: Pick<Config, 'services' | 'channels'>;
  protocols(service: string): Promise<ReadonlyMap<string, CatalogEntry>>;
  unwatched(service: string): Promise<readonly Unwatched[]>;
  dead: Pick<DeadLetters, 'trimmed'>;
  quarantine: Pick<Quarantine, 'count'>;
  skipped: Pick<SkippedStore, 'list'>;
  queues: Pick<ParcelQueues, 'waitingFor'>;
  held: Pick<ApprovalStore, 'list'>;
  names: Pick<NameStore, 'all'>;
  review: Pick<RouteReview, 'review' | 'problemsTogether' | 'protocolsOf'>;
}

/** Alerts that are held for a destination, and the names of the protocols that lead there. */
export interface HeldFor {
  one: HeldDestination;
  protocols: readonly string[];
}

/** None where nothing is said. */
const note = (name: ConditionName, of: string, what: string | false): Condition[] =>
  what === false ? [] : [{ name, of, what }];

const REASONS: Readonly<Record<Unwatched['why'], string>> = {
  excluded: 'left out by protocols.include and protocols.exclude',
  unreadable: 'it cannot be read as it is listed',
  unaskable: 'its inspections are not read, as no URL can carry its name',
};

const unwatchedOf = async ({ config, unwatched }: NotesDependencies) => {
  const found = config.services.map(async ({ name: service }) =>
    (await unwatched(service)).map(({ name, why, problem }) => {
      const reason = `${REASONS[why]}${problem === undefined ? '' : `: ${problem}`}`;
      return { service, name: name === '' ? '(no name)' : name, why, reason };
    }),
  );
  return (await Promise.all(found)).flat();
};

/** Destinations with held alerts, and the protocols that lead there. */
const heldOf = async ({ config, held, names, review, protocols }: NotesDependencies): Promise<HeldFor[]> => {
  const all = await held.list();
  if (all.length === 0) return [];
  // Held alerts may be for a channel that was listed since the last review.
  for (const { name } of config.services) review.review(name, await protocols(name));
  const [listedBy, named] = [review.protocolsOf(), await names.all()];
  return all.map((one) => ({
    one: { ...one, destination: withName(one.destination, named) },
    protocols: listedBy.get(one.destination.id) ?? [],
  }));
};

const heldNote = ({ one: { destination, waiting, isRevoked }, protocols }: HeldFor): Condition[] => {
  const listed = protocols.length === 0 ? '' : ` (for ${namesText(protocols)})`;
  const state = `${isRevoked ? 'was revoked' : 'is new'} and waits for approval`;
  const most = waiting >= HOLD_BOUNDS.alerts ? ', which is the most: newer ones are dead' : '';
  const count = `${counted(waiting, 'alert')}${most}`;
  const what = `${nameOf(destination)}${listed} ${state} with ${count}: tocsin destinations approve ${destination.id}`;
  return note('held', destination.id, what);
};

/** Jobs that wait for channel kinds which the config does not set up, see `features/housekeeping`. */
const leftNotes = async ({ config, queues }: NotesDependencies): Promise<Condition[]> => {
  const kinds = CHANNEL_KINDS.filter((kind) => config.channels[kind] === undefined);
  const left = kinds.map(async (kind) => {
    const jobs = await queues.waitingFor(kind);
    const what = `${counted(jobs, 'job waits', 'jobs wait')} for ${kind}, which the config does not set up: what no daemon sends within a day is dead`;
    return note('left-jobs', kind, jobs > 0 && what);
  });
  return (await Promise.all(left)).flat();
};

/** A service whose protocols wait too long for the next poll. */
const slowNote = ({ name, neededRequestsPerSecond: needed }: ServiceStatus): Condition[] => {
  const what = `${name}: its protocols are read less than every 15 seconds; poll.requestsPerSecond: ${needed} would suffice`;
  return note('slow-polls', name, needed !== undefined && what);
};

const removedText = (removed: number): string =>
  `${counted(removed, 'dead delivery was', 'dead deliveries were')} removed lately, as ${MOST_DEAD} are kept at most: tocsin replay sends their items again`;

/** What was left out for a while, by service. */
const skippedNotes = (skipped: readonly Skipped[]): Condition[] =>
  [...Map.groupBy(skipped, ({ service }) => service)].flatMap(([service, all]) => {
    const names = [...new Set(all.map(({ protocol }) => protocol))];
    const from = Math.min(...all.map((one) => one.from));
    const to = Math.max(...all.map((one) => one.to));
    const [only, ...others] = names;
    const command = replayOf({ from, to, ...(only !== undefined && others.length === 0 ? { protocol: only } : {}) });
    const period = `between ${clockText(iso(from))} and ${clockText(iso(to))}`;
    const what = `${service}: what came of ${namesText(names)} ${period} was not sent, as it was left out then: ${command}`;
    return { name: 'skipped', of: service, what, todo: `\`${command}\` sends it` };
  });

export const notesOf = async (dependencies: NotesDependencies, services: readonly ServiceStatus[]) => {
  const { quarantine, skipped, dead, review } = dependencies;
  const [unwatched, held, left, malformed, removed, leftOut] = await Promise.all([
    unwatchedOf(dependencies),
    heldOf(dependencies),
    leftNotes(dependencies),
    quarantine.count(),
    dead.trimmed(),
    skipped.list(),
  ]);
  const unreadable = unwatched.filter(({ why }) => why !== 'excluded');
  const mostHeld = `${held.length} destinations wait for approval, which is the most: alerts for others are dead`;
  const notes = [
    ...unreadable.flatMap(({ service, name, reason }) =>
      note('unwatched', `${service} ${name}`, `${nameText(name)}: ${reason}`),
    ),
    ...held.flatMap(heldNote),
    ...note('held', '', held.length >= HOLD_BOUNDS.destinations && mostHeld),
    ...left,
    ...services.flatMap(slowNote),
    ...review.problemsTogether().flatMap(({ id, text }) => note('routing', id, text)),
    ...note('removed', '', removed > 0 && removedText(removed)),
    ...skippedNotes(leftOut),
    ...note('malformed', '', malformed > 0 && `${counted(malformed, 'item')} of the service could not be understood`),
  ];
  return { unwatched, held, removed, notes };
};
