/** Daemons that share a Redis divide the protocols among those that live and that the service answers. */
import { expect, onTestFinished, test } from 'vitest';
import { createSecret } from '../../src/secret.ts';
import { openLink } from '../fault/link.ts';
import { startProxy } from '../support/proxy.ts';
import { until } from '../support/until.ts';
import { type RunningDaemon, startDaemon } from './daemons.ts';
import { startWorld, type World } from './world.ts';

const NAMES = Array.from({ length: 12 }, (_, n) => `Protocol ${n}`);

/** The protocols of the latest polls of a daemon, twice as many as there are. */
const latestOf = (daemon: RunningDaemon): Set<string> => {
  const lines = daemon
    .log()
    .filter(({ msg, subject }) => /^(polled|found)$/.test(msg) && /^insp/.test(String(subject)));
  return new Set(lines.slice(-2 * NAMES.length).map(({ subject }) => String(subject)));
};

test('two daemons poll different protocols, and one polls all when the other has stopped', async () => {
  const world = await startWorld({ names: NAMES, kinds: ['webhook'] });
  const [one, other] = [await world.start(), await world.start()];
  await until('each protocol is read by one of them', () => {
    const [ones, others] = [latestOf(one), latestOf(other)];
    const all = new Set([...ones, ...others]);
    return ones.size > 0 && others.size > 0 && ones.size + others.size === NAMES.length && all.size === NAMES.length;
  });
  await one.stop();
  await until('the other reads all', () => latestOf(other).size === NAMES.length);
  for (const name of NAMES) world.critical(name);
  await world.balanced();
});

/** Daemons of one config, each with a way of its own to the service: over a proxy, which may be cut off. */
const openWays = async (world: World) => {
  const [service] = world.config.services;
  if (service === undefined) throw new Error('no service');
  const proxy = await startProxy();
  onTestFinished(proxy.close);
  const url = new URL(service.baseUrl);
  // What is on this machine no proxy is asked for.
  url.hostname = 'service.test';
  const services = [{ ...service, baseUrl: url.href, timeout: 1000 }];
  return async () => {
    const link = await openLink(() => Number(new URL(proxy.origin).port));
    const http = { url: createSecret(`http://127.0.0.1:${link.port}`), key: 'http_proxy' };
    const daemon = await startDaemon({ ...world.config, services, proxyVariables: { http, except: [] } });
    onTestFinished(async () => {
      await daemon.stop();
      await link.close();
    });
    return { link, daemon, polls: () => daemon.log('polled').length };
  };
};

test('what the service does not answer one daemon is read by the other', async () => {
  const world = await startWorld({ names: NAMES, kinds: ['webhook'] });
  const open = await openWays(world);
  const { daemon: one } = await open();
  await until('it reads all', () => latestOf(one).size === NAMES.length);
  const { link } = await open();
  link.swallow();
  await until('the other has a share, which it cannot read', () => latestOf(one).size < NAMES.length);
  await until('it reads all again', () => latestOf(one).size === NAMES.length);
  for (const name of NAMES) world.critical(name);
  await world.balanced();
});

test('the only protocol is given up by the daemon that is cut off from the service, as another reads it well', async () => {
  const alerts = { sources: ['inspections'] };
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'], config: { alerts } });
  const open = await openWays(world);
  const both = [await open(), await open()];
  /** The one that reads it alone by now. */
  const reader = async () => {
    let before = both.map(({ polls }) => polls());
    const grown = () => both.map(({ polls }, n) => polls() - (before[n] ?? 0));
    await until('one of them reads it alone', () => {
      if (grown().every((count) => count > 0)) before = both.map(({ polls }) => polls());
      return grown().some((count) => count > 5);
    });
    return both.find((_, n) => grown()[n] !== 0);
  };
  await until('both are known', async () => (await both[0]?.daemon.status())?.daemons.length === 2);
  const first = await reader();
  first?.link.swallow();
  const second = await reader();
  expect(second).not.toBe(first);
  // One daemon's way to the service is not the service.
  await until('its host alone has it', async () => {
    const { services, daemons } = (await second?.daemon.status()) ?? {};
    return services?.[0]?.state === 'answers' && daemons?.length === 2;
  });
  expect((await first?.daemon.status())?.services[0]?.state).toBe('answers');
  world.critical('Vault', 5);
  await world.balanced();
  first?.link.heal();
  const before = first?.polls() ?? 0;
  await until('it has its share again', () => (first?.polls() ?? 0) > before + 5);
});

test('with interval: auto a few protocols are read every second, and everybody can see it', async () => {
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['webhook'],
    config: { poll: { interval: 'auto', sweepEvery: '1m' } },
  });
  const daemon = await world.start();
  world.critical('Vault', 3);
  await world.balanced();
  await until('the status has it', async () => (await daemon.status()).services[0]?.pollSeconds === 1);
  expect(await daemon.metric('tocsin_poll_interval_seconds')).toBe(1);
});

test('a budget that is too small is told, with the one that would suffice', async () => {
  const poll = { interval: 'auto', requestsPerSecond: 0.1 };
  const world = await startWorld({ names: NAMES, kinds: ['webhook'], config: { poll } });
  const daemon = await world.start();
  await until('the log names it', () => daemon.log().some(({ needed }) => Number(needed) >= 1));
  const { problems } = await daemon.status();
  expect(problems).toContainEqual(expect.stringMatching(/poll\.requestsPerSecond: \d+ would suffice$/));
});
