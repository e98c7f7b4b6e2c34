/** Whoever asks gets the same numbers: `status`, the page's report, the metrics and `/readyz` of one daemon. */
import { expect, test } from 'vitest';
import type { StatusReport } from '../../src/ops/status.ts';
import { openConsole } from '../cli/console.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

test('waiting, delayed, dead and broken are the same everywhere', async () => {
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['webhook', 'slack'],
    config: { poll: { interval: '1s' } },
  });
  const { webhook, slack } = world.sandbox.receivers;
  const daemon = await world.start();
  await daemon.watching();
  const console = await openConsole(world);
  webhook.script.always({ kind: 'answer', status: 410 });
  slack.script.always({ kind: 'answer', status: 429, headers: { 'retry-after': '3600' } });
  world.critical('Vault', 3);
  await until('the webhook is dead', async () => (await daemon.status()).dead === 3);
  // Slack has named a wait of an hour: from then on no job moves.
  await until('Slack waits', async () => {
    const { queues } = await daemon.status();
    return queues.some(({ delayed }) => delayed > 0) && queues.every(({ active, waiting }) => active + waiting === 0);
  });

  const report = await daemon.status();
  const told = JSON.parse((await console.run('status', '--json')).out) as StatusReport;
  const countsOf = ({ dead, queues, needsSomebody, destinations }: StatusReport) => ({
    ...{ dead, queues, needsSomebody },
    destinations: destinations.map((one) => ({ id: one.id, waiting: one.waiting, dead: one.dead })),
  });
  expect(countsOf(told)).toEqual(countsOf(report));

  expect(await daemon.metric('tocsin_dead_deliveries')).toBe(report.dead);
  expect(report.destinations.reduce((sum, { dead }) => sum + dead, 0)).toBe(report.dead);
  for (const { name, waiting, delayed, active } of report.queues) {
    const jobs = (state: string) => daemon.metric('tocsin_queue_jobs', { queue: name, state });
    expect([await jobs('waiting'), await jobs('delayed'), await jobs('active')]).toEqual([waiting, delayed, active]);
  }
  const broken = report.needsSomebody.filter((one) => one.includes('takes no alerts'));
  expect(await daemon.metric('tocsin_broken_destinations')).toBe(broken.length);
  expect(broken).toHaveLength(1);

  const { checks } = JSON.parse((await daemon.ask('/readyz')).text) as { checks: { name: string; status: string }[] };
  const own = (await daemon.status()).daemons[0]?.checks ?? [];
  const plain = (all: readonly { name: string; status: string }[]) =>
    all.map(({ name, status }) => `${name} ${status}`);
  expect(plain(own)).toEqual(plain(checks));
  expect((await daemon.ask('/')).text).toContain(broken[0]?.split(' takes')[0]?.split(' (')[0]);

  // A cursor that is not read any more: its age is between what `status` said before and says after.
  await world.sandbox.service.stop();
  await until('nothing is read', async () => (await daemon.status()).services.some(({ up }) => !up));
  const lagOf = ({ protocols }: StatusReport): number =>
    Math.max(...protocols.flatMap(({ sources }) => sources.map(({ lagSeconds = 0 }) => lagSeconds)));
  const before = lagOf(await daemon.status());
  const lag = await daemon.metric('tocsin_cursor_lag_seconds', { source: 'inspections' });
  const other = await daemon.metric('tocsin_cursor_lag_seconds', { source: 'notifications' });
  const after = lagOf(await daemon.status());
  expect(Math.max(lag, other)).toBeGreaterThanOrEqual(before - 1);
  expect(Math.max(lag, other)).toBeLessThanOrEqual(after + 1);
});
