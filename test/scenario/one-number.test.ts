/** Whoever asks gets the same numbers: `status`, the page's report, the metrics and `/readyz` of one daemon. */
import { expect, test } from 'vitest';
import type { StatusReport } from '../../src/ops/status.ts';
import { openConsole } from '../cli/console.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

test.concurrent('waiting, delayed, dead and broken are the same everywhere', async ({ onTestFinished: onFinished }) => {
  const world = await startWorld({
    onFinished,
    names: ['Vault'],
    kinds: ['webhook', 'slack'],
    config: {
      poll: { interval: '1s' },
      fallback: { after: '1h', channels: [{ name: 'slack', contacts: ['C0FALLBACK1'] }] },
    },
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
  // A job that waits runs now and then, to see whether it still has to.
  await until('the metrics count the same jobs', async () => {
    const { queues } = await daemon.status();
    const counts = queues.flatMap(({ name: queue, ...jobs }) =>
      (['waiting', 'delayed', 'active'] as const).map(async (state) => {
        return (await daemon.metric('tocsin_queue_jobs', { queue, state })) === jobs[state];
      }),
    );
    return (await Promise.all(counts)).every((isSame) => isSame);
  });
  const broken = report.needsSomebody.filter((one) => one.includes('takes no alerts'));
  expect(await daemon.metric('tocsin_broken_destinations')).toBe(broken.length);
  expect(broken).toHaveLength(1);

  // Who got nothing yet counts as well.
  const page = (await daemon.ask('/')).text;
  const tile = (term: string) => Number(new RegExp(`<dt>${term}</dt><dd><span[^>]*>(\\d+)<`).exec(page)?.[1]);
  expect(report.destinations.map(({ label, delivered }) => `${label} ${delivered}`)).toContain('C0FALLBACK1 0');
  expect(tile('Destinations')).toBe(report.destinations.length);
  expect(page).toContain(`<h2>Destinations <small>${report.destinations.length}</small>`);
  expect((await console.run('status')).out).toContain(`Destinations (${report.destinations.length})`);
  expect(tile('Waiting')).toBe(report.destinations.reduce((sum, { waiting }) => sum + waiting, 0));
  expect(tile('Waiting')).toBeGreaterThanOrEqual(3);

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

const FARM = 'Farm';

test.concurrent('what is held, muted, silent and unread is the same everywhere', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({
    onFinished,
    names: ['Vault', 'Bridge', FARM],
    kinds: ['slack', 'webhook'],
    config: {
      destinations: { gate: true, allow: ['webhook:http://127.0.0.1:*/*'] },
      protocols: { overrides: { [FARM]: { expectEvery: '2s' } } },
    },
  });
  world.calm(FARM);
  const daemon = await world.start({ limits: { lastingMs: 0 } });
  await daemon.watching();
  const console = await openConsole(world);
  const fault = { kind: 'status', status: 500 } as const;
  world.sandbox.service.addFault({ protocol: 'Bridge', endpoint: 'listInspections', times: Infinity, fault });
  world.critical('Vault', 2);
  await until('two are held', async () => (await daemon.status()).held.some(({ waiting }) => waiting === 2));
  const mute = ['mute', 'add', '--protocol', 'Vault', '--for', '1h', '--reason', 'a test'];
  expect(await console.run(...mute)).toMatchObject({ code: 0 });
  world.critical('Vault', 3);
  await until('three are hidden', async () => (await daemon.status()).mutes.some(({ hid }) => hid >= 3));
  await until('one is silent', async () => (await daemon.metric('tocsin_silent_protocols')) === 1);
  await until('one is unread', async () => (await daemon.metric('tocsin_unread_protocols')) === 1);
  // Of the other sources nothing is missing: from now on no number moves.
  await until('its service is read in part', async () => (await daemon.status()).services[0]?.state === 'partly');

  const report = await daemon.status();
  const told = JSON.parse((await console.run('status', '--json')).out) as StatusReport;
  const isOnPage = async (text: string): Promise<boolean> => (await daemon.ask('/')).text.includes(text);
  const sum = (all: readonly number[]): number => all.reduce((one, other) => one + other, 0);
  const countsOf = ({ held, mutes, services, troubles }: StatusReport) => ({
    held: held.map(({ id, waiting }) => ({ id, waiting })),
    mutes: mutes.map(({ id, hid }) => ({ id, hid })),
    states: services.map(({ name, state }) => `${name} ${state}`),
    // This daemon waits for no trouble to last.
    silent: troubles.filter(({ name }) => name === 'silent').map(({ what }) => what),
  });
  expect(countsOf(told)).toEqual(countsOf(report));

  expect(await daemon.metric('tocsin_held_alerts')).toBe(sum(report.held.map(({ waiting }) => waiting)));
  await until('the page says so', () => isOnPage('Waiting for approval'));
  const listed = await console.json<{ id: string; hid: number }[]>('mute', 'list');
  expect(listed.map(({ id, hid }) => ({ id, hid }))).toEqual(countsOf(report).mutes);
  // A mute hides alerts; the metric counts deliveries, and each alert was for two destinations.
  expect(await daemon.metric('tocsin_muted_total')).toBe(2 * sum(report.mutes.map(({ hid }) => hid)));

  const silent = report.troubles.filter(({ name }) => name === 'silent');
  expect(silent.map(({ what }) => what)).toEqual([`sandbox: nothing is inspected of “${FARM}”`]);
  expect(await daemon.metric('tocsin_trouble', { trouble: 'silent' })).toBe(silent.length);
  await until('the page says so', () => isOnPage(`nothing is inspected of “${FARM}”`));

  const { checks } = JSON.parse((await daemon.ask('/readyz')).text) as {
    checks: { name: string; status: string; detail?: string }[];
  };
  expect(checks.filter(({ status }) => status === 'failing')).toEqual([
    expect.objectContaining({ name: 'protocols:sandbox', detail: expect.stringContaining('Bridge') }),
  ]);
  const [service] = report.services;
  expect(service).toMatchObject({ state: 'partly', lastError: expect.stringContaining('Bridge') });
  expect(await daemon.metric('tocsin_trouble', { trouble: 'service' })).toBe(
    report.troubles.filter(({ name }) => name === 'service').length,
  );
  await until('the page says so', () => isOnPage('the monitoring service “sandbox” can be read in part only'));
});
