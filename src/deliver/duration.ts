/** Lengths of time as people read them in a sentence. Pure. */
const UNITS = [
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
  [1, 'ms'],
] as const;

/** `1 s`, `60 s`, `2 min`: in the largest unit that loses nothing. */
export const durationText = (ms: number): string => {
  const [size, unit] = UNITS.find(([each]) => ms % each === 0 && (ms > each || each === 1000)) ?? [1, 'ms'];
  return `${ms / size} ${unit}`;
};
