/** Which alerts go to the fallback, and the sentence that says why. Pure. */
import { type Alert, isAnnouncement, isHuman, isSample } from '../../alert.ts';
import { placeOf } from '../../channels/registry.ts';
import type { DeliveryRecord, Target } from '../../ledger/record.ts';
import { capital, firstFew, shorten } from '../../text.ts';
import { durationText } from '../../time.ts';

/**
 * Also the label of the metric. `late`: no person's channel accepted it in time. `unacknowledged`: one did, and nobody has
 * acknowledged it in time. `stranded`: it has no destination. `held`: its destination is not approved.
 */
export const DIVERT_REASONS = ['late', 'unacknowledged', 'dead', 'stranded', 'held'] as const;
export type DivertReason = (typeof DIVERT_REASONS)[number];

/**
 * A replay is no news, nobody waits for a sample, and announcements choose their destinations themselves, but for those that
 * name their readers.
 */
export const mayDivert = (alert: Alert): boolean =>
  !alert.replay && !isSample(alert) && (!isAnnouncement(alert) || alert.readers !== undefined);

/** The deliveries that count: to people, or to programs where an alert has no others. */
const countingOf = (deliveries: readonly DeliveryRecord[]): readonly DeliveryRecord[] => {
  const people = deliveries.filter(({ destination }) => isHuman(destination));
  return people.length > 0 ? people : deliveries;
};

/** Somebody has it, or it is muted everywhere. */
export const isAccepted = (deliveries: readonly DeliveryRecord[]): boolean => {
  const counting = countingOf(deliveries);
  return (
    counting.some(({ state }) => state === 'delivered') ||
    (counting.length > 0 && counting.every(({ state }) => state === 'muted'))
  );
};

/**
 * Where people have to acknowledge alerts, this one waits for nobody: it is muted everywhere, or wherever it was not sent
 * another alert covers it, which has a deadline of its own.
 */
export const waitsForNobody = (deliveries: readonly DeliveryRecord[]): boolean => {
  const counting = countingOf(deliveries);
  return counting.length > 0 && counting.every(({ state, with: other }) => state === 'muted' || other !== undefined);
};

const nameText = (target: Pick<Target, 'kind' | 'label' | 'name'>): string => capital(placeOf(target));

const NAMED = 4;
const LONGEST = 160;

/** For the middle of a sentence. */
const inner = (sentence: string): string => shorten(sentence.trim().replace(/\.+$/, ''), LONGEST);

interface LateInput {
  deliveries: readonly DeliveryRecord[];
  /** Milliseconds that the channels had. */
  afterMs: number;
  /** Why a destination takes nothing at present, where that is known. */
  faultOf(target: Target): string | undefined;
}

const becauseOf = ({ state, attempts, destination }: DeliveryRecord, faultOf: LateInput['faultOf']): string => {
  if (state === 'muted') return 'muted';
  return inner(attempts.at(-1)?.message ?? faultOf(destination) ?? 'waits for its turn');
};

/** Those with attempts first: they say more than those that wait. */
const byTries = (a: DeliveryRecord, b: DeliveryRecord): number =>
  b.attempts.length - a.attempts.length || placeOf(a.destination).localeCompare(placeOf(b.destination));

/** `deliveries` are those of the alert's own destinations. */
export const lateNotice = ({ deliveries, afterMs, faultOf }: LateInput): string => {
  const counting = countingOf(deliveries).toSorted(byTries);
  const who =
    counting.some(({ destination }) => isHuman(destination)) || counting.length === 0 ? 'anybody else' : 'any webhook';
  const reasons = counting.map((one) => `${nameText(one.destination)}: ${becauseOf(one, faultOf)}`);
  const parts = reasons.length > 0 ? firstFew(reasons, NAMED) : ['It was not queued yet'];
  return `Fallback: it could not be delivered to ${who} within ${durationText(afterMs)}, so it is yours. ${parts.join('; ')}.`;
};

export const unacknowledgedNotice = ({ deliveries, afterMs }: Pick<LateInput, 'deliveries' | 'afterMs'>): string => {
  const having = deliveries.filter(({ state, with: other }) => state === 'delivered' && other === undefined);
  const names = having.map(({ destination }) => placeOf(destination)).toSorted();
  const more = names.length > NAMED ? [`${names.length - NAMED} more`] : [];
  const where = names.length === 0 ? '' : `; it was delivered to ${[...names.slice(0, NAMED), ...more].join(', ')}`;
  return `Fallback: nobody acknowledged this within ${durationText(afterMs)}, so it is yours${where}.`;
};

export const deadNotice = (destination: Pick<Target, 'kind' | 'label' | 'name'>, why: string): string =>
  `Fallback: ${nameText(destination)} did not take this: ${inner(why) || 'no reason is known'}.`;

export const unroutableNotice = (why: string): string => `Fallback: nobody else gets this: ${inner(why)}.`;
