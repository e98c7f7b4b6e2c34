import { describe, expect, test } from 'vitest';
import { createChannelCheck } from '../../src/ops/channel-check.ts';
import { createHealth } from '../../src/ops/health.ts';
import { createOutages } from '../../src/ops/outages.ts';
import { createLines } from './lines.ts';

const setUp = () => {
  const clock = { now: Date.UTC(2026, 10, 21) };
  const now = () => clock.now;
  const asked: string[] = [];
  const problem: { slack?: Error } = {};
  const stopping = new AbortController();
  const health = createHealth({ now });
  const outages = createOutages(createLines().log, now);
  const channels = (['slack', 'email'] as const).map((kind) => ({
    kind,
    verify: async () => {
      asked.push(kind);
      if (kind === 'slack' && problem.slack) throw problem.slack;
    },
  }));
  const { round: check, suspect } = createChannelCheck({ channels, health, outages, signal: stopping.signal, now });
  const statusOf = (name: string) => health.ready().checks.find((one) => one.name === name);
  return { clock, asked, problem, stopping, health, outages, check, suspect, statusOf };
};

describe('the channel check', () => {
  test('asks every channel at once, and then every five minutes', async () => {
    const { clock, asked, check, statusOf } = setUp();
    await check();
    expect(asked).toEqual(['slack', 'email']);
    expect(statusOf('channel:slack')).toMatchObject({ status: 'ok' });
    clock.now += 299_999;
    await check();
    expect(asked).toHaveLength(2);
    clock.now += 1;
    await check();
    expect(asked).toEqual(['slack', 'email', 'slack', 'email']);
  });

  test('asks one that failed again after half a minute, and only that', async () => {
    const { clock, asked, problem, outages, check, statusOf } = setUp();
    problem.slack = new Error('invalid_auth');
    await check();
    expect(statusOf('channel:slack')).toMatchObject({ status: 'failing', detail: 'invalid_auth' });
    expect(statusOf('channel:email')).toMatchObject({ status: 'ok' });
    expect(outages.current()).toMatchObject([{ group: 'channels', subject: 'slack', message: 'invalid_auth' }]);

    delete problem.slack;
    clock.now += 30_000;
    await check();
    expect(asked).toEqual(['slack', 'email', 'slack']);
    expect(statusOf('channel:slack')).toMatchObject({ status: 'ok' });
    expect(outages.current()).toEqual([]);
  });

  test('asks at once where a message was not accepted, and not for each of them', async () => {
    const { clock, asked, problem, check, suspect, statusOf } = setUp();
    await check();
    problem.slack = new Error('connection refused');
    clock.now += 4999;
    await suspect('slack');
    expect(asked).toEqual(['slack', 'email']);
    clock.now += 1;
    await Promise.all([suspect('slack'), suspect('slack'), suspect('telegram')]);
    expect(asked).toEqual(['slack', 'email', 'slack']);
    expect(statusOf('channel:slack')).toMatchObject({ status: 'failing', detail: 'connection refused' });

    delete problem.slack;
    clock.now += 29_999;
    await suspect('slack');
    expect(asked).toHaveLength(3);
    clock.now += 1;
    await check();
    expect(statusOf('channel:slack')).toMatchObject({ status: 'ok' });
  });

  test('takes no refused message back because the token is valid', async () => {
    const { clock, asked, health, suspect, check, statusOf } = setUp();
    await check();
    clock.now += 5000;
    health.fail('channel:slack', 'missing_scope');
    await suspect('slack');
    expect(asked).toHaveLength(3);
    expect(statusOf('channel:slack')).toMatchObject({ status: 'failing', detail: 'missing_scope' });
  });

  test('says nothing of a channel whose question the end of the daemon cut short', async () => {
    const { problem, stopping, outages, check, statusOf } = setUp();
    problem.slack = new Error('aborted');
    stopping.abort();
    await check();
    expect(statusOf('channel:slack')).toBeUndefined();
    expect(outages.current()).toEqual([]);
  });
});
