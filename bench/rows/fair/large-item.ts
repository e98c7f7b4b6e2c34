/** One item of 5 MB for 50 webhooks, and a daemon with a small heap: does it live, and does everybody get something? */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions, Row } from '../../row.ts';
import type { DaemonProcess } from '../../stage/daemon.ts';
import { type Stage, webhookEach, withStage } from '../../stage/stage.ts';
import { RECENT } from '../../world/dates.ts';
import { BUSY, POLL } from './quiet.ts';

const BYTES = { full: 5_000_000, quick: 500_000 };
const WEBHOOKS = { full: 50, quick: 10 };
const HEAP_MB = 256;
const LIMIT_MS = { full: 60_000, quick: 20_000 };
/** After the last has it, the daemon goes on so long. */
const AFTERWARDS_MS = { full: 5000, quick: 1000 };
/** A supervisor starts again what ended. */
const RESTART_MS = 1000;

/** Keeps a daemon running, as a supervisor would. */
const supervise = (first: DaemonProcess, start: () => Promise<DaemonProcess>) => {
  let [daemon, restarts, peakMb, isOver] = [first, 0, 0, false];
  const watch = async (): Promise<void> => {
    while (!isOver) {
      await daemon.ended;
      if (isOver) return;
      restarts += 1;
      await sleep(RESTART_MS);
      daemon = await start().catch(() => daemon);
    }
  };
  const watching = watch();
  return {
    look: (): void => {
      // It may have ended just now.
      try {
        peakMb = Math.max(peakMb, daemon.peakMemory() || 0);
      } catch {}
    },
    stop: async () => {
      isOver = true;
      await daemon.kill();
      await watching;
      return { restarts, peakMb };
    },
  };
};

const play = async ({ world, startDaemon }: Stage, quick: boolean) => {
  const size = quick ? 'quick' : 'full';
  const supervisor = supervise(await startDaemon(), startDaemon);
  // What is older than its first read is history.
  await sleep(2000);
  world.store({ count: 1, from: BUSY, to: BUSY + 1, dates: RECENT, bytes: BYTES[size] });
  let messages = 0;
  for (const end = performance.now() + LIMIT_MS[size]; messages < WEBHOOKS[size] && performance.now() < end; ) {
    await sleep(250);
    supervisor.look();
    messages = (await world.tally()).messages;
  }
  await sleep(AFTERWARDS_MS[size]);
  supervisor.look();
  return { ...(await supervisor.stop()), messages };
};

export const playLargeItem = async ({ program, quick }: BenchOptions): Promise<Row[]> => {
  const size = quick ? 'quick' : 'full';
  const settings = {
    ...webhookEach(program, 1),
    poll: POLL,
    crowds: [[{ kind: 'webhook', count: WEBHOOKS[size], from: 0 }]],
    environment: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
  } as const;
  const { restarts, peakMb, messages } = await withStage(settings, (stage) => play(stage, quick));
  const what = `an item of ${BYTES[size] / 1e6} MB to ${WEBHOOKS[size]} webhooks, heap of ${HEAP_MB} MB`;
  return [
    {
      key: 'large-item-restarts',
      work: `${what}: times that the daemon died`,
      unit: '',
      measured: restarts,
      note: `it took at most ${peakMb.toFixed(0)} MB`,
      wanted: { of: 'value', most: 0 },
    },
    {
      key: 'large-item-received',
      work: 'of these webhooks got it',
      unit: '',
      measured: messages,
      wanted: { of: 'value', least: WEBHOOKS[size] },
    },
  ];
};
