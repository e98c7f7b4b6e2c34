/** When an inspection is read again, and what follows from what was found. Pure. */
import type { Alert, Change, JsonObject } from '../../alert.ts';
import { firedDetections } from '../../channels/content/reading.ts';
import { followUpId, type Item } from '../../item.ts';
import { isWanted } from '../../poll/ingest.ts';
import type { Sighting } from '../../service/lookup.ts';
import { shorten } from '../../text.ts';
import { iso } from '../../time.ts';
import type { DueRecheck, Watched } from './store.ts';

/** What the ledger knows of the first alert of an inspection. */
export interface FirstAlert {
  alertId: string;
  /** The assessment it was forwarded with. */
  assessment: string;
  /** Ids of the destinations that have it or will. */
  destinations: string[];
}

export type Verdict =
  | { kind: 'same' | 'unsure' | 'gone' }
  /** Read it once more before it counts as gone. */
  | { kind: 'confirm' }
  | { kind: 'forward'; item: Item }
  /** `item` is absent where it is gone. */
  | { kind: 'follow-up'; change: Change; first: FirstAlert; was: string; item?: Item };

const RANKS: Readonly<Record<string, number>> = { ok: 0, suspecious: 1, critical: 2 };

/** An undocumented word is neither more nor less severe than another. */
const compare = (was: string, is: string): Change | undefined => {
  const [before, now] = [RANKS[was], RANKS[is]];
  if (before === undefined || now === undefined || before === now) return undefined;
  return now < before ? 'downgraded' : 'upgraded';
};

/** People had no alert of it: only whether it has become one matters. */
const judgeUnsent = (item: Item | undefined, assessments: readonly string[]): Verdict => {
  if (!item) return { kind: 'gone' };
  return isWanted(item, assessments) ? { kind: 'forward', item } : { kind: 'same' };
};

const judgeSent = (watched: Watched, item: Item | undefined, first: FirstAlert): Verdict => {
  if (first.destinations.length === 0) return { kind: item ? 'same' : 'gone' };
  const was = watched.announced ?? first.assessment;
  if (!item) return watched.misses === 0 ? { kind: 'confirm' } : { kind: 'follow-up', change: 'vanished', first, was };
  const change = compare(was, item.assessment ?? '');
  return change === undefined ? { kind: 'same' } : { kind: 'follow-up', change, first, was, item };
};

/** `first` is undefined where the ledger has no alert of it: nobody was sent one. */
export const judge = (
  watched: Watched,
  sighting: Sighting,
  first: FirstAlert | undefined,
  assessments: readonly string[],
): Verdict => {
  if (sighting.kind === 'unsure') return { kind: 'unsure' };
  const item = sighting.kind === 'found' ? sighting.item : undefined;
  // The service has given its id to another transaction, which says nothing of this one.
  if (item?.txHash !== undefined && watched.txHash !== undefined && item.txHash !== watched.txHash) {
    return judgeUnsent(item, assessments);
  }
  return first ? judgeSent(watched, item, first) : judgeUnsent(item, assessments);
};

/** When the first recheck after `now` is due; undefined when all are over. Epoch milliseconds. */
export const nextRecheck = (writtenAt: number, now: number, offsets: readonly number[]): number | undefined => {
  const later = offsets.map((offset) => writtenAt + offset).filter((at) => at > now);
  return later.length === 0 ? undefined : Math.min(...later);
};

const TEXT_LIMIT = 300;
const KEPT_FIELDS = ['_id', 'chainId', 'txHash', 'txTimestamp', 'protocol', 'assessment', 'createdAt'];

/** Of what its detectors say. */
const SAID = { detectors: 3, characters: 120 };

/** As much of an inspection as the follow-up shows when it is gone. */
export const remains = ({ raw }: Item): JsonObject => {
  const said = firedDetections(raw)
    .filter(({ message }) => message !== '')
    .slice(0, SAID.detectors)
    .map(({ id, message }) => [id, { message: shorten(message, SAID.characters) }]);
  const left: JsonObject = said.length === 0 ? {} : { detections: Object.fromEntries(said) };
  for (const field of KEPT_FIELDS) {
    const value = raw[field];
    if (typeof value === 'string') left[field] = value.slice(0, TEXT_LIMIT);
    if (typeof value === 'number') left[field] = value;
  }
  return left;
};

const NEAR: readonly string[] = ['suspecious', 'critical'];

/** The first recheck of an item, as it was read; undefined where none is due. An item without a date is not watched. */
export const firstRecheck = (
  item: Item,
  protocol: string,
  now: number,
  { offsets, assessments }: { offsets: readonly number[]; assessments: readonly string[] },
): DueRecheck | undefined => {
  const { source, itemId, txHash, assessment = '', dates } = item;
  const wanted = isWanted(item, assessments);
  if (source !== 'inspections' || !(wanted || NEAR.includes(assessment))) return undefined;
  const writtenAt = dates.createdAt ?? dates.txTimestamp ?? dates.updatedAt;
  const dueAt = writtenAt === undefined ? undefined : nextRecheck(writtenAt, now, offsets);
  if (writtenAt === undefined || dueAt === undefined) return undefined;
  const known = { ...(txHash === undefined ? {} : { txHash }), ...(wanted ? { item: remains(item) } : {}) };
  return { dueAt, watched: { protocol, itemId, ...known, writtenAt, followUps: 0, misses: 0 } };
};

/** `now` in epoch milliseconds. */
export const toFollowUp = (
  service: string,
  { protocol, itemId, txHash, followUps, item: left }: Watched,
  { change, first, was, item }: Extract<Verdict, { kind: 'follow-up' }>,
  now: number,
): Alert => {
  const at = iso(now);
  return {
    id: followUpId(first.alertId, change, followUps + 1),
    source: 'inspections',
    service,
    protocol,
    type: `inspection.${change}`,
    itemId,
    at,
    readAt: at,
    ...(txHash === undefined ? {} : { txHash }),
    item: item?.raw ?? left ?? { _id: itemId },
    replay: false,
    followUp: { of: first.alertId, was, ...(item?.assessment === undefined ? {} : { is: item.assessment }) },
  };
};
