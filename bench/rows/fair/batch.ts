/** A batch of 20,000 alerts for one chat, which asked us to wait: how long the event loop stands, memory, doubles. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions, Row } from '../../row.ts';
import { type Stage, withStage } from '../../stage/stage.ts';
import { CLOSE, RECENT } from '../../world/dates.ts';
import { BUSY, POLL } from './quiet.ts';

const ALERTS = { full: 20_000, quick: 4000 };
const LIMIT_MS = { full: 120_000, quick: 60_000 };
const LOOK_MS = 1000;
/** After the last arrived: what is sent twice comes then. */
const AFTERWARDS_MS = 5000;

const play = async ({ world, startDaemon }: Stage, quick: boolean) => {
  const size = quick ? 'quick' : 'full';
  const daemon = await startDaemon();
  let [blockMs, messages] = [0, 0];
  const times = new Map<string, number>();
  const look = async (): Promise<void> => {
    await sleep(LOOK_MS);
    blockMs = Math.max(blockMs, await daemon.longestBlock());
    for (const { id } of (await world.report()).arrivals) times.set(id, (times.get(id) ?? 0) + 1);
  };
  world.store({ count: 1, from: BUSY, to: BUSY + 1, dates: RECENT });
  while (times.size < 1) await look();
  blockMs = 0;
  for (let n = 0; n < 5; n += 1) await look();
  const aloneMs = blockMs;
  blockMs = 0;
  world.answer('flooded');
  world.store({ count: ALERTS[size], from: BUSY, to: BUSY + 1, dates: CLOSE });
  const isRead = async (): Promise<boolean> => (await world.tally()).told > ALERTS[size];
  const begunAt = performance.now();
  while (!(await isRead())) await look();
  const readSeconds = (performance.now() - begunAt) / 1000;
  world.answer('ok');
  while (times.size <= ALERTS[size] && performance.now() < begunAt + LIMIT_MS[size]) await look();
  for (const end = performance.now() + AFTERWARDS_MS; performance.now() < end; ) await look();
  messages = (await world.tally()).messages;
  const doubles = [...times.values()].filter((count) => count > 1).length;
  const missing = ALERTS[size] + 1 - times.size;
  return { aloneMs, blockMs, peakMb: daemon.peakMemory(), doubles, missing, messages, readSeconds };
};

export const playBatch = async ({ program, quick }: BenchOptions): Promise<Row[]> => {
  const settings = {
    program,
    protocols: 1,
    hanging: 0,
    kinds: ['telegram'],
    each: 'one',
    poll: POLL,
  } as const;
  const seen = await withStage(settings, (stage) => play(stage, quick));
  const what = `${ALERTS[quick ? 'quick' : 'full'].toLocaleString('en')} alerts wait for one chat`;
  return [
    {
      key: 'batch-block',
      work: `${what}: longest block of the event loop`,
      unit: 'ms',
      measured: seen.blockMs,
      yardstick: { name: 'at rest', measured: seen.aloneMs },
      note: `read in ${seen.readSeconds.toFixed(0)} s, ${seen.messages} messages; a machine that is busy blocks as well`,
      wanted: { of: 'value', most: 50 },
    },
    {
      key: 'batch-memory',
      work: 'most memory meanwhile',
      unit: 'MB',
      measured: seen.peakMb,
      wanted: { of: 'value', most: 250 },
    },
    {
      key: 'batch-doubles',
      work: 'of these alerts came twice, or not within two minutes',
      unit: '',
      measured: seen.doubles + seen.missing,
      note: `twice ${seen.doubles}, not at all ${seen.missing}`,
      wanted: { of: 'value', most: 0 },
    },
  ];
};
