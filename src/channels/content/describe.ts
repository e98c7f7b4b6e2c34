/** What people read about one alert, and about the alerts of one incident. Pure. */
import { type Alert, isAnnouncement, isSample } from '../../alert.ts';
import { mapSliced, type Sliced } from '../../chunks.ts';
import { cleanLine, cleanText, listText } from '../../text.ts';
import { parseTime } from '../../time.ts';
import { announcedText, uniteAnnouncements } from './announced.ts';
import type { Content, Detection } from './content.ts';
import { findingOf, type Reference, uniteFindings } from './finding.ts';
import { inlineName, shortHex, text, UNKNOWN } from './foreign.ts';
import { PROTOCOLS_MAX } from './gist.ts';
import { headingOf, textHappened, titled } from './heading.ts';
import {
  findingDetails,
  findingLines,
  notificationDetails,
  referencePiece,
  timesLine,
  transactionLine,
} from './lines.ts';
import { linksOf, type Presentation } from './presentation.ts';
import { noticeOf, protocolOf, type Reading, readInspection, type Wording, withRooms } from './reading.ts';
import { followUpNotice, rankOf, severityOf, statedIn, withoutSeverity } from './severity.ts';
import { mostTelling } from './telling.ts';

/** The content of what was read; a follow-up that is not worse says only what changed, and of which transaction. */
export const contentOf = (reading: Reading, { presentation, sentAt, grew }: Wording): Content => {
  const { protocols, finding, detections, followUp } = reading;
  const timeZone = presentation.timeZoneOf(protocols[0] ?? '');
  const ids = [...new Set(detections.map(({ id }) => id))];
  const heading = headingOf(reading, presentation);
  const changed = followUp === undefined ? [] : [followUpNotice(followUp, heading.happened)];
  const notice = [...changed, reading.notice ?? ''].join(' ').trim();
  return {
    ...heading,
    ...(notice === '' ? {} : { notice }),
    ...(followUp ? { isFollowUp: true } : {}),
    ...(followUp ? { gist: [], detections: [] } : { detections }),
    isOurs: false,
    lines: followUp ? transactionLine(finding) : findingLines(reading, { now: sentAt, timeZone }),
    times: timesLine(
      // When the last of several was inspected says nothing of the others.
      { '': finding.transactionAt, ...(grew ? {} : { inspected: finding.inspectedAt }), sent: sentAt },
      timeZone,
      grew,
    ),
    links: reading.isSample ? [] : linksOf(finding, { protocols, detectors: ids }, presentation),
    details: findingDetails(reading, ids, sentAt),
  };
};

/** A stored notification names a protocol, and sometimes a transaction; it may say on which chain. */
const textLinks = (alert: Alert, hash: Reference | undefined, presentation: Presentation): Content['links'] => {
  if (isAnnouncement(alert)) return [];
  const finding = findingOf(alert, presentation.chains);
  const named = { ...finding, transaction: finding.transaction ?? hash, ids: [alert.itemId] };
  return linksOf(named, { protocols: [protocolOf(alert)], detectors: [] }, presentation);
};

/** A stored notification, or an announcement. */
const describeText = (alert: Alert, { presentation, sentAt }: Wording): Content => {
  const { item, txHash } = alert;
  const isOurs = isAnnouncement(alert);
  const own = isOurs ? announcedText(item, presentation, sentAt) : undefined;
  const message =
    own?.message || (typeof item.message === 'string' ? cleanText(item.message) : text(item.message)) || UNKNOWN;
  const protocol = protocolOf(alert);
  const whole = cleanLine(txHash ?? '');
  const hash = whole === '' ? undefined : { whole, short: shortHex(whole) };
  const storedAt = parseTime(item.createdAt);
  const stated = statedIn(alert);
  const heading = titled(
    { ...severityOf(alert), isReplay: alert.replay && !isSample(alert), protocols: [protocol] },
    // The word is the text's own, so the title says what it is.
    stated === undefined ? undefined : 'notification',
    // The severity stands in the title.
    textHappened(stated === undefined ? message : withoutSeverity(message, stated), isOurs),
    presentation,
  );
  // `TOCSIN · Tocsin` says nothing.
  const title = isOurs ? `${heading.sign} ${heading.protocol}` : heading.title;
  return {
    ...heading,
    ...{ title, headline: `${title}: ${heading.said}`, isOurs, message },
    ...(own === undefined ? {} : { messageLines: own.messageLines }),
    notice: noticeOf(alert),
    ...{ gist: [], detections: [] },
    lines: hash === undefined ? [] : [[{ text: 'Transaction ' }, referencePiece(hash)]],
    times: isOurs ? [] : timesLine({ written: storedAt, sent: sentAt }, presentation.timeZoneOf(protocol)),
    links: textLinks(alert, hash, presentation),
    // The id of an announcement means nothing to people, and its time is now.
    details: isOurs ? [] : notificationDetails(alert, storedAt, sentAt),
  };
};

/** Everything that people read about one alert. */
export const describe = (alert: Alert, wording: Wording): Content =>
  alert.source === 'notifications' ? describeText(alert, wording) : contentOf(readInspection(alert, wording), wording);

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** The same words of the same detector once; with its protocols unless it holds for all of them. */
const uniteDetections = (
  owned: readonly { protocol: string; detection: Detection }[],
  protocols: number,
): Detection[] => {
  const same = Map.groupBy(owned, ({ detection: { id, message } }) => JSON.stringify([id, message]));
  return [...same.values()].flatMap((group) => {
    const owners = unique(group.map(({ protocol }) => inlineName(protocol)));
    const suffix = owners.length === protocols ? '' : ` (${listText(owners)})`;
    return group.slice(0, 1).map(({ detection }) => ({ ...detection, name: `${detection.name}${suffix}` }));
  });
};

/** The title says what the worst is now; where not all have changed alike, which have. */
const changesOf = (readings: readonly Reading[]): string[] => {
  const words = readings.map(({ severity, was }) => (was === undefined ? '' : `now ${severity} (was ${was})`));
  if (unique(words).length === 1) return [];
  return readings.flatMap(({ protocols: [protocol = ''] }, index) =>
    words[index] === '' ? [] : [`${inlineName(protocol)}: ${words[index]}.`],
  );
};

/** Readings of one transaction as one: the worst severity, all protocols, each detection once. */
export const uniteReadings = (readings: readonly Reading[]): Reading => {
  const ordered = readings.toSorted((a, b) => rankOf(a.severity) - rankOf(b.severity));
  const [worst] = ordered;
  if (worst === undefined) throw new Error('an incident has at least one alert');
  if (ordered.length === 1) return worst;
  const owned = ordered.map((reading) => ({ ...reading, protocol: reading.protocols[0] ?? '' }));
  const byProtocol = [...Map.groupBy(owned, ({ protocol }) => protocol).values()];
  const each = byProtocol.length < 2 ? undefined : mostTelling(byProtocol.map(uniteReadings), PROTOCOLS_MAX);
  const protocols = each?.flatMap((one) => one.protocols) ?? [worst.protocols[0] ?? ''];
  const notices = unique([...changesOf(ordered), ...ordered.flatMap(({ notice }) => notice ?? [])]);
  return {
    ...worst,
    protocols,
    finding: uniteFindings(owned.map(({ finding }) => finding)),
    each,
    detections: uniteDetections(
      owned.flatMap(({ protocol, detections }) => detections.map((detection) => ({ protocol, detection }))),
      protocols.length,
    ),
    notice: notices.length === 0 ? undefined : notices.join(' '),
    isReplay: ordered.some(({ isReplay }) => isReplay),
  };
};

/**
 * Everything that people read about one incident's alerts (see `incidents.ts`), or about several announcements of one
 * kind. For one alert the same as `describe`. Pure.
 */
export function* describeIncident(alerts: readonly Alert[], wording: Wording): Sliced<Content> {
  const [first] = alerts;
  if (first === undefined) throw new Error('a message has at least one alert');
  return wording.presentation.templates.apply(yield* describeAll(alerts, first, wording), first);
}

function* describeAll(alerts: readonly Alert[], first: Alert, wording: Wording): Sliced<Content> {
  if (first.source === 'notifications') {
    const contents = yield* mapSliced(alerts, (alert) => describe(alert, wording));
    return uniteAnnouncements(alerts, contents);
  }
  const readings: Reading[] = [];
  for (const [alert, room] of withRooms(alerts)) {
    yield;
    readings.push(readInspection(alert, wording, room));
  }
  yield;
  return contentOf(uniteReadings(readings), wording);
}
