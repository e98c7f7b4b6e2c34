/** The items of a digest: one for each incident, the worst first. */
import type { Alert } from '../alert.ts';
import { mapSliced, type Sliced } from '../slices.ts';
import { shorten } from '../text.ts';
import { dateAndTime } from './content/clock.ts';
import type { Content, Detection } from './content/content.ts';
import { describe } from './content/describe.ts';
import { chainText } from './content/details.ts';
import { UNKNOWN } from './content/field.ts';
import type { Finding } from './content/finding.ts';
import { headingOf } from './content/heading.ts';
import { uniteReadings } from './content/incident.ts';
import { shortHex } from './content/names.ts';
import { type Reading, readInspection, type Wording } from './content/reading.ts';
import { rankOf } from './content/severity.ts';
import { type DigestItem, HASH_LIMIT } from './digest-content.ts';
import { ends, HEADLINE_LIMIT, NAME_LIMIT, timeOf } from './digest-head.ts';
import { rankOfFinding, rankOfText, remarksBeside } from './digest-rank.ts';
import { incidentsOf } from './incidents.ts';

const IDS_LIMIT = 1000;
const DETECTORS_MAX = 11;

/** An alert as it is read: an inspection as a reading, a text as its content. */
export type Read = { alert: Alert; protocol: string; severity: string } & (
  | { reading: Reading; text?: never }
  | { reading?: never; text: Content }
);

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

interface RankedItem extends Omit<DigestItem, 'remarks'> {
  urgency: number;
  score: number;
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
    ...(transaction === undefined
      ? {}
      : { hash: shorten(transaction.whole, HASH_LIMIT), shortHash: transaction.short }),
    ...(transaction?.url === undefined ? {} : { url: transaction.url }),
    ...(chain === undefined ? {} : { chain: shorten(chainText({ chain }), NAME_LIMIT) }),
    ...(chain?.name === undefined ? {} : { chainName: shorten(chain.name, NAME_LIMIT) }),
  };
};

/** The part of an item that an inspection and a text have in different ways. */
const wordsOf = (readings: readonly Reading[], text: Content | undefined, { presentation, sentAt }: Wording) => {
  if (text !== undefined) return { heading: text, detections: [], message: text.message, rank: rankOfText(text) };
  const reading = uniteReadings(readings);
  const { finding, detections } = reading;
  return {
    heading: headingOf(reading, presentation),
    detections,
    finding,
    rank: rankOfFinding(finding, detections, sentAt),
  };
};

const itemOf = (incident: readonly Read[], wording: Wording, timeZone: string): RankedItem => {
  const [first] = incident;
  if (first === undefined) throw new Error('an incident has at least one alert');
  const readings = incident.flatMap(({ reading }) => reading ?? []);
  const { heading, detections, message, finding, rank } = wordsOf(readings, first.text, wording);
  const { severity, tone, sign, title, happened, headline, protocol } = heading;
  const { first: at } = ends(incident.map(({ alert }) => timeOf(alert)));
  return {
    ...{ severity: shorten(severity, NAME_LIMIT), tone, sign, title, happened, detections },
    headline: shorten(headline, HEADLINE_LIMIT),
    protocol: shorten(protocol, NAME_LIMIT),
    reasons: rank.reasons,
    detectors: detectorNames(detections),
    ...(message === undefined ? {} : { message }),
    ...transactionOf(finding, first.alert),
    time: Number.isNaN(at) ? UNKNOWN : dateAndTime(at, timeZone),
    ids: shorten(finding?.ids.join(', ') ?? first.alert.itemId, IDS_LIMIT),
    ...(Number.isNaN(at) ? {} : { at }),
    urgency: Math.min(...incident.map(urgencyOf)),
    score: rank.score,
  };
};

const byUrgency = (a: RankedItem, b: RankedItem): number =>
  a.urgency - b.urgency || b.score - a.score || b.detections.length - a.detections.length || (a.at ?? 0) - (b.at ?? 0);

/** One for each incident, the worst first. */
export function* itemsOf(all: readonly Read[], wording: Wording, timeZone: string): Sliced<DigestItem[]> {
  const byAlert = new Map(all.map((one) => [one.alert, one]));
  const incidents = incidentsOf(all.map(({ alert }) => alert));
  const items = yield* mapSliced(incidents, (alerts) =>
    itemOf(
      alerts.flatMap((alert) => byAlert.get(alert) ?? []),
      wording,
      timeZone,
    ),
  );
  yield;
  items.sort(byUrgency);
  const remarksOf = remarksBeside(items);
  return yield* mapSliced(items, ({ urgency: _urgency, score: _score, ...item }) => ({
    ...item,
    remarks: remarksOf(item),
  }));
}
