/** What people read about one alert. Pure. */
import { type Alert, isAnnouncement, isSample } from '../../alert.ts';
import { cleanLine, cleanText } from '../../text.ts';
import { parseTime } from '../../time.ts';
import { announcedText } from './announced.ts';
import type { Content, Line } from './content.ts';
import { findingDetails, notificationDetails } from './details.ts';
import { text, UNKNOWN } from './field.ts';
import { type Finding, findingOf, type Reference } from './finding.ts';
import { firstLine, headingOf, titled } from './heading.ts';
import { findingLines, referencePiece, timesLine, transactionLine } from './lines.ts';
import { linksOf } from './links.ts';
import { shortHex } from './names.ts';
import type { Presentation } from './presentation.ts';
import { noticeOf, protocolOf, type Reading, readInspection, type Wording } from './reading.ts';
import { severityOf, statedIn } from './severity.ts';
import { withoutSeverity } from './stated-severity.ts';

const sentLine = (finding: Finding, sentAt: number, timeZone: string): Line =>
  timesLine(
    [
      { word: '', at: finding.transactionAt },
      { word: 'inspected', at: finding.inspectedAt },
      { word: 'sent', at: sentAt },
    ],
    sentAt,
    timeZone,
  );

/** The content of what was read; a follow-up that is not worse says only what changed, and of which transaction. */
export const contentOf = (reading: Reading, { presentation, sentAt }: Wording): Content => {
  const { protocols, finding, detections, followUp, notice } = reading;
  const timeZone = presentation.timeZoneOf(protocols[0] ?? '');
  const ids = [...new Set(detections.map(({ id }) => id))];
  return {
    ...headingOf(reading, presentation),
    ...(notice === undefined ? {} : { notice }),
    ...(followUp ? { isFollowUp: true } : {}),
    detections: followUp ? [] : detections,
    isOurs: false,
    lines: followUp ? transactionLine(finding) : findingLines(finding, { protocols, detections, now: sentAt }),
    times: sentLine(finding, sentAt, timeZone),
    links: reading.isSample ? [] : linksOf(finding, { protocols, detectors: ids }, presentation),
    details: findingDetails(finding, { protocols, detectors: ids, sentAt }),
  };
};

const storedLine = (storedAt: number, sentAt: number, timeZone: string): Line =>
  timesLine(
    [
      { word: 'stored', at: storedAt },
      { word: 'sent', at: sentAt },
    ],
    sentAt,
    timeZone,
  );

/** A stored notification names a protocol, and sometimes a transaction; it may say on which chain. */
const textLinks = (alert: Alert, hash: Reference | undefined, presentation: Presentation): Content['links'] => {
  if (isAnnouncement(alert)) return [];
  const finding = findingOf(alert, presentation.chains);
  const transaction = finding.transaction ?? hash;
  const named = { ...finding, ...(transaction === undefined ? {} : { transaction }), ids: [alert.itemId] };
  return linksOf(named, { protocols: [protocolOf(alert)], detectors: [] }, presentation);
};

/** The first line; its severity stands in the title. */
const happenedIn = (message: string, stated: string | undefined): string =>
  firstLine(stated === undefined ? message : withoutSeverity(message, stated)) || UNKNOWN;

/** A stored notification, or an announcement. */
const describeText = (alert: Alert, { presentation, sentAt }: Wording): Content => {
  const { item, itemId, txHash } = alert;
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
    {
      ...severityOf(alert),
      isReplay: alert.replay && !isSample(alert),
      protocols: [protocol],
      // The word is the text's own, so the title says what it is.
      contract: stated === undefined ? undefined : 'notification',
      happened: happenedIn(message, stated),
    },
    presentation,
  );
  // `TOCSIN · Tocsin` says nothing.
  const title = isOurs ? `${heading.sign} ${heading.protocol}` : heading.title;
  return {
    ...heading,
    ...{ title, headline: `${title}: ${heading.happened}`, isOurs, message },
    ...(own === undefined ? {} : { messageLines: own.messageLines }),
    ...noticeOf(alert),
    detections: [],
    lines: hash === undefined ? [] : [[{ text: 'Transaction ' }, referencePiece(hash)]],
    times: isOurs ? [] : storedLine(storedAt, sentAt, presentation.timeZoneOf(protocol)),
    links: textLinks(alert, hash, presentation),
    // The id of an announcement means nothing to people, and its time is now.
    details: isOurs
      ? []
      : notificationDetails({ ...(txHash === undefined ? {} : { transaction: txHash }), storedAt, sentAt, id: itemId }),
  };
};

/** Everything that people read about one alert. */
export const describe = (alert: Alert, wording: Wording): Content =>
  alert.source === 'notifications' ? describeText(alert, wording) : contentOf(readInspection(alert, wording), wording);
