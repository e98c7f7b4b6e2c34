/**
 * What a person is told of many alerts at once, before any markup: how many, where, what, the worst first, and every
 * one of them by transaction hash. Strings are cleaned, not escaped; what was said may be long, all else is short and
 * one line.
 */
import { type Alert, contentId } from '../alert.ts';
import { shorten } from '../text.ts';
import { clockText } from '../time.ts';
import type { Chains } from './chains.ts';
import { type Content, type Detection, describe, UNKNOWN } from './content.ts';
import {
  commandOf,
  countsOf,
  ends,
  HEADLINE_LIMIT,
  NAME_LIMIT,
  noticeOf,
  periodOf,
  type Told,
  timeOf,
  titleOf,
} from './digest-head.ts';
import { rankOf, unite } from './incident-content.ts';
import { incidentsOf } from './incidents.ts';

export interface Count {
  name: string;
  count: number;
}

export interface CountTable {
  /** `Protocols`, `Detectors`, `Contracts`. */
  title: string;
  /** The most first; may be long, see `topOf`. */
  counts: Count[];
}

/** One incident: the alerts of one transaction, or one alert of another sort. */
export interface DigestItem {
  severity: string;
  /** `CRITICAL: Vault A: flashLoan`; stands alone. */
  headline: string;
  /** Several as `Vault A + 2 more`. */
  protocol: string;
  /** Names of those that fired; at most a dozen, the last then says how many more. */
  detectors: string[];
  detections: Detection[];
  /** The whole text of a stored notification; may be long and of several lines. */
  message?: string;
  /** In full; absent where the alert names no transaction. */
  hash?: string;
  /** The transaction at its explorer. */
  url?: string;
  /** `Base (8453)`; absent where there is no transaction. */
  chain?: string;
  /** `2026-11-20 10:07:31 UTC`: of the transaction, else when the service wrote it. */
  time: string;
  /** The service's ids of the inspections or of the notification. */
  ids: string;
}

export interface DigestContent {
  /** 8 hex digits; the same alerts have the same. */
  id: string;
  /** `title`, and which is the worst. */
  headline: string;
  /** `120 alerts in 3 protocols: 118 critical, 2 notifications`, or `120 critical alerts in Vault A`. */
  title: string;
  /** Of the worst. */
  severity: string;
  /** Alerts, not items: several alerts of one transaction are one item. */
  alerts: number;
  /** `2026-11-20 10:07:12 to 10:12:31 UTC` */
  span: string;
  /** Why these are not told one by one. */
  why: string;
  /** Why the reader gets them by another way or again, or absent. */
  notice?: string;
  tables: CountTable[];
  /** Worst first: by severity, then more detectors, then older. */
  items: DigestItem[];
  /** The command that lists all of these, for a place that cannot. */
  command: string;
}

const HASH_LIMIT = 200;
const IDS_LIMIT = 1000;
const DETECTORS_MAX = 11;

const WHY = 'Gathered into one message as they came together, or faster than this channel carries single ones.';

/** The first of a table, and how many more rows it has. */
export const topOf = ({ counts }: CountTable, limit = 10): { rows: Count[]; more: number } => ({
  rows: counts.slice(0, limit),
  more: Math.max(0, counts.length - limit),
});

/** What an item is known by: its transaction's hash, else the ids. */
export const nameOf = ({ hash, ids }: DigestItem): string => hash ?? shorten(ids, HASH_LIMIT);

/** What turned critical after people were told of it is as urgent as what is critical. */
const urgencyOf = ({ alert, content }: Told): number =>
  alert.followUp?.is === 'critical' ? rankOf('CRITICAL') : rankOf(content.severity);

const itemOf = (told: readonly Told[]): DigestItem & { at: number; rank: number } => {
  const alerts = told.map(({ alert }) => alert);
  const content = unite(
    told.map((one) => one.content),
    alerts.some(({ replay }) => replay),
  );
  const fact = (label: string) => content.facts.find((each) => each.label === label);
  const names = content.detections.map(({ name }) => shorten(name, NAME_LIMIT));
  const more = names.length - DETECTORS_MAX;
  const hash = fact('Transaction');
  const chain = fact('Chain');
  const { first } = ends(alerts.map(timeOf));
  return {
    severity: shorten(content.severity, NAME_LIMIT),
    headline: shorten(content.headline, HEADLINE_LIMIT),
    protocol: shorten(content.protocol, NAME_LIMIT),
    detectors: more > 1 ? [...names.slice(0, DETECTORS_MAX), `${more} more`] : names,
    detections: content.detections,
    ...(content.message === undefined ? {} : { message: content.message }),
    ...(hash && hash.value !== UNKNOWN ? { hash: shorten(hash.value, HASH_LIMIT) } : {}),
    ...(hash?.url === undefined ? {} : { url: hash.url }),
    ...(chain ? { chain: shorten(chain.value, NAME_LIMIT) } : {}),
    time: Number.isNaN(first) ? UNKNOWN : clockText(first),
    ids: shorten((fact('Inspection') ?? fact('Notification'))?.value ?? UNKNOWN, IDS_LIMIT),
    at: first,
    rank: Math.min(...told.map(urgencyOf)),
  };
};

const itemsOf = (told: readonly Told[]): DigestItem[] => {
  const byAlert = new Map(told.map((one) => [one.alert, one]));
  return incidentsOf(told.map(({ alert }) => alert))
    .map((alerts) => itemOf(alerts.flatMap((alert) => byAlert.get(alert) ?? [])))
    .toSorted((a, b) => a.rank - b.rank || b.detections.length - a.detections.length || (a.at || 0) - (b.at || 0))
    .map(({ at: _at, rank: _rank, ...item }) => item);
};

const assetsOf = ({ facts }: Content): string[] => {
  const assets = facts.find(({ label }) => label === 'Assets');
  return (assets?.items ?? [assets?.value ?? UNKNOWN]).filter((asset) => asset !== UNKNOWN);
};

/** A detector counts once an alert. */
const tablesOf = (contents: readonly Content[]): CountTable[] =>
  [
    { title: 'Protocols', counts: countsOf(contents.map(({ protocol }) => protocol)) },
    { title: 'Detectors', counts: countsOf(contents.flatMap(({ detections }) => detections.map(({ name }) => name))) },
    { title: 'Contracts', counts: countsOf(contents.flatMap((content) => [...new Set(assetsOf(content))])) },
  ].filter(({ counts }) => counts.length > 0);

/** Everything a person is told of many alerts. Pure. */
export const describeDigest = (alerts: readonly Alert[], chains: Chains, sentAt: string): DigestContent => {
  const told = alerts.map((alert) => ({ alert, content: describe(alert, chains, sentAt) }));
  const tables = tablesOf(told.map(({ content }) => content));
  const items = itemsOf(told);
  const [worst] = items;
  const [severity] = told.map(({ content }) => content.severity).toSorted((a, b) => rankOf(a) - rankOf(b));
  if (worst === undefined || severity === undefined) throw new Error('a digest has at least one alert');
  const replay = alerts.every((alert) => alert.replay);
  const title = titleOf(told, tables[0]?.counts ?? [], replay);
  return {
    id: contentId('digest', ...alerts.map(({ id }) => id).toSorted()).slice(0, 8),
    headline: `${title}; worst: ${worst.headline}`,
    title,
    severity: shorten(severity, NAME_LIMIT),
    alerts: alerts.length,
    span: periodOf(alerts),
    why: WHY,
    ...noticeOf(alerts),
    tables,
    items,
    command: commandOf(alerts),
  };
};
