/** A daemon of the suite in this process, for faults that only its Redis or its service suffers: it starts in no time. */
import { join } from 'node:path';
import { parseConfig } from '../../src/config/load.ts';
import { type RunningDaemon, startDaemon } from '../scenario/daemons.ts';
import type { DaemonProcess, DaemonSettings } from './daemon-process.ts';

export const createDaemonHere = async (settings: DaemonSettings): Promise<DaemonProcess> => {
  const { directory, configText, environment } = settings;
  const dataDir = join(directory, 'data');
  const env = { TOCSIN_DATA_DIR: dataDir, TOCSIN_OPS_LISTEN: '127.0.0.1:0', ...environment };
  let running: RunningDaemon | undefined;
  const stop = async (): Promise<void> => {
    await running?.stop();
    running = undefined;
  };
  const isOfProcess = (): never => {
    throw new Error('only a process can be hurt so');
  };
  return {
    start: async () => {
      running = await startDaemon(parseConfig(configText, 'tocsin.yaml', env));
    },
    kill: stop,
    terminate: async () => {
      await stop();
      return 0;
    },
    reload: isOfProcess,
    freeze: isOfProcess,
    thaw: isOfProcess,
    trouble: isOfProcess,
    configText,
    dataDir,
    pid: () => undefined,
    url: () => running?.url ?? '',
    log: async () => running?.logText() ?? '',
    isRunning: () => running !== undefined,
  };
};
