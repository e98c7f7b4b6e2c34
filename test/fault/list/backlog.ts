/** Very many alerts wait as a daemon starts. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { StatusReport } from '../../../src/ops/status.ts';
import { until } from '../../support/until.ts';
import type { DaemonProcess } from '../daemon-process.ts';
import type { Fault } from '../fault.ts';

const READ_WITHIN_MS = 1_200_000;

/** Deliveries that wait, by the daemon's own account; while it reads very many it may have none in time. */
export const waitingAt = async (daemon: DaemonProcess): Promise<number> => {
  const answer = await fetch(`${daemon.url()}/status.json`);
  if (!answer.ok) return 0;
  const report = (await answer.json()) as StatusReport;
  return report.destinations.reduce((sum, { waiting }) => sum + waiting, 0);
};

export const backlogFault = (alerts: number): Fault => ({
  name: 'backlog',
  what: `${alerts} alerts wait for a webhook that was away, as the daemon is killed and started`,
  stage: { kinds: ['webhook'], perSecond: 1 },
  doubles: 'in flight',
  strike: async ({ sandbox, daemons: [daemon], names }) => {
    await sandbox.receivers.webhook.stop();
    for (let n = 0; n < alerts; n += 1) {
      sandbox.service.insertInspection({ protocol: names[n % names.length] ?? '', assessment: 'critical' });
    }
    const areQueued = async (): Promise<boolean> => {
      await sleep(1000);
      return (await waitingAt(daemon)) >= alerts;
    };
    await until('all of them are queued', areQueued, READ_WITHIN_MS);
    await daemon.kill();
    await sandbox.receivers.webhook.start();
    await daemon.start();
  },
});
