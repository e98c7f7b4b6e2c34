/** The first lines of a digest: how many alerts, where, when, and why they come this way. */
import { type Alert, TOCSIN } from '../alert.ts';
import { cleanLine, shorten } from '../text.ts';
import { iso, parseTime } from '../time.ts';
import { spanLine } from './content/clock.ts';
import type { Line } from './content/content.ts';
import { UNKNOWN } from './content/foreign.ts';
import type { Presentation } from './content/presentation.ts';
import { assessmentWord, rankOf } from './content/severity.ts';
import type { Count } from './digest-content.ts';

export const NAME_LIMIT = 120;
export const HEADLINE_LIMIT = 240;
const NOTICE_LIMIT = 400;
const NOTICES_MAX = 5;

/** An alert, as far as a digest counts it. */
export interface CountedAlert {
  alert: Alert;
  severity: string;
}

/** How often each name occurs, the most frequent first. */
export const countsOf = (names: readonly string[], limit = NAME_LIMIT): Count[] =>
  [...Map.groupBy(names, (name) => shorten(name, limit))]
    .map(([name, same]) => ({ name, count: same.length }))
    .toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));

/** Epoch milliseconds of the transaction, else of the item; NaN if neither can be read. */
export const timeOf = ({ item, at }: Alert): number =>
  [item.txTimestamp, at].map(parseTime).find((time) => !Number.isNaN(time)) ?? Number.NaN;

/** The earliest and the latest time in epoch milliseconds, without those that are NaN; NaN if all are. */
export const ends = (times: readonly number[]): { first: number; last: number } => {
  const read = times.filter((time) => !Number.isNaN(time)).toSorted((a, b) => a - b);
  return { first: read[0] ?? Number.NaN, last: read.at(-1) ?? Number.NaN };
};

/** The time zone of the alerts' protocols where all have the same, else the config's. */
export const zoneOf = (alerts: readonly Alert[], { timeZoneOf }: Pick<Presentation, 'timeZoneOf'>): string => {
  const [zone = timeZoneOf(TOCSIN), ...others] = new Set(alerts.map(({ protocol }) => timeZoneOf(protocol)));
  return others.length === 0 ? zone : timeZoneOf(TOCSIN);
};

/** From the first to the last, as people read it. */
export const periodOf = (alerts: readonly Alert[], timeZone: string): Line => {
  const { first, last } = ends(alerts.map(timeOf));
  return Number.isNaN(first) ? [{ text: UNKNOWN }] : spanLine(first, last, timeZone);
};

/** The command that lists these alerts. `--since` and `--until` are exclusive. Only times go in, no text from outside. */
export const commandOf = (alerts: readonly Alert[]): string => {
  const { first, last } = ends(alerts.map(({ at }) => parseTime(at)));
  if (Number.isNaN(first)) return 'tocsin replay --since 24h --dry-run';
  const moment = (time: number): string => iso(time).replace(/\.\d+Z$/, 'Z');
  return `tocsin replay --since ${moment(first - 1000)} --until ${moment(last + 2000)} --dry-run`;
};

/** `2 notifications`, `118 critical`, and with `alone` `118 critical alerts`. */
const severityText = ({ name, count }: Count, alone: boolean): string => {
  const noun = /^(NOTIFICATION|FOLLOW-UP)$/.test(name);
  const plural = count === 1 ? '' : 's';
  const counted = count.toLocaleString('en');
  if (noun) return `${counted} ${name.toLowerCase()}${plural}`;
  return `${counted} ${name.toLowerCase()}${alone ? ` alert${plural}` : ''}`;
};

/** What turned worse counts as what it is now; what turned better, or is gone, is no new finding. */
const countedAs = ({ alert: { followUp }, severity }: CountedAlert): string =>
  followUp === undefined || rankOf(severity) < rankOf(assessmentWord(followUp.was).toUpperCase())
    ? severity
    : 'FOLLOW-UP';

/** How many alerts, where, and how severe. */
export const titleOf = (counted: readonly CountedAlert[], protocols: readonly Count[], replay: boolean): string => {
  const severities = countsOf(counted.map(countedAs)).toSorted((a, b) => rankOf(a.name) - rankOf(b.name));
  const where = protocols.length === 1 ? (protocols[0]?.name ?? UNKNOWN) : `${protocols.length} protocols`;
  const alone = severities.length === 1;
  const each = severities.map((severity) => severityText(severity, alone)).join(', ');
  const what = alone ? `${each} in ${where}` : `${counted.length.toLocaleString('en')} alerts in ${where}: ${each}`;
  return shorten(replay ? `REPLAY: ${what}` : what, HEADLINE_LIMIT);
};

/** Why they come in an unusual way or again; with a count for a reason that does not hold for all. */
export const noticeOf = (alerts: readonly Alert[]): { notice?: string } => {
  const given = alerts.flatMap(({ notice }) => (notice === undefined ? [] : cleanLine(notice)));
  const reasons = countsOf(given, NOTICE_LIMIT);
  const texts = reasons
    .slice(0, NOTICES_MAX)
    .map(({ name, count }) => (count === alerts.length ? name : `${count} of them: ${name}`));
  const more = reasons.length - NOTICES_MAX;
  const replay = alerts.some((alert) => alert.replay);
  const truncated = alerts.filter(({ truncatedFrom }) => truncatedFrom !== undefined).length;
  const notices = [
    ...texts,
    ...(truncated > 0 ? [`Of ${truncated} only a part is here: the service gave too much of them.`] : []),
    ...(more > 0 ? [`And ${more} more reason${more === 1 ? '' : 's'}.`] : []),
    ...(replay ? ['Replay: these were found earlier and are forwarded again.'] : []),
  ];
  return notices.length > 0 ? { notice: notices.join(' ') } : {};
};
