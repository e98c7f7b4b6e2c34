import { describe, expect, test } from 'vitest';
import { createChannelCheck } from '../../src/ops/checks.ts';
import { createFailureLog } from '../../src/ops/failure-log.ts';
import { createHealth } from '../../src/ops/health.ts';
import { createLines } from './lines.ts';

const setUp = () => {
  const clock = { now: Date.UTC(2026, 10, 21) };
  const now = () => clock.now;
  const asked: string[] = [];
  const problem: { slack?: Error } = {};
  const stopping = new AbortController();
  const health = createHealth({ now });
  const failureLog = createFailureLog(createLines().log, now);
  const channels = (['slack', 'email'] as const).map((kind) => ({
    kind,
    verify: async () => {
      asked.push(kind);
      if (kind === 'slack' && problem.slack) throw problem.slack;
    },
  }));
  const { round: check, suspect } = createChannelCheck({ channels, health, failureLog, signal: stopping.signal, now });
  const statusOf = (name: string) => health.ready().checks.find((one) => one.name === name);
  return { clock, asked, problem, stopping, health, failureLog, check, suspect, statusOf };
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

  test('asks one that failed again after 5 s, and only that', async () => {
    const { clock, asked, problem, failureLog, check, statusOf } = setUp();
    problem.slack = new Error('invalid_auth');
    await check();
    expect(statusOf('channel:slack')).toMatchObject({ status: 'failing', detail: 'invalid_auth' });
    expect(statusOf('channel:email')).toMatchObject({ status: 'ok' });
    expect(failureLog.current()).toMatchObject([{ group: 'channels', subject: 'slack', message: 'invalid_auth' }]);

    delete problem.slack;
    clock.now += 4999;
    await check();
    expect(asked).toHaveLength(2);
    clock.now += 1;
    await check();
    expect(asked).toEqual(['slack', 'email', 'slack']);
    expect(statusOf('channel:slack')).toMatchObject({ status: 'ok' });
    expect(failureLog.current()).toEqual([]);
  });

  test('asks one that keeps failing ever more seldom, at last once a minute, and starts over when it fails again', async () => {
    const { clock, asked, problem, check } = setUp();
    /** Seconds until each further question, as a loop that turns every second finds them. */
    const waits = async (count: number): Promise<number[]> => {
      const found: number[] = [];
      for (let waited = 0; found.length < count; waited += 1) {
        const before = asked.filter((kind) => kind === 'slack').length;
        await check();
        if (asked.filter((kind) => kind === 'slack').length > before) {
          found.push(waited);
          waited = 0;
        }
        clock.now += 1000;
      }
      return found;
    };
    problem.slack = new Error('invalid_auth');
    expect(await waits(7)).toEqual([0, 5, 10, 20, 40, 60, 60]);
    delete problem.slack;
    expect(await waits(2)).toEqual([59, 300]);
    problem.slack = new Error('invalid_auth');
    expect(await waits(3)).toEqual([299, 5, 10]);
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
    const { problem, stopping, failureLog, check, statusOf } = setUp();
    problem.slack = new Error('aborted');
    stopping.abort();
    await check();
    expect(statusOf('channel:slack')).toBeUndefined();
    expect(failureLog.current()).toEqual([]);
  });
});
