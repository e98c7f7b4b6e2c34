/** What is said of the daemons and services, from what the daemons reported. */
import { expect, test } from 'vitest';
import {
  daemonStatus,
  type HeardDaemon,
  SILENT_AFTER_MS,
  servicesAsKnown,
} from '../../../src/features/status/daemons.ts';
import { needsSomebody, troublesOf } from '../../../src/features/status/troubles.ts';
import type { ServiceStatus } from '../../../src/ops/status.ts';
import { clockText } from '../../../src/time.ts';
import { troubleText } from '../../../src/trouble.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const SINCE = '2026-11-21T09:50:00.000Z';
const JUST_NOW = '2026-11-21T09:59:50.000Z';

const ANSWERS: ServiceStatus = { name: 'main', up: true, state: 'answers', since: SINCE };
const FAILS: ServiceStatus = { name: 'main', up: false, state: 'fails', since: SINCE, lastError: 'answered 502' };
const PARTLY: ServiceStatus = { name: 'main', up: false, state: 'partly', since: SINCE, lastError: 'Vault: 404' };
const UNKNOWN: ServiceStatus = { name: 'main', up: false, state: 'unknown', lastError: 'it was not read yet' };

const heard = (service: ServiceStatus, changes: Partial<HeardDaemon> = {}): HeardDaemon => ({
  id: 'a',
  host: 'alpha',
  pid: 12,
  version: '1.2.3',
  startedAt: SINCE,
  ready: true,
  checks: [],
  services: [service],
  silentMs: 0,
  ...changes,
});

const said = (daemons: HeardDaemon[], dead = 0): string[] =>
  troublesOf({ daemons, services: servicesAsKnown(['main'], daemons), silent: [], broken: [], dead })
    .filter((trouble) => needsSomebody(trouble, NOW))
    .map(troubleText);

test('a daemon that fell silent does not run, and what it knew is said with its age', () => {
  const daemons = [heard(ANSWERS, { silentMs: 600_000 })];
  expect(daemons.map((one) => daemonStatus(one, NOW))).toMatchObject([{ isRunning: false, heardAt: SINCE }]);
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
  expect(said([heard(FAILS)])).toEqual([`main cannot be read since ${clockText(SINCE)}: answered 502`]);
});

test('a read that fails alone needs somebody only when that lasts', () => {
  expect(said([heard({ ...PARTLY, since: JUST_NOW })])).toEqual([]);
  expect(said([heard(PARTLY)])).toEqual([`main can be read in part only since ${clockText(SINCE)}: Vault: 404`]);
});

test('a channel that does not work is named once, and dead letters are counted', () => {
  const checks = [
    { name: 'channel:slack', status: 'failing' as const, since: SINCE, detail: 'invalid_auth' },
    { name: 'channel:email', status: 'unknown' as const, since: SINCE },
  ];
  const daemons = [heard(ANSWERS, { checks }), heard(ANSWERS, { id: 'b', checks })];
  expect(said(daemons)).toEqual([`slack does not work since ${clockText(SINCE)}: invalid_auth`]);
  expect(said([heard(ANSWERS)], 2)).toEqual(['2 deliveries are dead and kept: see tocsin dead list']);
});
