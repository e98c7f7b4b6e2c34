/**
 * Alerts as they come to a larger operator: ten protocols, each with a webhook of its own, items of 2 kB with two detectors.
 * CPU beside the floor with the same bodies, commands and bytes to Redis, and what the daemon allocates.
 */
import type { Bench } from '../row.ts';
import { medianOf } from '../run.ts';
import { webhookEach, withStage } from '../stage/stage.ts';
import { type Cost, playFloor } from '../yardsticks/play.ts';
import { startYardstick } from '../yardsticks/yardstick.ts';
import { POLL, playTocsin, type Tocsin } from './alerts.ts';

const PROTOCOLS = 10;
/** With these, an item has 2 kB. */
const BYTES = 1000;

export const measure: Bench = async ({ program, alerts: count, repeat, say }) => {
  const settings = { ...webhookEach(program, 2 * PROTOCOLS), poll: POLL };
  const burst = { count, half: PROTOCOLS, bytes: BYTES };
  const yardstick = await startYardstick();
  const rounds: { tocsin: Tocsin; floor: Cost }[] = [];
  try {
    while (rounds.length < repeat) {
      const round = await withStage(settings, async (stage) => ({
        floor: await playFloor(stage, yardstick, burst),
        tocsin: await playTocsin(stage, burst),
      }));
      rounds.push(round);
      say(`ten: ${rounds.length} of ${repeat}`);
    }
  } finally {
    await yardstick.stop();
  }
  const counting = { ...settings, countsAllocations: true };
  const { allocated } = await withStage(counting, (stage) => playTocsin(stage, burst));
  const all = (pick: (round: (typeof rounds)[number]) => number): number => medianOf(rounds.map(pick));
  const work = 'ten protocols, items of 2 kB';
  return [
    {
      key: 'ten-cpu',
      work: `${work}: CPU an alert`,
      unit: 'us',
      measured: all(({ tocsin }) => tocsin.us),
      yardstick: {
        name: 'floor',
        measured: all(({ floor }) => floor.us),
        ratio: all(({ tocsin, floor }) => tocsin.us / floor.us),
      },
      note: `daemon ${all(({ tocsin }) => tocsin.daemonUs).toFixed(0)}, Redis ${all(({ tocsin }) => tocsin.redisUs).toFixed(0)}; the daemon allocates ${(allocated / 1000).toFixed(0)} kB an alert`,
      wanted: { of: 'ratio', most: 3.5 },
    },
    {
      key: 'ten-commands',
      work: `${work}: Redis commands an alert`,
      unit: '',
      measured: all(({ tocsin }) => tocsin.commands),
      note: `of them ${all(({ tocsin }) => tocsin.scripts).toFixed(2)} scripts; ${all(({ tocsin }) => tocsin.bytes).toFixed(0)} bytes written to Redis an alert`,
      wanted: { of: 'value', most: 8 },
    },
  ];
};
