import { expect, test } from 'vitest';
import { createConditions } from '../../src/ops/conditions.ts';
import { createHealth } from '../../src/ops/health.ts';

const START = Date.parse('2026-11-22T10:00:00.000Z');

test('a trouble is kept with its beginning until it is over, and each is known by its name and what it is of', () => {
  let at = START;
  const conditions = createConditions({ now: () => at });
  conditions.report('disk', 'the disk of ./data is nearly full', { why: '3 % are free' });
  conditions.report('queue', 'no job comes through the queue of slack', { of: 'slack' });
  at += 60_000;
  conditions.report('disk', 'the disk of ./data is nearly full', { why: '2 % are free' });
  conditions.report('queue', 'no job comes through the queue of email', { of: 'email' });
  expect(conditions.current()).toEqual([
    {
      name: 'disk',
      of: '',
      what: 'the disk of ./data is nearly full',
      why: '2 % are free',
      since: '2026-11-22T10:00:00.000Z',
    },
    { name: 'queue', of: 'slack', what: 'no job comes through the queue of slack', since: '2026-11-22T10:00:00.000Z' },
    { name: 'queue', of: 'email', what: 'no job comes through the queue of email', since: '2026-11-22T10:01:00.000Z' },
  ]);
  conditions.over('queue', 'slack');
  conditions.over('disk');
  conditions.over('clock');
  expect(conditions.current().map(({ of }) => of)).toEqual(['email']);
});

test('readiness names them; what stops the work of this daemon keeps it from being ready', () => {
  const conditions = createConditions({ now: () => START });
  const health = createHealth({ now: () => START, conditions: conditions.current });
  expect(health.ready()).toEqual({ status: 'ok', checks: [] });
  conditions.report('config', 'the changed config was refused');
  expect(health.ready()).toEqual({ status: 'ok', checks: [], troubles: conditions.current() });
  conditions.report('jobs', 'jobs of version 9 wait');
  expect(health.ready().status).toBe('not ready');
  conditions.over('jobs');
  expect(health.ready().status).toBe('ok');
});
