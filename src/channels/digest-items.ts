/** The items of a digest, one for each incident: what it says, and how urgent it is beside others of its severity. Pure. */
import type { Alert } from '../alert.ts';
import { mapSliced, type Sliced } from '../chunks.ts';
import { shorten } from '../text.ts';
import { parseTime } from '../time.ts';
import { dateAndTime } from './content/clock.ts';
import type { Content, Detection } from './content/content.ts';
import { describe, uniteReadings } from './content/describe.ts';
import type { Finding } from './content/finding.ts';
import { shortHex, UNKNOWN } from './content/foreign.ts';
import { headingOf } from './content/heading.ts';
import { chainText, remembersLong } from './content/lines.ts';
import { type Reading, readInspection, type Wording } from './content/reading.ts';
import { rankOf } from './content/severity.ts';
import { type DigestItem, HASH_LIMIT } from './digest-content.ts';
import { ranked, type Traits } from './digest-rank.ts';
import { incidentsOf } from './incidents.ts';

/** Longer texts state what matters at their beginning. */
const LOOKED_AT = 500;
/** A whole number as it is written, with separators of thousands or decimals: `1,100%` is not 100 %. */
const PERCENT = /(?<![\d.,])(\d+(?:[.,]\d+)*)\s?%/g;
const THOUSANDS = /^\d{1,3}(?:,\d{3})+(?=\.|$)/;

/** NaN for what is no number. A comma before three digits parts thousands, any other one decimals. */
const numberIn = (digits: string): number =>
  Number(THOUSANDS.test(digits) ? digits.replaceAll(',', '') : digits.replace(',', '.'));

/** The largest percentage up to 100 that a detector or a text states; 0 where none does. More than all of something is no share. */
export const statedPercent = (detections: readonly Pick<Detection, 'message'>[]): number =>
  Math.max(
    0,
    ...detections
      .filter(({ message }) => message.includes('%'))
      .flatMap(({ message }) => [...message.slice(0, LOOKED_AT).matchAll(PERCENT)])
      .map(([, digits = '']) => numberIn(digits))
      .filter((percent) => percent <= 100),
  );

const percentText = (percent: number): string => `${Math.round(percent)} %`;

/** What ranks it but its time; `now`: the time of sending, in epoch milliseconds. */
const traitsOf = ({ finding, detections, protocols }: Reading, now: number): Omit<Traits, 'urgency'> => {
  const { methods, contracts, origins, first, triggers } = finding;
  return {
    protocols,
    detectors: detections.map(({ id }) => id),
    contracts: contracts.map(({ name = '', at }) => at?.whole ?? name),
    methods: methods.map(({ name }) => name),
    origins: origins.map(({ whole }) => whole),
    isPrivileged: methods.some(({ isPrivileged }) => isPrivileged),
    isByAdmin: origins.some(({ adminOf = [] }) => adminOf.length > 0),
    isOriginNew: first.origin && remembersLong(first, now),
    isTriggered: triggers.length > 0,
    percent: statedPercent(detections),
  };
};

/** What every message shows of an item's words. */
const SEEN = 90;

type Worded = Pick<DigestItem, 'reasons' | 'happened' | 'detections' | 'message'>;

/** Whether the words that a message shows say it: those of all detectors in a line, or those of the first. */
const isStated = ({ happened, detections, message = '' }: Worded, reason: string): boolean => {
  if (!reason.endsWith(' %')) return false;
  const first = detections.find((one) => one.message !== '')?.message ?? message;
  return [happened, first].every((text) => percentText(statedPercent([{ message: text.slice(0, SEEN) }])) === reason);
};

export const NAME_LIMIT = 120;
export const HEADLINE_LIMIT = 240;
const IDS_LIMIT = 1000;
const DETECTORS_MAX = 11;

/** An alert as it is read: an inspection as a reading, a text as its content. */
export type Read = { alert: Alert; protocol: string; severity: string } & (
  | { reading: Reading; text?: never }
  | { reading?: never; text: Content }
);

/** Epoch milliseconds of the transaction, else of the item; NaN if neither can be read. */
export const timeOf = ({ item, at }: Alert): number =>
  [item.txTimestamp, at].map(parseTime).find((time) => !Number.isNaN(time)) ?? Number.NaN;

/** The earliest and the latest time in epoch milliseconds, without those that are NaN; NaN if all are. */
export const ends = (times: readonly number[]): { first: number; last: number } => {
  const read = times.filter((time) => !Number.isNaN(time)).toSorted((a, b) => a - b);
  return { first: read[0] ?? Number.NaN, last: read.at(-1) ?? Number.NaN };
};

/** Reads one alert for a digest: its worst part is worked out once, as counting and ranking both need it. */
export const readAlert = (alert: Alert, wording: Wording): Read => {
  if (alert.source === 'notifications') {
    const text = describe(alert, wording);
    return { alert, text, severity: text.severity, protocol: text.protocol };
  }
  const reading = readInspection(alert, wording);
  return { alert, reading, severity: reading.severity, protocol: reading.protocols[0] ?? UNKNOWN };
};

/** What turned worse is as urgent as what it is now; what turned better is news, and comes before what is merely ok. */
const urgencyOf = ({ alert, severity }: Read): number =>
  Math.min(rankOf(severity), alert.followUp ? rankOf('FOLLOW-UP') : Number.POSITIVE_INFINITY);

/** An item before it has its place. */
interface Candidate {
  alerts: readonly Alert[];
  item: Omit<DigestItem, 'reasons' | 'remarks' | 'alike'>;
  traits: Traits;
}

const detectorNames = (detections: readonly Detection[]): string[] => {
  const names = detections.map(({ name }) => shorten(name, NAME_LIMIT));
  const more = names.length - DETECTORS_MAX;
  return more > 1 ? [...names.slice(0, DETECTORS_MAX), `${more} more`] : names;
};

/** The transaction, as far as it is known. A stored notification names no chain. */
const transactionOf = (
  finding: Finding | undefined,
  { txHash }: Alert,
): Pick<DigestItem, 'hash' | 'shortHash' | 'url' | 'chain' | 'chainName'> => {
  const named = txHash === undefined ? undefined : { whole: txHash, short: shortHex(txHash), url: undefined };
  const { transaction = named, chain } = finding ?? {};
  return {
    hash: transaction && shorten(transaction.whole, HASH_LIMIT),
    shortHash: transaction?.short,
    url: transaction?.url,
    chain: chain && shorten(chainText({ chain }), NAME_LIMIT),
    chainName: chain?.name && shorten(chain.name, NAME_LIMIT),
  };
};

/** The part of an item that an inspection and a text have in different ways. */
const wordsOf = (readings: readonly Reading[], text: Content | undefined, { presentation, sentAt }: Wording) => {
  if (text !== undefined) {
    const { message, isOurs, protocol } = text;
    // What we announce is never ranked above another announcement.
    const percent = isOurs ? 0 : statedPercent([{ message: message ?? '' }]);
    return { heading: text, detections: [], message, traits: { protocols: [protocol], percent } };
  }
  const reading = uniteReadings(readings);
  const { finding, detections } = reading;
  return { heading: headingOf(reading, presentation), detections, finding, traits: traitsOf(reading, sentAt) };
};

const candidateOf = (incident: readonly Read[], wording: Wording, timeZone: string): Candidate => {
  const [first] = incident;
  if (first === undefined) throw new Error('an incident has at least one alert');
  const readings = incident.flatMap(({ reading }) => reading ?? []);
  const { heading, detections, message, finding, traits } = wordsOf(readings, first.text, wording);
  const { severity, tone, sign, title, happened, said, headline, protocol, gist } = heading;
  const { first: time } = ends(incident.map(({ alert }) => timeOf(alert)));
  const at = Number.isNaN(time) ? undefined : time;
  const item = {
    ...{ severity: shorten(severity, NAME_LIMIT), tone, sign, title, happened, said, gist, detections },
    headline: shorten(headline, HEADLINE_LIMIT),
    protocol: shorten(protocol, NAME_LIMIT),
    detectors: detectorNames(detections),
    message,
    isOurs: first.text?.isOurs ?? false,
    ...transactionOf(finding, first.alert),
    time: at === undefined ? UNKNOWN : dateAndTime(at, timeZone),
    at,
    ids: shorten(finding?.ids.join(', ') ?? first.alert.itemId, IDS_LIMIT),
  };
  const urgency = Math.min(...incident.map(urgencyOf));
  return { alerts: incident.map(({ alert }) => alert), item, traits: { ...traits, urgency, at } };
};

const sizeReasons = ({ percent }: Traits): string[] => (percent >= 1 ? [percentText(percent)] : []);

type Placed = Pick<Candidate, 'alerts'> & { item: Omit<DigestItem, 'remarks' | 'alike'> };

function* placed(all: readonly Read[], wording: Wording, timeZone: string): Sliced<Placed[]> {
  const byAlert = new Map(all.map((one) => [one.alert, one]));
  const incidents = incidentsOf(all.map(({ alert }) => alert));
  const candidates = yield* mapSliced(incidents, (alerts) =>
    candidateOf(
      alerts.flatMap((alert) => byAlert.get(alert) ?? []),
      wording,
      timeZone,
    ),
  );
  return (yield* ranked(candidates)).map(({ of: { alerts, item, traits }, reasons }) => ({
    alerts,
    item: { ...item, reasons: [...reasons, ...sizeReasons(traits)] },
  }));
}

/** Up to this many items that are alike have a line each. More become one line, or a flood would hide everything else. */
const FEW = 10;

/** Alike is what the same detectors found in one place, whatever they say, unless something ranks one before another. */
const keyOf = ({ title, said, detectors, reasons }: Placed['item']): string => {
  const found = detectors.length === 0 ? said : detectors.toSorted();
  return JSON.stringify([title, found, reasons.filter((reason) => !/^\d+ %$/.test(reason))]);
};

/** Nobody can tell from its words which of them is real. */
const copiesText = (alike: number): string => `one of ${alike.toLocaleString('en')}: the explorer has only real ones`;

/** One for each incident, the worst first. */
export function* itemsOf(all: readonly Read[], wording: Wording, timeZone: string): Sliced<DigestItem[]> {
  const items = (yield* placed(all, wording, timeZone)).map(({ item }) => item);
  const keys = new Map(items.map((item) => [item, keyOf(item)]));
  const same = Map.groupBy(items, (item) => keys.get(item));
  const alikeOf = (item: (typeof items)[number], all: typeof items): number =>
    all.length <= FEW ? 1 : item === all[0] ? all.length : 0;
  return yield* mapSliced(items, (item) => {
    const alike = alikeOf(item, same.get(keys.get(item)) ?? []);
    const copies = alike > 1 && item.url !== undefined ? [copiesText(alike)] : [];
    return { ...item, alike, remarks: [...copies, ...item.reasons.filter((reason) => !isStated(item, reason))] };
  });
}

/** The incidents of what one message does not hold, the worst first: so it is in the first one. */
export function* worstFirst(alerts: readonly Alert[], wording: Wording): Sliced<(readonly Alert[])[]> {
  const all = yield* mapSliced(alerts, (alert) => readAlert(alert, wording));
  return (yield* placed(all, wording, 'UTC')).map((one) => one.alerts);
}
