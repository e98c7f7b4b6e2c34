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

/** Each class counts by itself: who changes detectors again and again does not hide that he changes the channels. */
const classOf = ({ change, isCritical }: Counted): string => {
  if (isCritical) return 'critical';
  if (change.kind !== 'changed') return change.kind;
  return change.aspects.includes('channels') ? 'channels' : 'settings';
};

const AT_ONCE = 50;

/** Those that are announced; `comesAndGoes`: its next changes of this class are not, for the rest of the hour. */
export const loudAmong = async <T extends Counted>(
  service: string,
  all: readonly T[],
  { count }: Pick<OutageStore, 'count'>,
): Promise<(T & { comesAndGoes: boolean })[]> => {
  const counted = await mapInChunks(all, AT_ONCE, async (one) => {
    const subject = `tripwire-${contentId(service, one.change.protocol, classOf(one))}`;
    return { one, times: await count(subject) };
  });
  return counted.flatMap(({ one, times }) =>
    times > ANNOUNCED_AN_HOUR ? [] : [{ ...one, comesAndGoes: times === ANNOUNCED_AN_HOUR }],
  );
};
