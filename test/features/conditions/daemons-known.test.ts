/** What is said of the daemons and services, from what the daemons reported. */
import { expect, test } from 'vitest';
import { type Condition, conditionText, needsSomebody } from '../../../src/condition.ts';
import {
  daemonStatus,
  type HeardDaemon,
  SILENT_AFTER_MS,
  servicesAsKnown,
} from '../../../src/features/conditions/daemons.ts';
import { conditionsOf } from '../../../src/features/conditions/list.ts';
import type { ServiceStatus } from '../../../src/ops/status.ts';
import { clockText } from '../../../src/time.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const SINCE = '2026-11-21T09:50:00.000Z';
const JUST_NOW = '2026-11-21T09:59:50.000Z';

const ANSWERS: ServiceStatus = { name: 'main', up: true, state: 'answers', since: SINCE };
const FAILS: ServiceStatus = { name: 'main', up: false, state: 'fails', since: SINCE, lastError: 'answered 502' };
const PARTLY: ServiceStatus = { name: 'main', up: false, state: 'partly', since: SINCE, lastError: 'Vault: 404' };
const UNKNOWN: ServiceStatus = { name: 'main', up: false, state: 'unknown', lastError: 'it was not read yet' };

/** As its daemon reports it. */
const conditionOf = ({ name: of, state, since = SINCE, lastError: why = '' }: ServiceStatus): Condition[] => {
  if (state === 'fails')
    return [{ name: 'service', of, what: 'the monitoring service main cannot be read', why, since }];
  return state === 'partly'
    ? [{ name: 'unread', of, under: of, what: 'the monitoring service main can be read in part only', why, since }]
    : [];
};

const heard = (service: ServiceStatus, changes: Partial<HeardDaemon> = {}): HeardDaemon => ({
  id: 'a',
  host: 'alpha',
  pid: 12,
  version: '1.2.3',
  startedAt: SINCE,
  uptimeMs: 0,
  ready: true,
  checks: [],
  conditions: conditionOf(service),
  services: [service],
  silentMs: 0,
  ...changes,
});

const said = (daemons: HeardDaemon[], dead = 0): string[] =>
  conditionsOf({ daemons, silent: [], broken: [], dead, notes: [] })
    .filter((one) => needsSomebody(one, NOW))
    .map(conditionText);

test('a daemon that fell silent does not run, and what it knew is said with its age', () => {
  const daemons = [heard(ANSWERS, { silentMs: 600_000 })];
  expect(daemons.map((one) => daemonStatus(one, [], NOW))).toMatchObject([{ isRunning: false, heardAt: SINCE }]);
  expect(servicesAsKnown(['main'], daemons)).toEqual([
    { name: 'main', up: false, state: 'unknown', lastError: 'unknown, as no daemon runs; 10 min ago it answered' },
  ]);
  expect(said(daemons)).toEqual(['no daemon runs, or none reaches Redis: alpha (pid 12) was last heard 10 min ago']);
  expect(said([heard(ANSWERS, { silentMs: SILENT_AFTER_MS })])).toEqual([]);
});

test('one daemon that cannot read a service is enough, and one that has not yet read it says nothing', () => {
  const other = (service: ServiceStatus) => heard(service, { id: 'b' });
  expect(servicesAsKnown(['main'], [heard(ANSWERS), other(FAILS)])).toEqual([FAILS]);
  expect(servicesAsKnown(['main'], [heard(UNKNOWN), other(ANSWERS)])).toEqual([ANSWERS]);
  expect(servicesAsKnown(['main'], [heard(FAILS, { silentMs: 60_000 }), other(ANSWERS)])).toEqual([ANSWERS]);
  expect(servicesAsKnown(['new'], [heard(ANSWERS)])).toMatchObject([{ name: 'new', up: false, state: 'unknown' }]);
  expect(said([heard(UNKNOWN)])).toEqual([]);
  expect(said([heard(FAILS)])).toEqual([
    `the monitoring service main cannot be read since ${clockText(SINCE)}: answered 502`,
  ]);
});

test('a read that fails alone needs somebody only when that lasts', () => {
  expect(said([heard({ ...PARTLY, since: JUST_NOW })])).toEqual([]);
  expect(said([heard(PARTLY)])).toEqual([
    `the monitoring service main can be read in part only since ${clockText(SINCE)}: Vault: 404`,
  ]);
});

test('protocols of a service that another daemon cannot read at all are listed in that', () => {
  const daemons = [heard(PARTLY), heard(FAILS, { id: 'b' })];
  expect(said(daemons)).toEqual([`the monitoring service main cannot be read since ${clockText(SINCE)}: answered 502`]);
  expect(conditionsOf({ daemons, silent: [], broken: [], dead: 0, notes: [] })).toMatchObject([
    { name: 'service', affected: ['the monitoring service main can be read in part only'] },
  ]);
});

test('a channel that does not work is named once, and dead letters are counted', () => {
  const conditions: Condition[] = [
    { name: 'channel', of: 'slack', what: 'slack does not work', why: 'invalid_auth', since: SINCE },
  ];
  const daemons = [heard(ANSWERS, { conditions }), heard(ANSWERS, { id: 'b', conditions })];
  expect(said(daemons)).toEqual([`slack does not work since ${clockText(SINCE)}: invalid_auth`]);
  expect(said([heard(ANSWERS)], 2)).toEqual(['2 deliveries are dead and kept: see tocsin dead list']);
});
