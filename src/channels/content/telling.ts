/** Which of many readings of one transaction come first, where not all have room. Pure. */
import { atOnce } from '../../chunks.ts';
import { ranked, type Traits } from '../digest-rank.ts';
import type { Reading } from './reading.ts';
import { rankOf } from './severity.ts';

const traitsOf = ({ severity, protocols, finding, detections }: Reading): Traits => ({
  urgency: rankOf(severity),
  protocols,
  detectors: [...new Set(detections.map(({ id }) => id))],
  methods: finding.methods.map(({ name }) => name),
  isPrivileged: finding.methods.some(({ isPrivileged }) => isPrivileged),
  percent: 0,
});

/**
 * Every second place is for who is listed longest: decoys that are made for an attack, each with a detector of its own, leave
 * it to the others.
 */
const byTurns = (all: readonly Reading[]): readonly Reading[] => {
  const oldest = all.toSorted((a, b) => (a.listedSince ?? '').localeCompare(b.listedSince ?? ''));
  return [...new Set(all.flatMap((one, place) => [one, oldest[place] ?? one]))];
};

/** All as they come, where there is room for `most`. Else as a digest has them: decoys that are alike push out no other. */
export const mostTelling = (readings: readonly Reading[], most: number): readonly Reading[] => {
  if (readings.length <= most) return readings;
  const all = atOnce(ranked(readings.map((reading) => ({ reading, traits: traitsOf(reading) })))).map(
    ({ of }) => of.reading,
  );
  return [...Map.groupBy(all, ({ severity }) => rankOf(severity)).values()].flatMap(byTurns);
};
