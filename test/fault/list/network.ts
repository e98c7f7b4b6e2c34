/** Connections that fall silent without being closed, and names that nobody knows. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNEL_KINDS } from '../../../src/alert.ts';
import { until } from '../../support/until.ts';
import type { DaemonProcess } from '../daemon-process.ts';
import type { Fault } from '../fault.ts';
import type { End, Stage } from '../stage.ts';

const SILENT_MS = 10_000;

const halfOpen = (end: End): Fault => ({
  name: `half-open-${end}`,
  what: `connections to ${end === 'service' ? 'the service' : end} swallow all bytes for 10 s; the old ones stay silent`,
  doubles: 'in flight',
  grip: end === 'service' ? 'service' : 'receivers',
  strike: async ({ links }) => {
    links[end].swallow();
    await sleep(SILENT_MS);
    links[end].heal();
  },
});

const names = (how: 'unknown' | 'silent'): Fault => ({
  name: `names-${how}`,
  what: `every connection is cut, and for 10 s the name server ${how === 'unknown' ? 'knows no name' : 'is silent'}`,
  stage: { host: 'localhost' },
  doubles: 'in flight',
  strike: async ({ daemons: [daemon], links }) => {
    await daemon.trouble({ names: how });
    await sleep(200);
    for (const link of Object.values(links)) link.cut();
    await sleep(SILENT_MS);
    await daemon.trouble({});
  },
});

/** Three intervals, and what a daemon needs to know that the service answers others only. */
const FOUND_WITHIN_MS = 20_000;

/** Cuts one daemon off from the service; what is written meanwhile is found by the other. */
const cutOff = async (stage: Stage, daemon: DaemonProcess): Promise<void> => {
  const { names, sandbox, books, wayOf } = stage;
  wayOf(daemon).swallow();
  await sleep(SILENT_MS);
  const written = names.map((protocol) => sandbox.service.insertInspection({ protocol, assessment: 'critical' }));
  const isFound = () => written.every(({ txHash }) => books.arrivalsOf(txHash).length > 0);
  await until('the other daemon finds what is written', isFound, FOUND_WITHIN_MS);
  wayOf(daemon).heal();
};

export const NETWORK_FAULTS: readonly Fault[] = [
  {
    name: 'half-open-redis',
    what: 'connections to Redis swallow all bytes for 20 s; the old ones stay silent',
    doubles: 'in flight',
    grip: 'redis',
    strike: async ({ redis: { links } }) => {
      for (const link of links) link.swallow();
      await sleep(2 * SILENT_MS);
      for (const link of links) link.heal();
    },
  },
  ...(['service', ...CHANNEL_KINDS] as const).map(halfOpen),
  {
    name: 'relay-refuses',
    what: 'the mail server refuses connections for 20 s: one announcement says so, and none says it of a mailbox',
    stage: {
      kinds: ['email', 'slack'],
      config: { watchdog: { channels: [{ name: 'slack', contacts: ['C0OPS00001'] }] } },
    },
    doubles: 'in flight',
    strike: async ({ links, sandbox }) => {
      links.email.refuse();
      await sleep(2 * SILENT_MS);
      const told = sandbox.receivers.slack.received().filter(({ text }) => text.includes('takes no alerts'));
      await links.email.accept();
      if (told.length !== 1 || !told[0]?.text.includes('every mailbox')) {
        throw new Error(`announced: ${told.map(({ text }) => text.slice(0, 100)).join('; ')}`);
      }
    },
  },
  {
    name: 'cut-off',
    what: 'connections of one of two daemons to the service swallow all bytes until the other has found its alerts; then the same the other way round',
    stage: { daemons: 2, hasOwnWays: true },
    doubles: 'none',
    strike: async (stage) => {
      for (const daemon of stage.daemons) {
        await cutOff(stage, daemon);
        await sleep(SILENT_MS);
      }
    },
  },
  names('unknown'),
  names('silent'),
];
