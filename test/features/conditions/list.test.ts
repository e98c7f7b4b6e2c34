/** The one list of what is wrong, from what all daemons know. */
import { expect, test } from 'vitest';
import {
  CONDITION_NAMES,
  type Condition,
  conditionText,
  needsSomebody,
  nextStepOf,
  rowOf,
} from '../../../src/condition.ts';
import type { HeardDaemon } from '../../../src/features/conditions/daemons.ts';
import { conditionsOf } from '../../../src/features/conditions/list.ts';
import { clockText } from '../../../src/time.ts';
import { destinationOf } from '../../support/alerts.ts';

const NOW = Date.parse('2026-11-22T10:00:00.000Z');
const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1000).toISOString();

const daemon = (host: string, conditions: Condition[] = [], changes: Partial<HeardDaemon> = {}): HeardDaemon => ({
  id: host,
  host,
  pid: 12,
  version: '1.2.3',
  startedAt: at(900),
  uptimeMs: 0,
  ready: true,
  checks: [],
  services: [],
  silentMs: 0,
  conditions,
  ...changes,
});

const listed = (...daemons: HeardDaemon[]) => conditionsOf({ daemons, silent: [], broken: [], dead: 0, notes: [] });

const DISK: Condition = { name: 'disk', of: '', what: 'the disk of ./data is nearly full', since: at(100) };
const DURABILITY: Condition = { name: 'durability', of: 'append-only', what: 'appendonly is off', since: at(100) };

test('what all daemons share is listed once, with its earliest beginning', () => {
  const later = { ...DURABILITY, since: at(50) };
  expect(listed(daemon('alpha', [later]), daemon('beta', [DURABILITY]))).toEqual([DURABILITY]);
});

test('all daemons have the same templates: one that fails is listed once', () => {
  const template: Condition = { name: 'template', of: '1', what: 'templates.1 of the config fails', since: at(100) };
  expect(listed(daemon('alpha', [template]), daemon('beta', [{ ...template, since: at(50) }]))).toEqual([template]);
});

test('what one daemon has is listed with its host; two on one host have it together', () => {
  const texts = listed(daemon('alpha', [DISK]), daemon('alpha', [DISK], { id: 'b' }), daemon('beta', [DISK]));
  expect(texts.map(conditionText)).toEqual([
    `at alpha: the disk of ./data is nearly full since ${clockText(at(100))}`,
    `at beta: the disk of ./data is nearly full since ${clockText(at(100))}`,
  ]);
});

test('a daemon that does not run any more has none', () => {
  expect(listed(daemon('alpha', [DISK], { silentMs: 60_000 }), daemon('beta'))).toEqual([]);
});

test('what may pass by itself needs somebody when it lasts; a refused config does at once', () => {
  const config: Condition = { name: 'config', of: '', what: 'a changed config was refused', since: at(0) };
  expect(needsSomebody(config, NOW)).toBe(true);
  expect(needsSomebody(DISK, NOW)).toBe(true);
  expect(needsSomebody({ ...DISK, since: at(59) }, NOW)).toBe(false);
  // By the clock of a daemon that is ahead.
  expect(needsSomebody({ ...DISK, since: at(-3600) }, NOW)).toBe(true);
});

test.each(CONDITION_NAMES)('%s says what to do next, and what becomes of alerts', (name) => {
  expect(nextStepOf({ name })).toMatch(/^[a-z`].*[^.]$/);
  expect(rowOf(name).effect).toMatch(/^[A-Z].*[^.]$/);
});

test('protocols of which nothing is inspected are one of them, which their own feature announces', () => {
  const members = ['Vault', 'Bridge', 'Farm', 'Pool'];
  const silent = [{ service: 'main', key: 'main 1', members, since: at(9000), announcedTo: [] }];
  const [found] = conditionsOf({ daemons: [daemon('alpha')], silent, broken: [], dead: 0, notes: [] });
  expect(found).toMatchObject({ name: 'silent' });
  expect(found && conditionText(found)).toBe(
    `main: nothing is inspected of “Vault”, “Bridge”, “Farm” and 1 more since ${clockText(at(9000))}`,
  );
  expect(found && needsSomebody(found, NOW)).toBe(true);
});

test('where the people of each protocol heard of their own one, each is listed, with its cause', () => {
  const misfits = ['Vault', 'Farm'].map((name) => ({
    ...{ service: 'main', key: `misfits main 1 ${name}`, members: [name], since: at(60), why: 'no assessment' },
    announcedTo: [destinationOf('slack', name)],
  }));
  const found = conditionsOf({ daemons: [daemon('alpha')], silent: [], misfits, broken: [], dead: 0, notes: [] });
  expect(found).toMatchObject(
    ['Vault', 'Farm'].map((name) => ({
      ...{ name: 'misfits', what: `main: strange inspections are listed for “${name}”` },
      ...{ why: 'no assessment', announcedTo: [destinationOf('slack', name).label] },
    })),
  );
});
