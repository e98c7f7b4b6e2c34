/** What is read of an alert before it is worded: of an inspection, typed. Items are read leniently. Pure. */
import { type Alert, type FollowUp, hasFired, isSample, type JsonObject, protocolKey } from '../../alert.ts';
import { LARGEST_ITEM } from '../../item.ts';
import { beginningOf, cleanLine, cleanText } from '../../text.ts';
import { type Detection, fairShares, type Growth } from './content.ts';
import { type Finding, findingOf } from './finding.ts';
import { objectOf, textIn, UNKNOWN } from './foreign.ts';
import type { Presentation } from './presentation.ts';
import { assessmentWord, GONE_MEANS, rankOf, type Severity, severityOf } from './severity.ts';

/** One inspection, or several of one transaction: what its content is made of. */
export interface Reading extends Severity {
  /** Never empty; the first is that of the worst inspection. */
  protocols: readonly string[];
  /** `protocolKey` of the first: protocols may look alike. */
  key: string;
  finding: Finding;
  detections: Detection[];
  notice?: string | undefined;
  isReplay: boolean;
  isSample: boolean;
  /** Of a follow-up that says only what changed. If it is worse than before, it says what happened, as any alert does. */
  followUp?: FollowUp | undefined;
  /** What people had it as, where that has changed since. */
  was?: string | undefined;
  /** ISO 8601: since when the service lists the protocol; absent where nobody knows. */
  listedSince?: string | undefined;
  /** Of an incident of several protocols: what was read for each. The worst first, then who came first. */
  each?: readonly Reading[] | undefined;
}

/** How messages are worded, and when they are sent (epoch milliseconds). */
export interface Wording {
  presentation: Presentation;
  sentAt: number;
  /** Of a message that has grown since. */
  grew?: Growth | undefined;
}

/** `sentAt`: ISO 8601, as a channel gets it. */
export const wordingOf = ({
  presentation,
  sentAt,
  grew,
}: {
  presentation: Presentation;
  sentAt: string;
  grew?: Growth;
}): Wording => ({
  presentation,
  sentAt: Date.parse(sentAt),
  grew,
});

/** Characters that the detectors of one message say: twice what a mail shows of them, which shows most. */
const SAID_MAX = 200_000;

const firedIn = (item: JsonObject): { id: string; said: string }[] =>
  Object.entries(objectOf(item.detections))
    .filter(([, value]) => hasFired(value))
    .map(([id, value]) => ({ id, said: textIn(objectOf(value).message) }));

/** Cut before it is cleaned: looking through a quarter of a megabyte takes longer than the rest of a message. */
const cutClean = (said: string, most: number): Pick<Detection, 'message' | 'leftOut'> =>
  said.length <= most
    ? { message: cleanText(said) }
    : { message: cleanText(beginningOf(said, most)), leftOut: said.length - most };

/** The detectors that fired: those of every status but `notDetected`, even an undocumented one. `room`: of what they say. */
export const firedDetections = (
  item: JsonObject,
  nameOf = (id: string): string => id,
  room: number = SAID_MAX,
): Detection[] =>
  fairShares(firedIn(item), ({ said }) => said.length, room).map(([{ id: name, said }, share]) => {
    const id = cleanLine(name);
    return { id, name: nameOf(id) || 'Unnamed detector', ...cutClean(said, share) };
  });

/** Each of the alerts of one message, with the room for what its detectors say. */
export const withRooms = (alerts: readonly Alert[]): [alert: Alert, room: number][] =>
  fairShares(alerts, ({ item }) => firedIn(item).reduce((sum, { said }) => sum + said.length, 0), SAID_MAX);

/** Why the reader gets it in an unusual way or again, or not all of it; undefined where nothing is unusual. */
export const noticeOf = (alert: Alert): string | undefined => {
  const { notice, truncatedFrom, replay } = alert;
  if (isSample(alert)) return 'This is a test. Nothing happened.';
  const notices = [
    ...(notice === undefined ? [] : [cleanLine(notice)]),
    ...(truncatedFrom === undefined
      ? []
      : [
          `Only a part of it is here: the service gave ${truncatedFrom} bytes, and ${LARGEST_ITEM} of an item are kept.`,
        ]),
    ...(replay ? ['Old alert: one of your operators had Tocsin send it again. See whether it was dealt with.'] : []),
  ];
  return notices.length === 0 ? undefined : notices.join(' ');
};

/** The protocol's name as people read it: cleaned, in one line; `unknown` where it is empty. */
export const protocolOf = ({ protocol }: Alert): string => cleanLine(protocol) || UNKNOWN;

/** Reads the alert of an inspection, or of a follow-up. `room`: characters of what its detectors say. */
export const readInspection = (alert: Alert, { presentation }: Wording, room = SAID_MAX): Reading => {
  const { followUp, reassessed = followUp } = alert;
  const was = reassessed === undefined ? undefined : assessmentWord(reassessed.was).toUpperCase();
  const severity = severityOf(alert);
  const isWorse = was !== undefined && rankOf(severity.severity) < rankOf(was);
  const means = alert.reassessed !== undefined && alert.reassessed.is === undefined ? GONE_MEANS : '';
  const notices = [means, noticeOf(alert) ?? ''].filter((one) => one !== '');
  return {
    ...severity,
    protocols: [protocolOf(alert)],
    key: protocolKey(alert),
    finding: findingOf(alert, presentation.chains),
    detections: firedDetections(alert.item, presentation.detectorName, room),
    notice: notices.length === 0 ? undefined : notices.join(' '),
    isReplay: alert.replay && !isSample(alert),
    isSample: isSample(alert),
    listedSince: alert.context?.listedSince,
    followUp: isWorse ? undefined : followUp,
    was,
  };
};
