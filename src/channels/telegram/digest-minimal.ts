/** A digest at its plainest: without file and markup, in as many messages as its hashes need. */
import type { Alert } from '../../alert.ts';
import { packed } from '../../chunks.ts';
import type { Sliced } from '../../slices.ts';
import { shorten } from '../../text.ts';
import type { DigestContent } from '../digest-content.ts';
import { itemLine } from '../digest-file.ts';
import { incidentsOf } from '../incidents.ts';
import { TEXT_LIMIT } from './limits.ts';
import { type Line, lengthOf } from './lines.ts';
import { noticeLines } from './single.ts';

const TITLE_LIMIT = 240;
const NOTICE_LIMIT = 500;

/** One line for every item. */
export const minimalDigest = (content: DigestContent): Line[] => [
  [{ text: shorten(content.title, TITLE_LIMIT) }],
  ...noticeLines(content.notice, NOTICE_LIMIT),
  ...content.items.map((item) => [{ text: itemLine(item) }]),
];

/** Room for the items below title and notice. */
const MINIMAL_ROOM = TEXT_LIMIT - TITLE_LIMIT - NOTICE_LIMIT - 2;

/** Splits alerts so that each part's minimal digest fits into a message. `digestOf` describes the alerts of one incident. */
export function* minimalParts(
  alerts: readonly Alert[],
  digestOf: (alerts: readonly Alert[]) => Sliced<DigestContent>,
): Sliced<Alert[][]> {
  const sized: { incident: Alert[]; size: number }[] = [];
  for (const incident of incidentsOf(alerts)) {
    const { items } = yield* digestOf(incident);
    sized.push({ incident, size: lengthOf(items.map((item) => [{ text: itemLine(item) }])) });
  }
  return packed(sized, MINIMAL_ROOM, ({ size }) => size).map((part) => part.flatMap(({ incident }) => incident));
}
