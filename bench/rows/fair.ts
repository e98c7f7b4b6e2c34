/**
 * Is the way of an alert fair and bounded? Each play is a line of the issue that asked for it: one protocol does its worst,
 * and the figure is what a quiet one gets meanwhile, or what the daemon itself does.
 */
import type { Bench, Row } from '../row.ts';
import { playBatch } from './fair/batch.ts';
import { playLargeItem } from './fair/large-item.ts';
import { neighboursOf } from './fair/neighbours.ts';
import { playNeighbour } from './fair/quiet.ts';
import { playRate } from './fair/rate.ts';

export const measure: Bench = async (options) => {
  const { quick, say } = options;
  const rows: Row[] = [];
  for (const neighbour of neighboursOf(quick)) {
    rows.push(await playNeighbour(options, neighbour));
    say(`fair: ${neighbour.work}`);
  }
  for (const play of [playRate, playLargeItem, playBatch]) {
    rows.push(...(await play(options)));
    say(`fair: ${rows.at(-1)?.work}`);
  }
  return rows;
};
