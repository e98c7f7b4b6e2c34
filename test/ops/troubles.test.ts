import { expect, test } from 'vitest';
import { createHealth } from '../../src/ops/health.ts';
import { createTroubles } from '../../src/ops/troubles.ts';

const START = Date.parse('2026-11-22T10:00:00.000Z');

test('a trouble is kept with its beginning until it is over, and each is known by its name and what it is of', () => {
  let at = START;
  const troubles = createTroubles({ now: () => at });
  troubles.report('disk', 'the disk of ./data is nearly full', { why: '3 % are free' });
  troubles.report('queue', 'no job comes through the queue of slack', { of: 'slack' });
  at += 60_000;
  troubles.report('disk', 'the disk of ./data is nearly full', { why: '2 % are free' });
  troubles.report('queue', 'no job comes through the queue of email', { of: 'email' });
  expect(troubles.current()).toEqual([
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
  troubles.over('queue', 'slack');
  troubles.over('disk');
  troubles.over('clock');
  expect(troubles.current().map(({ of }) => of)).toEqual(['email']);
});

test('readiness names them, and they do not keep the daemon from being ready', () => {
  const troubles = createTroubles({ now: () => START });
  const health = createHealth({ now: () => START, troubles: troubles.current });
  expect(health.ready()).toEqual({ status: 'ok', checks: [] });
  troubles.report('config', 'the changed config was refused');
  expect(health.ready()).toEqual({ status: 'ok', checks: [], troubles: troubles.current() });
});
