/**
 * The words of Tocsin, as types. This list is the whole glossary: every other file uses these names and no synonyms.
 *
 * What is read
 *   service      the monitoring API, as one API key sees it; an entry of `services` in the config
 *   protocol     a named group of contracts there
 *   inspection   the service's verdict on one transaction: detectors that fired, and an assessment
 *   notification a message about a protocol that the service keeps (a stored notification)
 *   item         an inspection or a stored notification, as read
 *   source       inspections or notifications
 *   stream       what one request can read: one protocol's inspections, or the notifications of several protocols
 *   track        one source of one protocol of one service; each has a cursor
 *   page         one answer of the service; dispatch gets the new alerts of one track on it together
 *   cursor       up to where a track's items are durably queued
 *   sweep        a poll that also reads the lookback window again, for late items
 *   catalog      the last good listing of a service's protocols
 *   recheck      reads an inspection again later, to see whether its assessment has changed
 *   turn         one run of work on a timer; of what daemons share, one of them takes it
 *
 * What is sent
 *   alert        an item that somebody should hear of
 *   follow-up    an alert that says how the assessment of an earlier alert has changed
 *   announcement a message of Tocsin itself, as an alert
 *   sample       the alert of a test message
 *   replay       forwards history again, under the same identities
 *   channel kind email, telegram, slack or webhook
 *   destination  one address of a channel kind: a mailbox, a chat, a Slack channel, a URL
 *   sender       the token or mail server that all destinations of a kind share
 *   delivery     one alert on its way to one destination; ends delivered, muted or dead
 *   parcel       new alerts of one page for one destination; one job of the queue
 *   attempt      one try to send one message
 *   handle       how a channel finds a sent message again, to reply to it or to amend it: to change it in place
 *   incident     alerts of one transaction; people get them as one message
 *   digest       one message for more than five incidents
 *   storm        digests in a row at one destination
 *
 * What holds it up
 *   routes       the destinations of an alert, by its protocol's channels; without any it is unroutable
 *   mute         hides alerts for a time; when it ends, one report lists what it hid
 *   mute window  a mute of the config that repeats by the clock
 *   hold         keeps alerts until somebody approves their destination
 *   suppression  mutes and holds together
 *   covered      another alert says the same at the same destination, so no message is sent; correlation finds this
 *   fallback     gets alerts that no human channel has accepted in time, and those that are dead, unroutable or held
 *   send slot    a moment at which a destination's rate limit allows a message
 *   line         the messages of one protocol that wait for send slots of one destination; lines take turns
 *   ticket       a message's number in its line
 *   batch        alerts that wait together for a destination's next send slot, or for more; sealed when they are sent
 *   group wait   how long a batch waits for more after it is opened; of mails, Discord and Teams
 *   fairness key whose turn something takes: its protocol; who was served least is next, see `queue/fairness.ts`
 *   place        one running job of a worker; protocols and destinations share them, see `queue/places.ts`
 *   circuit      opens after failures in a row: alerts for the destination wait, and single probes go out
 *   outage       a circuit that is open and announced
 *
 * What is recorded
 *   ledger       what became of each alert at each destination
 *   dead letter  a delivery that failed for good, kept until somebody retries or drops it
 *   audit        compares the service's list with the ledger
 */
import { cleanLine, quotedName } from './text.ts';

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** A map, such as a `JsonObject`: neither null nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const CHANNEL_KINDS = ['email', 'telegram', 'slack', 'webhook'] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

/** How much markup a message has: after `bad-message` the same alerts are composed one step plainer. */
export const FORMATS = ['rich', 'plain', 'minimal'] as const;
export type Format = (typeof FORMATS)[number];

/** `email, telegram, slack or webhook` */
export const KINDS_TEXT = `${CHANNEL_KINDS.slice(0, -1).join(', ')} or ${CHANNEL_KINDS.at(-1)}`;

export const isChannelKind = (name: unknown): name is ChannelKind => CHANNEL_KINDS.some((kind) => kind === name);

const READERS = {
  email: 'people',
  telegram: 'people',
  slack: 'people',
  webhook: 'programs',
} as const satisfies Record<ChannelKind, 'people' | 'programs'>;

/** A kind that people read. */
export type HumanKind = { [Kind in ChannelKind]: (typeof READERS)[Kind] extends 'people' ? Kind : never }[ChannelKind];

export const onceEach = <T extends Pick<Destination, 'id'>>(destinations: readonly T[]): T[] => [
  ...new Map(destinations.map((one) => [one.id, one])).values(),
];

export const isHuman = ({ kind }: { kind: string }): boolean => isChannelKind(kind) && READERS[kind] === 'people';

export const SOURCES = ['inspections', 'notifications'] as const;
export type Source = (typeof SOURCES)[number];

/** What helps people to decide; found once, when an inspection's alert is dispatched. What is absent is not known. */
export interface AlertContext {
  /** How many trigger groups the service lists for the assessment, and the first all of whose detectors fired. */
  trigger?: { groups: number; matched?: { number: number; detectors: string[] } };
  /** Names of the touched assets that have the transaction's origin as an admin. */
  adminOf?: string[];
  /** ISO 8601: since when it is an admin of one of them, where that is recent. */
  adminSince?: string;
  /** Names of the touched assets whose privileged method was invoked. */
  privilegedOn?: string[];
  /** Whether origin and set of detectors are alerted for the first time for the protocol, as remembered since (ISO 8601). */
  first?: { since: string; origin?: boolean; detectors?: boolean };
  /** ISO 8601: since when the service lists the protocol, as far as is known. */
  listedSince?: string;
}

/** How an assessment changed after people got its alert. */
export const CHANGES = ['downgraded', 'upgraded', 'vanished'] as const;
export type Change = (typeof CHANGES)[number];

/** Makes an alert a follow-up: people had an alert of the same item before. */
export interface FollowUp {
  /** The first alert's id. */
  of: string;
  /** The assessment in the last message to people. */
  was: string;
  /** What it is now; absent where the service lists the item no more. */
  is?: string;
}

/** How an assessment changed after a message about it was sent. */
export type Reassessment = Pick<FollowUp, 'was' | 'is'>;

export interface Alert {
  /** Stable identity of the item, see `alertId` in `item.ts`; of a follow-up, see `followUpId`. */
  id: string;
  source: Source;
  /** Name of the `services` entry it was read from. */
  service: string;
  protocol: string;
  /**
   * `inspection.ASSESSMENT`, `inspection.CHANGE`, `notification.created`, `tocsin.ANNOUNCEMENT` or `test.sample`; the
   * webhook's `type`.
   */
  type: string;
  /** The service's own id of the item; for items without one, derived from their content. */
  itemId: string;
  /** Of the announcement of a change, at its deadline: the fallback hears of it unless one of these destinations has. */
  readers?: readonly Destination['id'][];
  /** ISO 8601: when the service wrote the item. */
  at: string;
  /** ISO 8601: when this daemon first read it. */
  readAt: string;
  /** Lower-cased transaction hash, where the item names one. */
  txHash?: string;
  /** The item exactly as the service gave it, unless it was truncated. */
  item: JsonObject;
  /** Bytes of the whole item, where it was too large and only a part of it is here; see `boundItem` in `item.ts`. */
  truncatedFrom?: number;
  /** True where an operator replays history. */
  replay: boolean;
  /** Present where it follows an alert of the same item. */
  followUp?: FollowUp;
  /** In an announcement about an alert: that alert's id. It is sent below its message. */
  below?: string;
  /** Present in an alert whose message is changed to say so; people had it as `was` says. */
  reassessed?: Reassessment;
  /** Inspections only. */
  context?: AlertContext;
  /** Why the fallback gets it, in a sentence without secrets; shown to the reader below what happened. */
  notice?: string;
}

/** Messages of Tocsin itself. They are queued, recorded and retried like alerts. */
export const ANNOUNCEMENTS = [
  'destination.broken',
  'destination.well',
  'destination.moved',
  'destination.new',
  'alert.acknowledged',
  'mute.ended',
  'service.unread',
  'service.read',
  'protocol.changed',
  'protocol.silent',
  'protocol.heard',
  'trouble.begun',
  'trouble.over',
  'storm.over',
] as const;
export type Announcement = (typeof ANNOUNCEMENTS)[number];

/** Service and protocol of an announcement. */
export const TOCSIN = 'Tocsin';

export const isAnnouncement = ({ type }: Pick<Alert, 'type'>): boolean => type.startsWith('tocsin.');

const PLAYED_DOWN: readonly string[] = ['inspection.downgraded', 'inspection.vanished'];

/** A follow-up by which a finding is less bad than people had it, or is listed no more. Only our own words decide it. */
export const isPlayedDown = ({ followUp, type }: Pick<Alert, 'followUp' | 'type'>): boolean =>
  followUp !== undefined && PLAYED_DOWN.includes(type);

/** Sent by an operator to see that alerts arrive. */
export const isSample = ({ type }: Pick<Alert, 'type'>): boolean => type === 'test.sample';

/** From the service to the reader, now: a replayed alert is old by intention; samples and announcements are our own. */
export const hasTravelled = (alert: Pick<Alert, 'type' | 'replay'>): boolean =>
  !alert.replay && !isSample(alert) && !isAnnouncement(alert);

export interface Destination {
  /** `KIND-HASH`; safe in logs, metrics and keys. */
  id: string;
  kind: ChannelKind;
  /** What the channel sends to. May hold a secret (a webhook's path): never log it, log `label`. */
  address: string;
  /** Readable and free of secrets. */
  label: string;
}

/** One word, as Slack has it. */
const CHANNEL_NAME = /^#[\p{L}\p{N}_.-]+$/u;

/**
 * A destination's label as people read it, with what its provider calls it where that is known: `#alerts (C024BE91L)`. A
 * title of several words is from outside, and must not pass for a sentence of ours: `“On call” (-100123)`. The name is
 * looked up for a display and never recorded; see `features/names`.
 */
export const shownLabel = (one: Pick<Destination, 'label'> & { name?: string | undefined }): string =>
  one.name === undefined || one.name === one.label ? one.label : `${shownName(one)} (${one.label})`;

/** The same without the label, where the name is known. */
export const shownName = ({
  label,
  name = label,
}: Pick<Destination, 'label'> & { name?: string | undefined }): string =>
  name === label || CHANNEL_NAME.test(name) ? name : quotedName(name);

export interface Parcel {
  destination: Destination;
  alerts: Alert[];
}

/** An inspection that a destination was sent or is about to be sent, and what the service says of it now. */
export interface SentInspection {
  /** The id of its first alert. */
  alert: Alert['id'];
  protocol: string;
  /** What the service says now; absent where it lists it no more. */
  assessment?: string;
  /** It was sent there; else it is on its way. */
  isSent: boolean;
}

/** By transaction: all that a destination has of it. */
export type SentInspections = ReadonlyMap<string, readonly SentInspection[]>;

/** A detector fired with any status but `notDetected`, also with one that nobody documented. */
export const hasFired = (detection: JsonValue | undefined): boolean =>
  !(typeof detection === 'object' && detection !== null && 'status' in detection && detection.status === 'notDetected');

/** What each detector that fired says, by its name; a stored notification has none. */
const firedIn = ({
  source,
  item: { detections },
}: Pick<Alert, 'source' | 'item'>): [name: string, said: JsonValue][] =>
  source === 'inspections' && typeof detections === 'object' && detections !== null
    ? Object.entries(detections).filter(([, detection]) => hasFired(detection))
    : [];

/** Names of the detectors that fired; a stored notification has none. */
export const firedDetectors = (alert: Pick<Alert, 'source' | 'item'>): string[] => firedIn(alert).map(([name]) => name);

/** The same with what each says: two alerts with one text in common have one detector that found the same. */
export const firedTexts = (alert: Pick<Alert, 'source' | 'item'>): string[] =>
  firedIn(alert).map((one) => JSON.stringify(one));

/** Protocols of two services with one name are two. */
export const protocolKey = ({ service, protocol }: Pick<Alert, 'service' | 'protocol'>): string =>
  `${service}/${protocol}`;

/** Of protocols, detectors and destinations an empty list fits all; at least one of them is not empty. */
export interface Mute {
  /** `mute-HEX` by hand, `window-HEX` by the config. */
  id: string;
  /** Globs on the name. */
  protocols: readonly string[];
  /** Globs on the name. */
  detectors: readonly string[];
  /** Ids or labels. */
  destinations: readonly string[];
  reason: string;
  /** Who added it, as they said or as their machine calls them; not of windows. */
  author?: string;
  from: string;
  /** Excluded. */
  until: string;
}

/** A name of several words is from outside, and must not pass for words of ours. */
const scopeName = (name: string): string => (/\s/.test(name) ? quotedName(cleanLine(name)) : cleanLine(name));

const some = (word: string, names: readonly string[]): string[] =>
  names.length === 0 ? [] : [`${word}${names.length === 1 ? '' : 's'} ${names.map(scopeName).join(', ')}`];

/** What a mute hides: `protocol “Lending Pool”; detectors flashLoan, mixer`. */
export const scopeText = ({
  protocols,
  detectors,
  destinations,
}: Pick<Mute, 'protocols' | 'detectors' | 'destinations'>): string =>
  [...some('protocol', protocols), ...some('detector', detectors), ...some('destination', destinations)].join('; ');

/** A mute as the operator log names it. */
export const muteFacts = (mute: Mute) => {
  const { id, reason, author, until } = mute;
  return { mute: id, what: scopeText(mute), reason, ...(author === undefined ? {} : { author }), until };
};
