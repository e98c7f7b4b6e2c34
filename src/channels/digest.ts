/** Makes the content of a digest from its alerts: title, span and notice, counts, and the items. Pure. */
import { type Alert, TOCSIN } from '../alert.ts';
import { mapSliced, type Sliced, slice } from '../chunks.ts';
import { contentId } from '../item.ts';
import { cleanLine, quotedName, shorten } from '../text.ts';
import { iso, parseTime } from '../time.ts';
import type { Storm } from './channel.ts';
import { spanLine } from './content/clock.ts';
import { type Line, lineText } from './content/content.ts';
import { UNKNOWN } from './content/foreign.ts';
import type { Presentation } from './content/presentation.ts';
import type { Reading, Wording } from './content/reading.ts';
import { aroundSign, assessmentWord, rankOf, signOf } from './content/severity.ts';
import type { Count, CountTable, DigestContent } from './digest-content.ts';
import { ends, HEADLINE_LIMIT, itemsOf, NAME_LIMIT, type Read, readAlert, timeOf } from './digest-items.ts';

const NOTICE_LIMIT = 400;
const NOTICES_MAX = 5;

/** How often each name occurs, the most frequent first. */
const countsOf = (names: readonly string[], limit = NAME_LIMIT): Count[] =>
  [...Map.groupBy(names, (name) => shorten(name, limit))]
    .map(([name, same]) => ({ name, count: same.length }))
    .toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));

/** The time zone of the alerts' protocols where all have the same, else the config's. */
const zoneOf = (alerts: readonly Alert[], { timeZoneOf }: Pick<Presentation, 'timeZoneOf'>): string => {
  const [zone = timeZoneOf(TOCSIN), ...others] = new Set(alerts.map(({ protocol }) => timeZoneOf(protocol)));
  return others.length === 0 ? zone : timeZoneOf(TOCSIN);
};

/** From the first to the last, as people read it. */
const periodOf = (alerts: readonly Alert[], timeZone: string): Line => {
  const { first, last } = ends(alerts.map(timeOf));
  return Number.isNaN(first) ? [{ text: UNKNOWN }] : spanLine(first, last, timeZone);
};

/** The command that lists these alerts. `--since` and `--until` are exclusive. Only times go in, no text from outside. */
const commandOf = (alerts: readonly Alert[]): string => {
  const { first, last } = ends(alerts.map(({ at }) => parseTime(at)));
  if (Number.isNaN(first)) return 'tocsin replay --since 24h --dry-run';
  const moment = (time: number): string => iso(time).replace(/\.\d+Z$/, 'Z');
  return `tocsin replay --since ${moment(first - 1000)} --until ${moment(last + 2000)} --dry-run`;
};

/** `2 notifications`, `118 critical`, and with `alone` `118 critical alerts`. */
const severityText = ({ name, count }: Count, alone: boolean): string => {
  const plural = count === 1 ? '' : 's';
  const counted = `${count.toLocaleString('en')} ${name.toLowerCase()}`;
  if (/^(NOTIFICATION|FOLLOW-UP)$/.test(name)) return `${counted}${plural}`;
  return alone ? `${counted} alert${plural}` : counted;
};

/** What turned worse counts as what it is now; what turned better, or is gone, is no new finding. */
const countedAs = ({ alert: { followUp }, severity }: Pick<Read, 'alert' | 'severity'>): string =>
  followUp === undefined || rankOf(severity) < rankOf(assessmentWord(followUp.was).toUpperCase())
    ? severity
    : 'FOLLOW-UP';

/** How many alerts, where, and how severe; and how many alone. */
const titlesOf = (
  counted: readonly Pick<Read, 'alert' | 'severity'>[],
  protocols: readonly Count[],
  replay: boolean,
  soFar: string,
): Pick<DigestContent, 'title' | 'lead'> => {
  const severities = countsOf(counted.map(countedAs)).toSorted((a, b) => rankOf(a.name) - rankOf(b.name));
  const where = protocols.length === 1 ? quotedName(protocols[0]?.name ?? UNKNOWN) : `${protocols.length} protocols`;
  const alone = severities.length === 1;
  const each = severities.map((severity) => severityText(severity, alone)).join(', ');
  const all = counted.length.toLocaleString('en');
  const what = alone ? `${each} in ${where}` : `${all} alerts in ${where}: ${each}`;
  const said = (text: string): string => shorten(replay ? `Old alerts: ${text}` : text, HEADLINE_LIMIT);
  return {
    title: said(`${what}${soFar}`),
    lead: said(`${all} alerts${soFar === '' ? '' : ` (${soFar.replace(/^, /, '')})`}`),
  };
};

/** Why they come in an unusual way or again; with a count for a reason that does not hold for all. */
const noticeOf = (alerts: readonly Alert[]): string | undefined => {
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
    ...(replay
      ? ['Old alerts: one of your operators had Tocsin send them again. See whether they were dealt with.']
      : []),
  ];
  return notices.length === 0 ? undefined : notices.join(' ');
};

type Named = Pick<Count, 'name' | 'url'>;

const contractsOf = ({ finding }: Reading): Named[] => {
  const named = finding.contracts.map(({ name, at }) => {
    if (at === undefined) return { name: name ?? UNKNOWN };
    return { name: name === undefined ? at.whole : `${name} (${at.whole})`, url: at.url };
  });
  return [...new Map(named.map((one) => [one.name, one])).values()];
};

/** Linked: the explorer's page of a contract or a sender has no transaction that somebody made up. */
function* linkedTable(title: string, namedOf: () => Named[]): Sliced<CountTable> {
  const named = yield* slice(namedOf);
  const urls = new Map(named.map(({ name, url }) => [name, url]));
  const counts = yield* slice(() => countsOf(named.map(({ name }) => name)));
  return { title, counts: counts.map((count) => ({ ...count, url: urls.get(count.name) })) };
}

/** Protocols, detectors, contracts and origins, those that are involved. A detector counts once for each alert. */
function* tablesOf(all: readonly Read[]): Sliced<CountTable[]> {
  const readings = all.flatMap(({ reading }) => reading ?? []);
  const protocols = yield* slice(() => countsOf(all.map(({ protocol }) => protocol)));
  const detectors = yield* slice(() =>
    countsOf(readings.flatMap(({ detections }) => detections.map(({ name }) => name))),
  );
  return [
    { title: 'Protocols', counts: protocols },
    { title: 'Detectors', counts: detectors },
    yield* linkedTable('Contracts', () => readings.flatMap(contractsOf)),
    yield* linkedTable('Senders', () =>
      readings.flatMap(({ finding }) => finding.origins.map(({ whole, url }) => ({ name: whole, url }))),
    ),
  ].filter(({ counts }) => counts.length > 0);
}

const WHY = 'Too many at once for single messages. The worst comes first: start there.';

/** From the second digest in a row on, a reader wants to know how much of it there is: the count of this one is no total. */
const stormText = (storm: Storm | undefined): { soFar: string; why: string } =>
  storm === undefined || storm.message < 2
    ? { soFar: '', why: WHY }
    : {
        soFar: `, ${storm.alerts.toLocaleString('en')} so far`,
        why: `Storm, message ${storm.message}. The worst comes first: start there.`,
      };

/** Everything that people read about many alerts. `storm`: which digest in a row it is. Pure. */
export function* describeDigest(alerts: readonly Alert[], wording: Wording, storm?: Storm): Sliced<DigestContent> {
  const timeZone = zoneOf(alerts, wording.presentation);
  const all = yield* mapSliced(alerts, (alert) => readAlert(alert, wording));
  const tables = yield* tablesOf(all);
  const items = yield* itemsOf(all, wording, timeZone);
  yield;
  const [worst] = items;
  const [severest] = all.toSorted((a, b) => rankOf(a.severity) - rankOf(b.severity));
  if (worst === undefined || severest === undefined) throw new Error('a digest has at least one alert');
  const { tone } = worst;
  const isReplay = alerts.every(({ replay }) => replay);
  const { soFar, why } = stormText(isReplay ? undefined : storm);
  const { title, lead } = titlesOf(all, tables[0]?.counts ?? [], isReplay, soFar);
  const period = periodOf(alerts, timeZone);
  yield;
  return {
    id: contentId('digest', ...alerts.map(({ id }) => id).toSorted()).slice(0, 8),
    headline: `${signOf(tone)} ${lead}, worst: ${aroundSign(worst.headline).join('')}; ${title}`,
    title: `${signOf(tone)} ${title}`,
    lead,
    severity: shorten(severest.severity, NAME_LIMIT),
    tone,
    sign: signOf(tone),
    alerts: alerts.length,
    ...{ period, span: lineText(period), why },
    notice: noticeOf(alerts),
    tables,
    items,
    command: commandOf(alerts),
  };
}
