/**
 * What Tocsin says about itself: a condition is a fact about Tocsin, or about what it needs. Each has a name out of one
 * closed list, and its row says what every view has to know of it. Who finds one reports it, and decides nothing else.
 */
import { clockText } from './time.ts';

interface Row {
  /** `note`: when there is time. `blind`: alerts may not be found at all. Of both others somebody has to do something. */
  severity: 'note' | 'needs somebody' | 'blind';
  /** It may pass by itself: it needs somebody when it has lasted. */
  mayPass?: boolean;
  /** One daemon has it and others need not: it is known by that daemon's host. */
  isOfOneDaemon?: boolean;
  /** It stays as it is said until somebody changes that: people may mark it as known. None that says that alerts wait or were lost. */
  mayBeKnown?: boolean;
  /** The daemon that has it cannot do its work: `/readyz` is 503. */
  stopsReady?: boolean;
  /** An alert may not get through: the dead man's switch is not called. */
  stopsHeartbeat?: boolean;
  /** `found`: by its finder, also to people of the protocols that it is about. `lasting`: after `watchdog.after`. */
  announced: 'found' | 'lasting' | 'never';
  /** It may follow from one of this name: then it is listed there, and not announced besides. */
  partOf?: 'service' | 'channel' | 'destination';
  /** What becomes of alerts meanwhile: a sentence without its full stop. */
  effect: string;
  /** What to do next: part of a sentence, which begins where `To do: ` ends. */
  todo: string;
}

/** Nothing finds alerts. */
const BLIND = { severity: 'blind', announced: 'found' } as const;
/** Of all daemons together: they share a Redis, or have the same config. */
const SHARED = { severity: 'needs somebody', announced: 'lasting' } as const;
const PASSING = { ...SHARED, mayPass: true } as const;
const OF_ONE = { ...PASSING, isOfOneDaemon: true } as const;
/** A remark: `status` and the page have it. */
const NOTE = { ...SHARED, severity: 'note', announced: 'never', effect: 'Alerts are found and sent' } as const;
/** A standing one. */
const STANDING = { ...NOTE, mayBeKnown: true } as const;

const UNREAD = {
  ...{ ...BLIND, stopsReady: true, stopsHeartbeat: true },
  effect: 'No alert of what is unread can be found until it is read again; then it is caught up',
  todo: 'see whether the service answers and accepts the API key; `tocsin check --online` asks it',
} as const;

/** The worst first: every view shows them in this order. */
const CONDITIONS = {
  daemon: {
    ...{ ...BLIND, announced: 'never' },
    effect: 'No alert is found or sent until one runs; then what was missed is caught up',
    todo: 'start a daemon, and look at the log of the one that ended',
  },
  // Nothing can be announced without it: the dead man's switch hears of it.
  redis: {
    ...{ ...BLIND, stopsReady: true, stopsHeartbeat: true, announced: 'never' },
    effect: 'No alert is found or sent until it is back; then what was missed is caught up',
    todo: 'get Redis back: `redis-cli ping` from the machine of the daemon. What it missed is caught up',
  },
  service: UNREAD,
  /** Some protocols of a service that answers. The check of its protocols says when it has lasted for three intervals. */
  unread: { ...UNREAD, mayPass: true, partOf: 'service' },
  /** A service answers other daemons, and not this one. */
  'cut-off': {
    ...OF_ONE,
    effect: 'Other daemons read it, so no alert is missed while one of them lives',
    todo: 'see what keeps this host from the service; `tocsin check --online` there asks it',
  },
  /** Nothing is inspected of a protocol. */
  silent: {
    ...{ ...BLIND, partOf: 'service' },
    effect: 'If the service has stopped inspecting, no alert can be found',
    todo: 'ask the people who run the service; if such a long pause is normal, set expectEvery in protocols.overrides',
  },
  /** Inspections that name another protocol than the one they are listed for, or that cannot be read. */
  misfits: {
    ...{ ...SHARED, announced: 'found' },
    effect:
      'What names another protocol is sent to the people of the protocol that it is listed for, unless the list of the other one has it. What cannot be read is not sent',
    todo: "look at the protocol's transactions, and ask the people who run the service: somebody may want alerts to be missed. `tocsin inspections list` shows the last inspections",
  },
  /** A service's list of protocols does not come whole, or one of them is too large. */
  listing: {
    ...PASSING,
    effect: 'Alerts of what was listed are found and sent; of what was not, no change and no new protocol is seen',
    todo: 'see who made it so large: `tocsin protocols list`; correct or remove it at the service',
  },
  channel: {
    ...{ ...SHARED, stopsReady: true, stopsHeartbeat: true },
    effect: 'Alerts for it wait, and are delivered by themselves when it works',
    todo: 'fix it under channels (token, password or server); `tocsin check --online` shows whether it works. Waiting alerts are then sent by themselves',
  },
  destination: {
    ...{ ...SHARED, announced: 'found', partOf: 'channel' },
    effect: 'Alerts for it wait, or are kept as dead',
    todo: 'see why it does not answer; `tocsin destinations list` has its error',
  },
  /** No job comes through. */
  queue: {
    ...{ ...PASSING, stopsHeartbeat: true },
    effect: 'Alerts wait there; none is lost',
    todo: 'see `/livez` and the log for what hangs, and whether Redis is slow; a restart of the daemon loses nothing',
  },
  durability: {
    ...PASSING,
    effect: 'Alerts are found and sent, but what is queued may be lost when Redis restarts or is full',
    todo: 'change the setting of Redis, or move to one that keeps its data; `tocsin check --online` asks it',
  },
  /** A daemon ended without saying so, and is not back. */
  member: {
    ...SHARED,
    effect: 'Alerts are found and sent by the daemons that are left',
    todo: 'start it again under the same name of host, or `tocsin daemons forget NAME` where it is gone for good',
  },
  dead: {
    ...{ ...SHARED, partOf: 'destination' },
    effect: 'They are kept, and not sent again by themselves',
    todo: '`tocsin dead list` shows why; `tocsin dead retry --all` sends them again, `tocsin dead drop --all` gives them up',
  },
  /** Alerts that were missed. */
  audit: {
    ...SHARED,
    effect: 'They were found again by the audit, and come late',
    todo: '`tocsin audit` names the items, `tocsin trace ID` shows one; look for what Redis or the service lost then',
  },
  jobs: {
    ...{ ...PASSING, stopsReady: true },
    effect: 'Their alerts wait for it; none is lost',
    todo: 'start the newer version again',
  },
  config: {
    ...{ ...OF_ONE, mayPass: false },
    effect: 'The daemon goes on with the old config',
    todo: '`tocsin check` names each mistake with its line; correct the file',
  },
  'config-differs': {
    ...{ ...OF_ONE, mayPass: false, stopsReady: true },
    effect: 'Alerts are found and sent by the config that was put into force last; this daemon waits and sends nothing',
    todo: 'give all daemons the same config; a restart or a reload puts the config of that daemon into force',
  },
  template: {
    ...SHARED,
    effect: 'Alerts are sent in our own form instead',
    todo: 'correct it under templates in the config; `tocsin preview` shows what it makes',
  },
  disk: {
    ...OF_ONE,
    effect: 'Alerts are found and sent until the disk is full: then Redis takes no more, and no alert is sent',
    todo: 'free space on that machine, or give the data folder of Tocsin (dataDir) a larger disk',
  },
  clock: {
    ...OF_ONE,
    effect: 'Alerts are found and sent, but their times mislead, and receivers may refuse signed webhooks',
    todo: 'let both machines follow a time server (NTP)',
  },
  loop: {
    ...OF_ONE,
    effect: 'Alerts come late; none is lost',
    todo: 'give the daemon more CPU and memory; see `the event loop was blocked` in its log',
  },
  heartbeat: {
    ...OF_ONE,
    effect: "Alerts are found and sent, but the dead man's switch may fire",
    todo: 'correct watchdog.heartbeatUrl, or see why its server does not answer',
  },
  /** Presses of a kind do not arrive. */
  buttons: {
    ...PASSING,
    effect: 'Alerts are found and sent, but nobody can acknowledge them by these buttons',
    todo: 'see why the messenger refuses; a bot has to belong to Tocsin alone. Until then alerts can be acknowledged in other messages only',
  },
  /** Another config is in force, and has not been for long: see `config-differs`. */
  rollout: {
    ...{ ...NOTE, isOfOneDaemon: true, effect: 'Alerts are found and sent by the config that is in force' },
    todo: 'wait until the rollout is over; where there is none, give all daemons the same config',
  },
  /** A protocol that the service lists cannot be read as it is listed. */
  unwatched: {
    ...{ ...STANDING, effect: 'No alert of it is found' },
    todo: 'correct the protocol at the service, or leave it out by protocols.exclude',
  },
  held: {
    ...{ ...NOTE, effect: 'Its alerts wait until somebody has approved it' },
    todo: 'see whether it is the right one; `tocsin destinations approve` lets its alerts go',
  },
  /** Jobs of a kind that the config does not set up. */
  'left-jobs': {
    ...{ ...NOTE, effect: 'What no daemon sends within a day is dead' },
    todo: 'set the kind up under channels in the config, or let them die',
  },
  /** Protocols wait too long for their next poll. */
  'slow-polls': {
    ...{ ...STANDING, effect: 'Alerts come a little later' },
    todo: 'raise poll.requestsPerSecond',
  },
  routing: {
    ...{ ...STANDING, effect: 'Its alerts do not go there' },
    todo: 'correct the channel, at the monitoring service or in the config of Tocsin',
  },
  /** Dead letters, because there were too many. */
  removed: {
    ...{ ...NOTE, effect: 'They are not kept any more' },
    todo: '`tocsin replay` sends their items again',
  },
  /** What the config or the service left out for a while. */
  skipped: {
    ...{ ...NOTE, effect: 'What came meanwhile is not sent' },
    todo: '`tocsin replay` sends it, if somebody wants it',
  },
  malformed: {
    ...{ ...NOTE, effect: 'No alert was made of them' },
    todo: 'see `malformed item` in the log, and ask the people who run the service',
  },
} as const satisfies Record<string, Row>;

export type ConditionName = keyof typeof CONDITIONS;

export const CONDITION_NAMES = Object.keys(CONDITIONS) as ConditionName[];

export const rowOf = (name: ConditionName): Row => CONDITIONS[name];

/** Those that `tocsin_trouble` counts: all but the standing remarks. */
export const TROUBLES = CONDITION_NAMES.filter((name) => rowOf(name).severity !== 'note');

export interface Condition {
  name: ConditionName;
  /** Distinguishes conditions of one name: a service, a channel kind. Empty where there is one only. */
  of: string;
  /** The beginning of a sentence, without secrets and without a full stop. */
  what: string;
  /** Its end: the error in words. */
  why?: string | undefined;
  /** ISO 8601; absent where nobody knows. */
  since?: string | undefined;
  /** What mends just this one, as `nextStepOf` says it. */
  todo?: string | undefined;
  /** The host of the daemon that knows it; absent where all know the same. */
  at?: string;
  /** What the condition that it may follow from is of: a channel kind, a service. */
  under?: string;
  /** What follows from it, each in words, and is not listed besides. */
  affected?: string[];
  /** Who heard of it, as people read destinations; absent where it was not announced. */
  announcedTo?: string[] | undefined;
  /** Somebody has marked it as known: it is shown apart, and counts nothing. */
  known?: Acceptance | undefined;
}

/** Who knows of a standing remark, why it may stand, and until when. Texts are from people. */
export interface Acceptance {
  reason: string;
  author: string;
  from: string;
  until: string;
}

/** `slack does not work since 2026-11-22 10:00:00 UTC: invalid_auth`. */
export const conditionText = ({ what, why, since }: Pick<Condition, 'what' | 'why' | 'since'>): string =>
  `${what}${since === undefined ? '' : ` since ${clockText(since)}`}${why === undefined ? '' : `: ${why}`}`;

export const nextStepOf = ({ name, todo }: Pick<Condition, 'name' | 'todo'>): string => todo ?? rowOf(name).todo;

/** By this a condition is the same condition. */
export const conditionKey = ({ name, of }: Pick<Condition, 'name' | 'of'>): string =>
  of === '' ? name : `${name} ${of}`;

/** The key of the condition that it would follow from; undefined where it follows from none. */
const causeOf = ({ name, under }: Condition): string | undefined => {
  const { partOf } = rowOf(name);
  return partOf === undefined || under === undefined ? undefined : conditionKey({ name: partOf, of: under });
};

/** What may pass by itself needs somebody when it has lasted for so long. */
export const LASTING_MS = 60_000;

/** Whether somebody has to do something about it. */
export const needsSomebody = ({ name, since }: Condition, now: number, lastingMs = LASTING_MS): boolean => {
  const { severity, mayPass } = rowOf(name);
  if (severity === 'note') return false;
  // It may be by a clock that is ahead.
  return !mayPass || (since !== undefined && Math.abs(now - Date.parse(since)) >= lastingMs);
};

/** Each once, the worst first; what follows from another one is listed in that. */
export const foldConditions = (all: readonly Condition[]): Condition[] => {
  const unheard = ({ announcedTo }: Condition): number => (announcedTo === undefined ? 1 : 0);
  const byAge = (a: Condition, b: Condition): number => (a.since ?? '').localeCompare(b.since ?? '');
  // Of two that say the same, the one of which somebody has heard.
  const bestFirst = all.toSorted((a, b) => unheard(a) - unheard(b) || byAge(a, b));
  const byKey = new Map(bestFirst.toReversed().map((one) => [conditionKey(one), one]));
  const once = [...byKey.values()].toReversed().toSorted(byAge);
  const isCaused = (one: Condition): boolean => byKey.has(causeOf(one) ?? '');
  const place = ({ name }: Condition): number => CONDITION_NAMES.indexOf(name);
  return once
    .filter((one) => !isCaused(one))
    .toSorted((a, b) => place(a) - place(b))
    .map((one) => {
      const affected = once.filter((other) => causeOf(other) === conditionKey(one)).map(({ what }) => what);
      return affected.length === 0 ? one : { ...one, affected };
    });
};
