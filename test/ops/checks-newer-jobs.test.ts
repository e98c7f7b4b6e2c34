import { expect, test } from 'vitest';
import { LIMITS } from '../../src/app/context.ts';
import { createOnNewerJob } from '../../src/ops/checks.ts';
import { createConditions } from '../../src/ops/conditions.ts';
import { createHealth } from '../../src/ops/health.ts';

test('each version is said once, and the daemon is ready again once none has come up for a minute', () => {
  const clock = { now: 1_000_000 };
  const now = () => clock.now;
  const conditions = createConditions({ now });
  const health = createHealth({ now, conditions: conditions.current });
  const said: object[] = [];
  const log = { error: (fields: object) => void said.push(fields) };
  const met = createOnNewerJob({ conditions, log, goneAfterMs: LIMITS.newerJobsGoneMs });
  expect(health.ready()).toEqual({ status: 'ok', checks: [] });

  met('deliver-slack', '3');
  met('deliver-slack', '3');
  met('deliver-email', '3');
  expect(said).toEqual([{ queue: 'deliver-slack', version: '3' }]);
  clock.now += 50_000;
  met('deliver-email', '3');
  clock.now += 50_000;
  expect(health.ready()).toMatchObject({
    status: 'not ready',
    checks: [
      { name: 'jobs', status: 'failing', detail: expect.stringMatching(/^jobs of version 3 wait in deliver-email/) },
    ],
    troubles: [{ name: 'jobs' }],
  });
  clock.now += 10_000;
  expect(health.ready()).toEqual({ status: 'ok', checks: [] });
  met('deliver-email', '3');
  expect(said).toHaveLength(2);
  met('deliver-email', '4');
  expect(said).toHaveLength(3);
});
