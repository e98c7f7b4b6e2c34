/** When a disk is nearly full, and when a clock is off. Pure. */
import { ageText } from '../../time.ts';

/** In bytes: what we may still write, and the whole. */
export interface DiskSpace {
  free: number;
  size: number;
}

const MB = 1e6;
const GB = 1e9;
/** Less is nearly full, however small the disk is. */
const LEAST_FREE = 100 * MB;
/** So is this part of it; but this much is enough on any disk. */
const LEAST_PART = 0.05;
const ENOUGH_FREE = 5 * GB;

const sizeText = (bytes: number): string =>
  bytes >= GB ? `${(bytes / GB).toFixed(1)} GB` : `${Math.floor(bytes / MB)} MB`;

/** What is wrong, as a trouble says it; undefined where nothing is. */
export const diskTrouble = (directory: string, { free, size }: DiskSpace): string | undefined => {
  const isFull = free < LEAST_FREE || (free < ENOUGH_FREE && free < LEAST_PART * size);
  if (!isFull) return undefined;
  return `the disk of dataDir (${directory}) is nearly full: ${sizeText(free)} of ${sizeText(size)} are free`;
};

/** Below, dates in messages mislead nobody; far below the five minutes within which webhooks are accepted. */
const LARGEST_SKEW_MS = 30_000;

/** `aheadMs`: how far the clock of `peer` is ahead of ours; negative where it is behind. */
export const clockTrouble = (peer: string, aheadMs: number): string | undefined => {
  if (Math.abs(aheadMs) < LARGEST_SKEW_MS) return undefined;
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  return `the clock of ${peer} is ${ageText(Math.abs(aheadMs))} ${direction} ours`;
};
