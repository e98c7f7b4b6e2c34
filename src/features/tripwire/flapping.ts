/** Bounds how often one protocol is announced: what a service lists now so and now otherwise would flood its people. */
import { mapInChunks } from '../../chunks.ts';
import { contentId } from '../../identity.ts';
import { ANNOUNCED_AN_HOUR } from '../outages/message.ts';
import type { OutageStore } from '../outages/store.ts';
import type { Change } from './changes.ts';

interface Counted {
  change: Change;
  isCritical: boolean;
}

/** Each aspect counts by itself: who changes detectors again and again does not hide that he changes the triggers. */
const classesOf = ({ change, isCritical }: Counted): string[] => {
  if (isCritical) return ['critical'];
  return change.kind === 'changed' ? change.aspects : [change.kind];
};

const AT_ONCE = 50;

/**
 * Those that are announced, as one of their classes still may be; `comesAndGoes`: the next changes of a class of theirs are
 * not, for the rest of the hour.
 */
export const loudAmong = async <T extends Counted>(
  service: string,
  all: readonly T[],
  { count }: Pick<OutageStore, 'count'>,
): Promise<(T & { comesAndGoes: boolean })[]> => {
  const counted = await mapInChunks(all, AT_ONCE, async (one) => {
    const subjects = classesOf(one).map((each) => `tripwire-${contentId(service, one.change.protocol, each)}`);
    return { one, times: await Promise.all(subjects.map(count)) };
  });
  return counted.flatMap(({ one, times }) =>
    times.some((n) => n <= ANNOUNCED_AN_HOUR)
      ? [{ ...one, comesAndGoes: times.some((n) => n >= ANNOUNCED_AN_HOUR) }]
      : [],
  );
};
