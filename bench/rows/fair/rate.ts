/** A webhook with a rate limit, while another protocol's webhooks hang: how much it gets of what its rate allows. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions, Row } from '../../row.ts';
import { type Stage, webhookEach, withStage } from '../../stage/stage.ts';
import { arrived } from '../../world/arrived.ts';
import { RECENT } from '../../world/dates.ts';
import type { World } from '../../world/world.ts';
import { BUSY, POLL, QUIET } from './quiet.ts';

const PER_SECOND = 1;
const SECONDS = { full: 30, quick: 8 };
const SECONDS_ALONE = 8;
const HANGING = { full: 500, quick: 100 };
const BURST = 10;
/** A message a second is due until then; a bit of the time goes by before the first one is read. */
const WANTED = 0.9;

/** Share of what was due that arrived in this time after it could be read. */
const shareIn = async (world: World, seconds: number): Promise<number> => {
  const due = seconds * PER_SECOND;
  const { written } = await world.report();
  world.store({ count: due, from: QUIET, to: QUIET + 1, dates: RECENT });
  await sleep(seconds * 1000);
  const { arrivals } = await world.report();
  const isDue = (id: string): boolean => Number(id.replace('finding-', '')) >= written;
  return new Set(arrivals.map(({ id }) => id).filter(isDue)).size / due;
};

const play = async ({ world, startDaemon }: Stage, seconds: number) => {
  const daemon = await startDaemon();
  world.store({ count: 1, from: QUIET, to: QUIET + 1, dates: RECENT });
  await arrived(world, 1);
  await sleep(1000 / PER_SECOND);
  const alone = await shareIn(world, SECONDS_ALONE);
  await sleep(2000 / PER_SECOND);
  world.reset();
  world.store({ count: BURST, from: BUSY, to: BUSY + 1, dates: RECENT });
  await arrived(world, 1);
  const beside = await shareIn(world, seconds);
  await daemon.kill();
  return { alone, beside };
};

export const playRate = async ({ program, quick }: BenchOptions): Promise<Row[]> => {
  const size = quick ? 'quick' : 'full';
  const settings = {
    ...webhookEach(program, 2),
    poll: POLL,
    channels: { webhook: { rateLimit: { perSecond: PER_SECOND } } },
    crowds: [
      [{ kind: 'webhook', count: HANGING[size], from: QUIET, manner: 'hanging' }],
      [{ kind: 'webhook', count: 1, from: QUIET }],
    ],
  } as const;
  const { alone, beside } = await withStage(settings, (stage) => play(stage, SECONDS[size]));
  const due = SECONDS[size] * PER_SECOND;
  return [
    {
      key: 'fair-rate',
      work: `a webhook with a rate of ${PER_SECOND}/s beside ${HANGING[size]} that hang: share of what was due`,
      unit: '%',
      measured: beside * 100,
      yardstick: { name: 'alone', measured: alone * 100 },
      note: `${Math.round(beside * due)} of ${due} messages`,
      wanted: { of: 'value', least: WANTED * 100 },
    },
  ];
};
