import { describe, expect, test } from 'vitest';
import { createHealth, withAges } from '../../src/ops/health.ts';

const START = Date.parse('2026-11-21T10:00:00.000Z');

const open = () => {
  const clock = { now: START };
  const health = createHealth({ now: () => clock.now });
  const pass = (seconds: number): void => {
    clock.now += seconds * 1000;
  };
  const check = (name: string) => health.ready().checks.find((report) => report.name === name);
  return { health, pass, check };
};

describe('alive', () => {
  test('as long as every loop beats within its bound', () => {
    const { health, pass } = open();
    health.watchLoop('poll', 60_000);
    health.watchLoop('tend', 10_000);
    pass(10);
    expect(health.live().status).toBe('ok');
    pass(1);
    health.beat('poll');
    expect(health.live()).toEqual({
      status: 'stuck',
      loops: [
        { name: 'poll', status: 'turning', lastBeat: '2026-11-21T10:00:11.000Z' },
        { name: 'tend', status: 'stuck', lastBeat: '2026-11-21T10:00:00.000Z' },
      ],
    });
    health.beat('tend');
    expect(health.live().status).toBe('ok');
  });

  test('whatever it depends on: starting again would not bring that back', () => {
    const { health } = open();
    health.fail('redis', 'refused');
    expect(health.live().status).toBe('ok');
  });

  test('without a loop that nobody watches', () => {
    const { health } = open();
    health.beat('poll');
    expect(health.live()).toEqual({ status: 'ok', loops: [] });
    expect(health.lastBeat('poll')).toBeUndefined();
  });
});

describe('ready', () => {
  test('only when services and Redis were proven', () => {
    const { health, check } = open();
    health.expect('redis', { provenWithinMs: 60_000 });
    expect(health.ready().status).toBe('not ready');
    expect(check('redis')).toEqual({ name: 'redis', status: 'unknown', since: '2026-11-21T10:00:00.000Z' });
    health.prove('redis');
    expect(health.ready()).toEqual({
      status: 'ok',
      checks: [{ name: 'redis', status: 'ok', since: '2026-11-21T10:00:00.000Z' }],
    });
  });

  test('only as long as the proof is fresh', () => {
    const { health, pass, check } = open();
    health.expect('service:main', { provenWithinMs: 60_000 });
    health.prove('service:main');
    pass(60);
    expect(health.ready().status).toBe('ok');
    pass(1);
    expect(health.ready().status).toBe('not ready');
    expect(check('service:main')).toMatchObject({ status: 'unknown', since: '2026-11-21T10:00:00.000Z' });
    health.prove('service:main');
    expect(health.ready().status).toBe('ok');
  });

  test('with a channel nobody used yet, and without one that was refused', () => {
    const { health, pass } = open();
    health.expect('channel:slack');
    pass(86_400);
    expect(health.ready().status).toBe('ok');
    health.fail('channel:slack', 'invalid_auth');
    expect(health.ready().status).toBe('not ready');
    pass(86_400);
    expect(health.ready().status).toBe('not ready');
    health.prove('channel:slack');
    pass(86_400);
    expect(health.ready().status).toBe('ok');
  });

  test('says since when, not how often', () => {
    const { health, pass, check } = open();
    health.prove('redis');
    pass(5);
    health.fail('redis', 'refused');
    pass(5);
    health.fail('redis', 'timed out');
    expect(check('redis')).toEqual({
      name: 'redis',
      status: 'failing',
      since: '2026-11-21T10:00:05.000Z',
      detail: 'timed out',
    });
    health.prove('redis');
    expect(check('redis')).toEqual({ name: 'redis', status: 'ok', since: '2026-11-21T10:00:10.000Z' });
  });

  test('without what is not there any more', () => {
    const { health } = open();
    health.fail('service:old', 'gone');
    health.forget('service:old');
    expect(health.ready()).toEqual({ status: 'ok', checks: [] });
  });
});

test('a proof does not last longer where the clock was set back by an hour', () => {
  const { health, pass, check } = open();
  health.expect('redis', { provenWithinMs: 60_000 });
  health.prove('redis');
  pass(-3600);
  expect(check('redis')?.status).toBe('unknown');
  health.prove('redis');
  expect(check('redis')?.status).toBe('ok');
});

test('readers are told how old each check and each beat is', () => {
  const { health, pass } = open();
  health.watchLoop('poll', 60_000);
  health.prove('redis');
  pass(12);
  const now = Date.parse('2026-11-21T10:00:12.000Z');
  expect(withAges(health.ready(), now)).toMatchObject({ checks: [{ name: 'redis', ageSeconds: 12 }] });
  expect(withAges(health.live(), now)).toMatchObject({ loops: [{ name: 'poll', silentSeconds: 12 }] });
});
