/** What Tocsin takes while there is nothing to do, and until it works: the daemon, `--help` and `status`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNEL_KINDS } from '../../src/alert.ts';
import type { Bench, BenchOptions, Row } from '../row.ts';
import { medianOf } from '../run.ts';
import type { DaemonProcess } from '../stage/daemon.ts';
import { programEnvironment } from '../stage/image.ts';
import { type Stage, withStage } from '../stage/stage.ts';
import { startYardstick } from '../yardsticks/yardstick.ts';

/** The first listing and the first polls have been. */
const SETTLE_MS = 10_000;
const WINDOWS = 5;
const BARE_POSTS = 4;
const BARE_SECONDS = 10;

interface Idle {
  memory: number;
  /** Shares of a core. */
  daemon: number;
  redis: number;
  commandsASecond: number;
}

/** Seconds until Node has done that. */
const runNode = async (args: readonly string[]): Promise<number> => {
  const begunAt = performance.now();
  const child = spawn(process.execPath, args, { stdio: 'ignore', env: programEnvironment() });
  await once(child, 'exit');
  return (performance.now() - begunAt) / 1000;
};

const watchIdle = async ({ redis, startDaemon }: Stage, seconds: number): Promise<Idle> => {
  const daemon = await startDaemon();
  await sleep(SETTLE_MS);
  const windows: Omit<Idle, 'memory'>[] = [];
  while (windows.length < WINDOWS) {
    await redis.resetCommands();
    const before = { daemon: daemon.cpu(), redis: redis.cpu(), at: performance.now() };
    await sleep((seconds * 1000) / WINDOWS);
    const passed = (performance.now() - before.at) / 1000;
    const calls = await redis.commandsGiven();
    windows.push({
      daemon: (daemon.cpu() - before.daemon) / passed,
      redis: (redis.cpu() - before.redis) / passed,
      commandsASecond: calls / passed,
    });
  }
  return {
    memory: daemon.memory(),
    daemon: medianOf(windows.map((one) => one.daemon)),
    redis: medianOf(windows.map((one) => one.redis)),
    // Whole rounds of what comes every 15 seconds, and no noise that a median would take out.
    commandsASecond: windows.reduce((sum, one) => sum + one.commandsASecond, 0) / WINDOWS,
  };
};

interface Bare {
  memory: number;
  /** Of a core. */
  share: number;
}

/** A process that has the same libraries, and does as little as can be. */
const watchBare = async ({ world }: Stage): Promise<Bare> => {
  const yardstick = await startYardstick();
  try {
    const memory = yardstick.memory();
    const order = { kind: 'post', url: world.url, perSecond: BARE_POSTS, seconds: BARE_SECONDS } as const;
    const { cpuSeconds, seconds } = await yardstick.run(order);
    return { memory, share: cpuSeconds / seconds };
  } finally {
    await yardstick.stop();
  }
};

const idleCommandsRow = ({ commandsASecond, daemon, redis }: Idle): Row => ({
  key: 'idle-commands',
  work: 'idle, four protocols, all kinds: Redis commands',
  unit: '/s',
  measured: commandsASecond,
  note: `daemon ${(100 * daemon).toFixed(1)} %, Redis ${(100 * redis).toFixed(1)} %; what scripts call is counted`,
  wanted: { of: 'value', most: 30 },
});

const idleRows = (idle: Idle, starts: readonly DaemonProcess[], bare: Bare, bareStart: number): Row[] => [
  {
    key: 'idle-memory',
    work: 'idle, one protocol: memory',
    unit: 'MB',
    measured: idle.memory,
    yardstick: { name: 'Node with BullMQ and undici', measured: bare.memory },
    wanted: { of: 'value', most: 110 },
  },
  {
    key: 'idle-start',
    work: 'from the start until it works',
    unit: 's',
    measured: medianOf(starts.map(({ startSeconds }) => startSeconds)),
    yardstick: { name: 'bare Node', measured: bareStart },
    note: `${medianOf(starts.map(({ startCpuSeconds }) => startCpuSeconds)).toFixed(2)} s of CPU`,
    wanted: { of: 'value', most: 0.7 },
    watched: 'ratio',
  },
  {
    key: 'idle-cpu',
    work: 'idle, one protocol: CPU',
    unit: '% of a core',
    measured: 100 * idle.daemon,
    yardstick: { name: `${BARE_POSTS} bare POSTs/s`, measured: 100 * bare.share },
    note: `Redis ${(100 * idle.redis).toFixed(1)} %; ${idle.commandsASecond.toFixed(1)} Redis commands/s`,
    wanted: { of: 'value', most: 0.5 },
    watched: 'ratio',
  },
];

interface Commands {
  help: number;
  status: number;
  bare: number;
}

const timeCommands = async ({ program, repeat }: BenchOptions, { config, startDaemon }: Stage): Promise<Commands> => {
  await startDaemon();
  const times: Commands[] = [];
  // The first of each fills the caches of files.
  for (let n = 0; n <= repeat; n += 1) {
    times.push({
      help: await runNode([program, '--help']),
      status: await runNode([program, 'status', '--config', config]),
      bare: await runNode(['--eval', '0']),
    });
  }
  const middle = (pick: (one: Commands) => number): number => medianOf(times.slice(1).map(pick));
  return { help: middle(({ help }) => help), status: middle(({ status }) => status), bare: middle(({ bare }) => bare) };
};

const commandRow = (name: 'help' | 'status', { [name]: measured, bare }: Commands, most: number): Row => ({
  key: `command-${name}`,
  work: name === 'help' ? 'tocsin --help' : 'tocsin status',
  unit: 's',
  measured,
  yardstick: { name: 'bare Node', measured: bare },
  wanted: { of: 'value', most },
  watched: 'ratio',
});

export const measure: Bench = async (options) => {
  const { program, quick, repeat } = options;
  const settings = { program, protocols: 1, hanging: 0, kinds: ['webhook'], each: 'one', isDefault: true } as const;
  const { bare, idle } = await withStage(settings, async (stage) => ({
    bare: await watchBare(stage),
    idle: await watchIdle(stage, quick ? 15 : 60),
  }));
  const several = { ...settings, protocols: 4, kinds: CHANNEL_KINDS, each: 'all' } as const;
  const idleOfFour = await withStage(several, (stage) => watchIdle(stage, quick ? 15 : 60));
  const starts: DaemonProcess[] = [];
  while (starts.length < repeat) starts.push(await withStage(settings, ({ startDaemon }) => startDaemon()));
  const commands = await withStage(settings, (stage) => timeCommands(options, stage));
  return [
    ...idleRows(idle, starts, bare, commands.bare),
    idleCommandsRow(idleOfFour),
    commandRow('help', commands, 0.1),
    commandRow('status', commands, 0.4),
  ];
};
