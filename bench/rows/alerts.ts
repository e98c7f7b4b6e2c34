/**
 * Alerts that the service has all at once, for one webhook: CPU an alert beside the floor, alerts a second beside
 * Alertmanager, and commands to Redis. Each repetition plays these three and a bare pipeline one after the other.
 */
import { fileURLToPath } from 'node:url';
import type { Bench, BenchOptions, Row } from '../row.ts';
import { medianOf } from '../run.ts';
import { type Stage, webhookEach, withStage } from '../stage/stage.ts';
import { arrived } from '../world/arrived.ts';
import { CLOSE, type Dates, RECENT } from '../world/dates.ts';
import { findAlertmanager } from '../yardsticks/alertmanager.ts';
import { type Cost, costOf, playAlertmanager, playFloor, warmUpFor } from '../yardsticks/play.ts';
import { startYardstick, type Yardstick } from '../yardsticks/yardstick.ts';

export interface Tocsin extends Cost {
  daemonUs: number;
  redisUs: number;
  /** To Redis, an alert; those that scripts give are counted as well. */
  commands: number;
  scripts: number;
  /** Written to Redis. */
  bytes: number;
  /** By the daemon, where the stage counts that. */
  allocated: number;
}

export interface Burst {
  count: number;
  /** The first so many protocols have the warm-up, as many more what is measured. Default: 1. */
  half?: number;
  dates?: Dates;
  /** Of the text that makes an item large. */
  bytes?: number;
}

interface Round {
  tocsin: Tocsin;
  floor: Cost;
  bare: Cost;
  alertmanager: Cost | undefined;
}

/** It runs in the daemon's place. */
const BARE = fileURLToPath(new URL('../yardsticks/bare.ts', import.meta.url));

/** What the bench itself asks Redis. */
const OURS = ['info', 'ping', 'config|resetstat', 'flushall'];
const SCRIPTS = ['eval', 'evalsha', 'fcall'];

/** A second poll would read the same alerts once more, as their dates are close together: it comes after them. */
export const POLL = { interval: '15s' };

export const playTocsin = async (stage: Stage, burst: Burst): Promise<Tocsin> => {
  const { world, redis } = stage;
  const { count, half = 1, dates = CLOSE, bytes = 0 } = burst;
  const warmUp = warmUpFor(count);
  world.reset();
  world.store({ count: warmUp, from: 0, to: half, dates: RECENT, bytes });
  const daemon = await stage.startDaemon();
  await arrived(world, warmUp);
  world.reset();
  await redis.resetCommands();
  const before = { daemon: daemon.cpu(), redis: redis.cpu(), allocated: daemon.allocated() };
  world.store({ count, from: half, to: 2 * half, dates, bytes });
  const { firstToldAt, lastAt } = await arrived(world, count);
  const [daemonSeconds, redisSeconds] = [daemon.cpu() - before.daemon, redis.cpu() - before.redis];
  const calls = [...(await redis.commands())].filter(([name]) => !OURS.includes(name));
  const sumOf = (some: typeof calls): number => some.reduce((sum, [, times]) => sum + times, 0) / count;
  return {
    ...costOf(count, daemonSeconds + redisSeconds, lastAt - firstToldAt),
    daemonUs: (daemonSeconds * 1e6) / count,
    redisUs: (redisSeconds * 1e6) / count,
    commands: sumOf(calls),
    scripts: sumOf(calls.filter(([name]) => SCRIPTS.includes(name))),
    bytes: (await redis.writtenBytes()) / count,
    allocated: (daemon.allocated() - before.allocated) / count,
  };
};

const playRound = async ({ program }: BenchOptions, yardstick: Yardstick, count: number): Promise<Round> => {
  const settings = { ...webhookEach(program, 2), poll: POLL };
  const rival = findAlertmanager();
  const bare = await withStage({ ...settings, program: BARE }, (stage) => playTocsin(stage, { count }));
  return withStage(settings, async (stage) => ({
    bare,
    floor: await playFloor(stage, yardstick, { count }),
    alertmanager: rival === undefined ? undefined : await playAlertmanager(stage, rival, count),
    tocsin: await playTocsin(stage, { count }),
  }));
};

const us = (value: number): string => value.toFixed(0);

const rowsOf = (rounds: readonly Round[], count: number): Row[] => {
  const all = (pick: (round: Round) => number): number => medianOf(rounds.map(pick));
  const hasRival = rounds.every(({ alertmanager }) => alertmanager !== undefined);
  const rival = (pick: (cost: Cost) => number) => (round: Round) =>
    round.alertmanager === undefined ? Number.NaN : pick(round.alertmanager);
  const [rivalUs, rivalRate] = [rival((cost) => cost.us), rival((cost) => cost.perSecond)];
  return [
    {
      key: 'alert-cpu',
      work: 'CPU an alert to a webhook',
      unit: 'us',
      measured: all(({ tocsin }) => tocsin.us),
      yardstick: {
        name: 'floor',
        measured: all(({ floor }) => floor.us),
        ratio: all(({ tocsin, floor }) => tocsin.us / floor.us),
      },
      note: `daemon ${us(all(({ tocsin }) => tocsin.daemonUs))}, Redis ${us(all(({ tocsin }) => tocsin.redisUs))}; a bare pipeline ${us(all(({ bare }) => bare.us))}, ${all(({ bare, floor }) => bare.us / floor.us).toFixed(2)} x${hasRival ? `; Alertmanager ${us(all(rivalUs))}` : ''}`,
      wanted: { of: 'ratio', most: 2.2 },
    },
    {
      key: 'alert-rate',
      work: `alerts a second, ${count} at once`,
      unit: '/s',
      measured: all(({ tocsin }) => tocsin.perSecond),
      ...(hasRival && {
        yardstick: {
          name: 'Alertmanager',
          measured: all(rivalRate),
          ratio: all((round) => round.tocsin.perSecond / rivalRate(round)),
        },
      }),
      note: `floor ${us(all(({ floor }) => floor.perSecond))}/s, a bare pipeline ${us(all(({ bare }) => bare.perSecond))}/s${hasRival ? '' : '; Alertmanager is not installed here'}`,
      wanted: { of: 'ratio', least: 0.6 },
    },
    {
      key: 'alert-commands',
      work: 'Redis commands an alert',
      unit: '',
      measured: all(({ tocsin }) => tocsin.commands),
      note: `of them ${all(({ tocsin }) => tocsin.scripts).toFixed(2)} scripts; what scripts call is counted; ${us(all(({ tocsin }) => tocsin.bytes))} bytes written to Redis an alert`,
      wanted: { of: 'value', most: 5 },
    },
  ];
};

export const measure: Bench = async (options) => {
  const count = options.alerts;
  const yardstick = await startYardstick();
  try {
    const rounds: Round[] = [];
    while (rounds.length < options.repeat) {
      rounds.push(await playRound(options, yardstick, count));
      options.say(`alerts: ${rounds.length} of ${options.repeat}`);
    }
    return rowsOf(rounds, count);
  } finally {
    await yardstick.stop();
  }
};
