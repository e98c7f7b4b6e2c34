/** Gathers what the page shows besides the status: what happened lately, and what an operator may change. */
import type { Destination } from '../../alert.ts';
import type { Chains } from '../../channels/chains.ts';
import type { RateLimit } from '../../channels/options.ts';
import { AT_ONCE, inSlices, mapSliced, type Sliced } from '../../chunks.ts';
import { hideUrlTails, showPath } from '../../config/problems.ts';
import type { Disabled } from '../../deliver/destinations.ts';
import type { DeadDelivery, DeadLetters } from '../../ledger/dead-letters.ts';
import type { DestinationStats } from '../../ledger/destination-stats.ts';
import type { Outlines } from '../../ledger/index-by-date.ts';
import type { OperatorLog, RecordedAction } from '../../ledger/operator-log.ts';
import { NO_DESTINATION } from '../../ledger/record.ts';
import {
  ACTIVITY_STEP_MS,
  ACTIVITY_STEPS,
  type ActionDetails,
  type ActivityStep,
  type ApprovalDetails,
  type AuditDetails,
  type ConfigEntry,
  type DeadDetails,
  type PageDetails,
  type TracedAlert,
} from '../../ops/page/details.ts';
import type { CatalogEntry } from '../../poll/catalog.ts';
import { isSecret } from '../../secret.ts';
import { cleanLine, counted, nameText, shorten } from '../../text.ts';
import { durationText, iso } from '../../time.ts';
import type { AcknowledgementStore } from '../acknowledgement/store.ts';
import type { MayBePressed } from '../acknowledgement/unacknowledged.ts';
import { whoText } from '../acknowledgement/words.ts';
import type { KnownDestination } from '../approval/destinations.ts';
import type { ApprovalStore } from '../approval/store.ts';
import type { AuditMarks } from '../audit/job.ts';
import type { RouteReview } from '../routes/review.ts';
import type { Trace } from '../trace/trace.ts';
import { createLinker, foldCovered, type Linker, recentAlert, targetName, tracedAlert } from './alerts.ts';

/** `1/s, 20/min` */
export const rateText = ({ perSecond, perMinute }: RateLimit): string =>
  [
    ...(perSecond === undefined ? [] : [`${perSecond}/s`]),
    ...(perMinute === undefined ? [] : [`${perMinute}/min`]),
  ].join(', ');

/** A newer version may record what this one has no words for: its name says something. */
const doneText = (action: RecordedAction): string => {
  switch (action.action) {
    case 'mute-begun':
      return `muted ${action.what}: ${action.reason}`;
    case 'mute-extended':
      return `extended the mute of ${action.what}`;
    case 'mute-ended':
      return `ended the mute of ${action.what}`;
    case 'remark-known':
      return `marked as known: ${action.what}; ${action.reason}`;
    case 'remark-counted':
      return `marked as no longer known: ${action.what}`;
    case 'destination-approved':
      return `approved ${action.to}, ${counted(action.sent, 'held alert')} sent`;
    case 'destination-revoked':
      return `revoked ${action.to}`;
    case 'destination-dropped':
      return `dropped ${counted(action.dropped, 'held alert')} for ${action.to}`;
    case 'destination-enabled':
      return `enabled ${action.to}`;
    case 'cursor-moved':
      return `moved the cursor of ${nameText(action.protocol)} (${action.source}) to ${action.movedTo}`;
    case 'dead-retried':
      return `sent ${counted(action.sent, 'dead delivery', 'dead deliveries')} again`;
    case 'dead-dropped':
      return `dropped ${counted(action.dropped, 'dead delivery', 'dead deliveries')}`;
    case 'daemon-forgotten':
      return `forgot the daemon at ${action.daemonHost}`;
    case 'test-sent':
      return `sent a test to ${action.to}`;
    case 'acknowledged':
      return `${whoText({ by: action.author, userId: action.user })} acknowledged ${counted(action.acknowledged, 'alert')} in ${action.to}`;
    case 'replayed':
      return `replayed ${counted(action.queued, 'delivery', 'deliveries')} since ${action.since}`;
    default:
      return (action as { action: string }).action;
  }
};

export const actionDetails = (action: RecordedAction): ActionDetails => {
  const text = doneText(action);
  if (action.by !== 'page') return { at: action.at, text };
  const user = action.user === undefined ? '' : `, by ${action.user}`;
  return { at: action.at, text: `${text} (on this page${user})` };
};

/** Keys whose numbers are milliseconds. */
const DURATION = /(?:timeout|interval|overlap|lookback|every|after|maxage|maxlength|startfrom)$/i;
const LONGEST_VALUE = 200;
/** So many entries are shown; the file has the others. */
const MOST_ENTRIES = 400;

const scalarText = (key: string, value: unknown): string => {
  if (typeof value === 'number' && DURATION.test(key)) return durationText(value);
  if (value === null || value === undefined) return 'none';
  return hideUrlTails(cleanLine(String(value)));
};

/** What stands in one line: a scalar, a secret, a list of scalars. */
const leafText = (key: string, value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null) return scalarText(key, value);
  if (isSecret(value)) return '[secret]';
  if (Object.keys(value).length === 0) return 'none';
  const isPlainList = Array.isArray(value) && value.every((each) => typeof each !== 'object');
  return isPlainList ? value.map((each) => scalarText(key, each)).join(', ') : undefined;
};

const entriesIn = (value: unknown, path: readonly (string | number)[]): ConfigEntry[] => {
  const key = showPath(path);
  const text = leafText(key, value);
  if (text !== undefined) return [{ key, value: shorten(text, LONGEST_VALUE) }];
  return Object.entries(value ?? {}).flatMap(([name, each]) => entriesIn(each, [...path, name]));
};

/** What is in force, defaults included, by dotted key. */
export const configEntries = (config: object, scrub: (text: string) => string): ConfigEntry[] => {
  const all = entriesIn(config, []).map(({ key, value }) => ({ key: scrub(key), value: scrub(value) }));
  const more = all.length - MOST_ENTRIES;
  return more > 0 ? [...all.slice(0, MOST_ENTRIES), { key: `and ${more} more`, value: 'see the file' }] : all;
};

type RouteDetails = Pick<PageDetails, 'rates' | 'destinationsOf'>;
type RouteDetailsOf = () => Promise<RouteDetails>;

interface RouteDetailsDependencies {
  review: Pick<RouteReview, 'revision' | 'destinations' | 'protocolsOf'>;
  rateOf(destination: Destination): RateLimit | undefined;
}

type Led = ReturnType<RouteReview['protocolsOf']>;

/** Names of destinations by protocol. */
function* destinationNames(all: readonly Destination[], protocols: Led): Sliced<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const [index, one] of all.entries()) {
    if (index % AT_ONCE === 0) yield;
    const name = targetName(one);
    for (const protocol of protocols.get(one.id) ?? []) {
      const known = found.get(protocol);
      if (known) known.push(name);
      else found.set(protocol, [name]);
    }
  }
  return found;
}

function* detailsOf({ review, rateOf }: RouteDetailsDependencies): Sliced<RouteDetails> {
  yield;
  const protocols = review.protocolsOf();
  yield;
  const all = review.destinations();
  const rates = yield* mapSliced(all, (one) => [one.id, rateText(rateOf(one) ?? {})] as const);
  return { rates: new Map(rates), destinationsOf: yield* destinationNames(all, protocols) };
}

export const createRouteDetails = (dependencies: RouteDetailsDependencies): RouteDetailsOf => {
  let made: { revision: number; details: Promise<RouteDetails> } | undefined;
  return () => {
    const revision = dependencies.review.revision();
    if (made?.revision !== revision) made = { revision, details: inSlices(detailsOf(dependencies)) };
    return made.details;
  };
};

interface PageDetailsDependencies {
  services: readonly string[];
  chains: Chains;
  config: readonly ConfigEntry[];
  isGateOn: boolean;
  outlines: Outlines;
  destinationStats: Pick<DestinationStats, 'latencies'>;
  dead: Pick<DeadLetters, 'latest'>;
  operatorLog: Pick<OperatorLog, 'latest'>;
  marks: Pick<AuditMarks, 'of'>;
  routes: RouteDetailsOf;
  protocols(service: string): Promise<ReadonlyMap<string, CatalogEntry>>;
  /** Every destination that is known: thousands. Only asked where one may wait for approval. */
  known(): Promise<readonly KnownDestination[]>;
  held: Pick<ApprovalStore, 'list'>;
  disabled: Pick<Disabled, 'list'>;
  acknowledgements: Pick<AcknowledgementStore, 'acknowledged'>;
  /** As of now. */
  mayBePressed(): MayBePressed;
  trace(name: string): Promise<Trace[]>;
  now(): number;
}

const MOST_ALERTS = 50;
/** Of one alert; there may be thousands. */
const MOST_DELIVERIES = 5;
const MOST_DEAD = 50;
const MOST_ACTIONS = 30;
const MOST_APPROVALS = 200;

const activityOf = async ({ outlines, destinationStats, now }: PageDetailsDependencies): Promise<ActivityStep[]> => {
  const last = Math.floor(now() / ACTIVITY_STEP_MS) * ACTIVITY_STEP_MS;
  const starts = Array.from(
    { length: ACTIVITY_STEPS },
    (_, index) => last - (ACTIVITY_STEPS - 1 - index) * ACTIVITY_STEP_MS,
  );
  const [counts, latencies] = await Promise.all([
    outlines.counts(starts.map((from) => ({ from, to: from + ACTIVITY_STEP_MS }))),
    destinationStats.latencies(starts[0] ?? last, last),
  ]);
  const byStart = new Map(latencies.map(({ at, medianMs, mostMs }) => [at, { medianMs, mostMs }]));
  return starts.map((at, index) => ({ at, alerts: counts[index] ?? 0, latency: byStart.get(at) }));
};

const auditsOf = async ({ services, marks, protocols }: PageDetailsDependencies): Promise<AuditDetails[]> =>
  Promise.all(
    services.map(async (service) => {
      const markOf = await marks.of(service);
      const found = [...(await protocols(service)).keys()].map(markOf);
      const known = found.filter((mark) => mark !== undefined);
      const oldest = known.reduce((least, mark) => Math.min(least, mark), Number.POSITIVE_INFINITY);
      const auditedTo = known.length === 0 ? undefined : iso(oldest);
      return { service, never: found.length - known.length, auditedTo };
    }),
  );

const deadDetails = (letter: DeadDelivery, link: Linker): DeadDetails => {
  const { id, alert, destination, reason, message, attempts, at } = letter;
  const to = targetName(destination ?? NO_DESTINATION);
  return { id, protocol: alert.protocol, to, reason, message, attempts, at, ...link(alert) };
};

type Approvable = KnownDestination & Pick<ApprovalDetails, 'state'>;

const isApprovable = (one: KnownDestination): one is Approvable => ['held', 'new', 'revoked'].includes(one.state);

const approvalsOf = async ({ isGateOn, held, known }: PageDetailsDependencies): Promise<ApprovalDetails[]> => {
  if (!isGateOn && (await held.list()).length === 0) return [];
  return (await known()).filter(isApprovable).slice(0, MOST_APPROVALS);
};

const linkerOf = async ({ services, chains, protocols }: PageDetailsDependencies): Promise<Linker> =>
  createLinker(
    chains,
    new Map(await Promise.all(services.map(async (service) => [service, await protocols(service)] as const))),
  );

export const createPageDetails = (dependencies: PageDetailsDependencies) => {
  const { config, isGateOn, outlines, dead, operatorLog, routes, acknowledgements, mayBePressed, trace } = dependencies;

  return {
    details: async (): Promise<PageDetails> => {
      const link = await linkerOf(dependencies);
      const [alerts, activity, letters, actions, audits, approvals, disabled] = await Promise.all([
        outlines.latest(MOST_ALERTS, MOST_DELIVERIES),
        activityOf(dependencies),
        dead.latest(MOST_DEAD),
        operatorLog.latest(MOST_ACTIONS),
        auditsOf(dependencies),
        approvalsOf(dependencies),
        dependencies.disabled.list(),
      ]);
      const { rows, covers } = foldCovered(alerts);
      const acknowledged = await acknowledgements.acknowledged(rows.map(({ alert }) => alert.id));
      const pressing = mayBePressed();
      return {
        alerts: rows.map((one) => {
          const { id } = one.alert;
          const known = { by: acknowledged.get(id), mayBePressed: pressing };
          return { ...recentAlert(one, link, known), covers: covers.get(id) ?? 0 };
        }),
        activity,
        ...(await routes()),
        disabled: new Set(disabled.map(({ id }) => id)),
        approvals,
        isGateOn,
        dead: letters.map((one) => deadDetails(one, link)),
        audits,
        actions: actions.map(actionDetails),
        config,
      };
    },
    trace: async (name: string): Promise<TracedAlert[]> => {
      const link = await linkerOf(dependencies);
      const pressing = mayBePressed();
      return (await trace(name)).map((one) => tracedAlert(one, link, pressing));
    },
  };
};
