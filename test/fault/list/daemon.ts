/** The daemon itself ends or stands still. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { until } from '../../support/until.ts';
import type { DaemonProcess } from '../daemon-process.ts';
import type { Fault } from '../fault.ts';
import type { Stage } from '../stage.ts';

const ROUNDS = 4;
/** Config changes while alerts flow. */
const RELOADS = 50;
/** A reload waits for the sends of the one before it. */
const RELOADED_WITHIN_MS = 30_000;

const reloadsIn = async (daemon: DaemonProcess): Promise<number> =>
  (await daemon.log()).split('"msg":"the new config is in force"').length - 1;

/** Another config each time; every tenth time one that is refused comes first. */
const reloadOnce = async (daemon: DaemonProcess, round: number): Promise<void> => {
  const config = parse(daemon.configText) as { poll: object };
  const text = stringify({ ...config, poll: { ...config.poll, lookback: `${15 + round}m` } });
  if (round % 10 === 0) await daemon.reload(text.replace('lookback', 'lookbak'));
  const before = await reloadsIn(daemon);
  await daemon.reload(text);
  await until('the config is in force', async () => (await reloadsIn(daemon)) > before, RELOADED_WITHIN_MS);
};

/** Receivers take their time, so that something is in flight at any moment. */
const slowReceivers = ({ sandbox }: Stage, durationMs: number): (() => void) => {
  const { slack, telegram, webhook } = sandbox.receivers;
  const ends = [slack, telegram, webhook].map(({ script }) => script.always({ kind: 'slow', durationMs }));
  return () => {
    for (const end of ends) end();
  };
};

export const DAEMON_FAULTS: readonly Fault[] = [
  {
    name: 'kill',
    what: 'kill -9 of the daemon at random moments, four times, while sends take 200 ms',
    doubles: 'in flight',
    isQuick: true,
    grip: 'daemon',
    strike: async (stage) => {
      const [daemon] = stage.daemons;
      const endSlowness = slowReceivers(stage, 200);
      for (let round = 0; round < ROUNDS; round += 1) {
        await sleep(500 + stage.random.below(1500));
        await daemon.kill();
        await daemon.start();
      }
      endSlowness();
    },
  },
  {
    name: 'term',
    what: 'SIGTERM during sends that take 2 s, twice',
    doubles: 'none',
    strike: async (stage) => {
      const [daemon] = stage.daemons;
      const endSlowness = slowReceivers(stage, 2000);
      for (let round = 0; round < 2; round += 1) {
        await sleep(1000 + stage.random.below(2000));
        const code = await daemon.terminate();
        if (code !== 0) throw new Error(`SIGTERM: exit code ${code}`);
        await daemon.start();
      }
      endSlowness();
    },
  },
  {
    name: 'reload',
    what: `the config changes ${RELOADS} times, while sends take 200 ms; every tenth time a wrong one comes first`,
    doubles: 'none',
    stage: { perSecond: 20 },
    strike: async (stage) => {
      const [daemon] = stage.daemons;
      const endSlowness = slowReceivers(stage, 200);
      for (let round = 1; round <= RELOADS; round += 1) await reloadOnce(daemon, round);
      endSlowness();
    },
  },
  {
    name: 'freeze',
    what: 'SIGSTOP for 15 s, beyond every lock, then SIGCONT',
    doubles: 'in flight',
    grip: 'daemon',
    strike: async ({ daemons: [daemon] }) => {
      daemon.freeze();
      await sleep(15_000);
      daemon.thaw();
    },
  },
];
