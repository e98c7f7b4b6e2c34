import { expect, test } from 'vitest';
import { createSelfReport } from '../../../src/features/conditions/daemons.ts';
import { createConditions } from '../../../src/ops/conditions.ts';
import { createHealth } from '../../../src/ops/health.ts';

const START = Date.parse('2026-11-21T10:00:00.000Z');
const SINCE = '2026-11-21T10:00:00.000Z';

const setUp = () => {
  const clock = { now: START };
  const now = () => clock.now;
  const conditions = createConditions({ now });
  const health = createHealth({ now, conditions: conditions.current });
  health.expect('service:main', { provenWithinMs: 60_000 });
  const reads: { name: string; up: boolean; since?: string; lastError?: string; isLeft: boolean } = {
    isLeft: false,
    name: 'main',
    up: true,
  };
  const report = createSelfReport({
    ...{ id: 'a', host: 'alpha', pid: 12, startedAt: START, uptimeMs: () => 0 },
    health,
    services: () => [reads],
    scrub: (text) => text.replace('s3cret', '***'),
  });
  const service = () => report().services[0];
  return { clock, conditions, health, reads, report, service };
};

test('a service answers only where that was proven lately', () => {
  const { clock, health, service } = setUp();
  expect(service()).toMatchObject({ up: false, state: 'unknown', lastError: 'it was not read yet' });
  health.prove('service:main');
  expect(service()).toEqual({ name: 'main', up: true, state: 'answers', since: SINCE });
  clock.now += 60_001;
  expect(service()).toMatchObject({ up: false, state: 'fails', lastError: 'it was not read lately' });
});

test('reads that fail beside others are part of the truth, and say why nothing is proven any more', () => {
  const { clock, health, reads, service } = setUp();
  health.prove('service:main');
  Object.assign(reads, { up: false, since: SINCE, lastError: 'answered 404' });
  expect(service()).toEqual({ name: 'main', up: false, state: 'partly', since: SINCE, lastError: 'answered 404' });
  clock.now += 60_001;
  expect(service()).toMatchObject({ state: 'fails', lastError: 'answered 404' });
});

test('what it finds wrong are conditions: a service or a part of it, a channel, jobs, and what was reported', () => {
  const { conditions, health, reads, report } = setUp();
  const found = () => report().conditions.map(({ name, of, what, why }) => [name, of, what, why]);
  expect(found()).toEqual([]);
  health.prove('service:main');
  Object.assign(reads, { up: false, since: SINCE, lastError: 'answered 404' });
  health.fail('channel:slack', 'invalid_auth');
  conditions.report('jobs', 'jobs of version 9 wait');
  health.fail('redis', 'Redis does not answer');
  expect(found()).toEqual([
    ['unread', 'main', 'the monitoring service “main” can be read in part only', 'answered 404'],
    ['channel', 'slack', 'slack does not work', 'invalid_auth'],
    ['redis', '', 'Redis does not answer', undefined],
    ['jobs', '', 'jobs of version 9 wait', undefined],
  ]);
  health.fail('service:main', 'answered 502');
  expect(found()[0]).toEqual(['service', 'main', 'the monitoring service “main” cannot be read', 'answered 502']);
});

test('a service that does not answer this daemon, and that others read, is known by its host alone', () => {
  const { clock, health, reads, report, service } = setUp();
  Object.assign(reads, { isLeft: true });
  expect(service()).toMatchObject({ state: 'unknown' });
  health.prove('service:main');
  expect(service()).toMatchObject({ state: 'answers' });
  Object.assign(reads, { up: false, since: SINCE, lastError: 'connect ECONNREFUSED' });
  expect(service()).toEqual({
    name: 'main',
    up: false,
    state: 'elsewhere',
    since: SINCE,
    lastError: 'connect ECONNREFUSED',
  });
  clock.now += 60_001;
  expect(service()).toMatchObject({ state: 'elsewhere', lastError: 'connect ECONNREFUSED' });
  const facts = { of: 'main', under: 'main', why: 'connect ECONNREFUSED', since: SINCE };
  expect(report().conditions).toEqual([
    {
      name: 'cut-off',
      what: 'the monitoring service “main” does not answer this daemon, and others read it',
      ...facts,
    },
  ]);
});

test('what is reported has no secrets, and an end', () => {
  const { health, report } = setUp();
  health.fail('service:main', `refused s3cret ${'x'.repeat(5000)}`);
  const { ready, services, checks } = report();
  expect(ready).toBe(false);
  for (const text of [services[0]?.lastError, checks[0]?.detail]) {
    expect(text).toMatch(/^refused \*\*\* x+…$/);
    expect(text).toHaveLength(1000);
  }
});
