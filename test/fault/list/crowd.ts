/** Three daemons share the work, and one of them is hurt. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { until } from '../../support/until.ts';
import { type DaemonProcess, metricsTell } from '../daemon-process.ts';
import type { Fault } from '../fault.ts';
import type { Stage } from '../stage.ts';
import { slowReceivers } from './daemon.ts';

/** Beyond every lock. */
const GONE_MS = 15_000;
const THREE = { daemons: 3 };

/** A daemon that was not heard for 20 s is missed; then those that are left say so at their next look. */
const MISSED_WITHIN_MS = 60_000;

/** Its beat is missed after seconds, and its jobs are due again then. */
const SENT_WITHIN_MS = 60_000;

export const CROWD_FAULTS: readonly Fault[] = [
  {
    name: 'one-gone',
    what: 'kill -9 of one of two daemons, until the metrics of the other tell it; it is started again, until they tell that',
    stage: { daemons: 2 },
    doubles: 'in flight',
    strike: async ({ daemons: [daemon, other = daemon] }) => {
      await daemon.kill();
      await metricsTell(other, 'tocsin_trouble{trouble="member"} 1', MISSED_WITHIN_MS);
      await daemon.start();
      await metricsTell(other, 'tocsin_trouble{trouble="member"} 0', MISSED_WITHIN_MS);
    },
  },
  {
    name: 'jobs-freed',
    what: 'kill -9 of one of two daemons while sends take 3 s; before it is started again, the other sends what that one had taken',
    stage: { daemons: 2 },
    doubles: 'in flight',
    strike: async (stage) => {
      const { daemons, books } = stage;
      const [daemon] = daemons;
      const endSlowness = slowReceivers(stage, 3000);
      await sleep(5000);
      await daemon.kill();
      endSlowness();
      const open = new Set(books.lost());
      const isSent = (): boolean => !books.lost().some((line) => open.has(line));
      await until('what it had taken is sent by the other', isSent, SENT_WITHIN_MS);
      await daemon.start();
    },
  },
  {
    name: 'three-killed',
    what: 'kill -9 of one of three daemons, started again after 15 s',
    stage: THREE,
    doubles: 'in flight',
    strike: async ({ daemons: [daemon] }) => {
      await daemon.kill();
      await sleep(GONE_MS);
      await daemon.start();
    },
  },
  {
    name: 'two-configs',
    what: 'one of three daemons gets another config, is killed for 45 s, and is back; then the others get it, too',
    stage: THREE,
    doubles: 'in flight',
    strike: async ({ daemons: [daemon, ...others] }) => {
      const config = parse(daemon.configText) as { alerts: object };
      const text = stringify({ ...config, alerts: { ...config.alerts, assessments: ['critical', 'suspecious'] } });
      await daemon.reload(text);
      await sleep(GONE_MS);
      await daemon.kill();
      await sleep(3 * GONE_MS);
      await daemon.start();
      await sleep(GONE_MS);
      for (const other of others) await other.reload(text);
    },
  },
  {
    name: 'three-frozen',
    what: 'SIGSTOP of one of three daemons for 15 s',
    stage: THREE,
    doubles: 'in flight',
    strike: async ({ daemons: [daemon] }) => {
      daemon.freeze();
      await sleep(GONE_MS);
      daemon.thaw();
    },
  },
  {
    name: 'three-cut-off',
    what: 'one of three daemons has no way to Redis for 15 s, and gets no error',
    stage: THREE,
    doubles: 'in flight',
    strike: async ({ redis: { links } }) => {
      links[0]?.swallow();
      await sleep(GONE_MS);
      links[0]?.heal();
    },
  },
];

type Hurt = (stage: Stage, daemon: DaemonProcess, at: number) => Promise<void>;

/** What becomes of one daemon, each for 15 s. */
const HURTS: Readonly<Record<string, Hurt>> = {
  killed: async (_stage, daemon) => {
    await daemon.kill();
    await sleep(GONE_MS);
    await daemon.start();
  },
  frozen: async (_stage, daemon) => {
    daemon.freeze();
    await sleep(GONE_MS);
    daemon.thaw();
  },
  'cut off from the service': async ({ wayOf }, daemon) => {
    wayOf(daemon).swallow();
    await sleep(GONE_MS);
    wayOf(daemon).heal();
  },
  'cut off from Redis': async ({ redis: { links } }, _daemon, at) => {
    links[at]?.swallow();
    await sleep(GONE_MS);
    links[at]?.heal();
  },
  'with another config': async (_stage, daemon) => {
    const config = parse(daemon.configText) as { alerts: object };
    const before = daemon.configText;
    await daemon.reload(
      stringify({ ...config, alerts: { ...config.alerts, assessments: ['critical', 'suspecious'] } }),
    );
    await sleep(GONE_MS);
    await daemon.reload(before);
  },
};

const EVERY_MS = 30_000;

/** One of three daemons after another is hurt, in each way as often. */
export const inTurnFault = (minutes: number): Fault => ({
  name: 'in-turn',
  what: `every 30 s one of three daemons is ${Object.keys(HURTS).join(', ')}, for ${minutes} min`,
  stage: THREE,
  doubles: 'in flight',
  strike: async (stage) => {
    const { random, note, daemons } = stage;
    const ways = Object.entries(HURTS);
    const rounds = Math.ceil((minutes * 60_000) / EVERY_MS);
    for (let round = 0; round < rounds; round += 1) {
      const [how, hurt] = ways[round % ways.length] ?? [];
      const at = random.below(daemons.length);
      const daemon = daemons[at];
      if (how === undefined || hurt === undefined || daemon === undefined) throw new Error('nobody can be hurt');
      note(`daemon ${at + 1} is ${how}`);
      await Promise.all([hurt(stage, daemon, at), sleep(EVERY_MS)]);
    }
  },
});
