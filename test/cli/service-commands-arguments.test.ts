/** Which service is asked, arguments that make no sense, and services that do not answer. */
import { describe, expect, test } from 'vitest';
import { runProgram, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { startServiceWorld } from './service-world.ts';

const ADDRESS = `0x${'ab'.repeat(20)}`;

describe('several services', () => {
  const world = () =>
    startServiceWorld({
      services: { first: [{ name: 'Vault' }, { name: 'Shared' }], second: [{ name: 'Bridge' }, { name: 'Shared' }] },
    });

  test('a protocol is asked for where it is listed', async () => {
    const { json, services } = await world();
    services.second?.insertInspection({ protocol: 'Bridge', _id: 'b1' });
    expect(await json('inspections', 'list', '--protocol', 'Bridge')).toMatchObject([{ _id: 'b1' }]);
    await json('settings', '--protocol', 'Vault');
    expect(services.first?.requests().at(-1)?.path).toBe('/api/Vault/settings');
  });

  test('what is listed twice, nowhere or apart needs an answer', async () => {
    const { run, json, services } = await world();
    const told = async (...args: string[]) => {
      const { code, err } = await run(args);
      expect(code).toBe(1);
      return err;
    };
    expect(await told('settings', '--protocol', 'Shared')).toBe(
      "tocsin: several services list 'Shared': name one with --service (first, second)",
    );
    expect(await told('settings', '--protocol', 'Vualt')).toBe(
      "tocsin: first, second: no protocol 'Vualt' is listed; did you mean 'Vault'?",
    );
    expect(await told('notifications', '--protocol', 'Vault', 'Bridge')).toBe(
      "tocsin: no service lists all of 'Vault', 'Bridge': ask one after the other",
    );
    expect(await told('protocols', 'list')).toBe(
      'tocsin: the config has several services: name one with --service (first, second)',
    );
    expect(await told('protocols', 'list', '--service', 'third')).toBe(
      "tocsin: --service must be one of first, second (got 'third')",
    );
    services.second?.insertInspection({ protocol: 'Shared', _id: 's2' });
    const asked = ['inspections', 'list', '--protocol', 'Shared', '--service'];
    expect(await json(...asked, 'second')).toMatchObject([{ _id: 's2' }]);
    expect(await json(...asked, 'first')).toEqual([]);
  });

  test('one service alone is asked at once', async () => {
    const { json, service } = await startServiceWorld();
    await json('settings', '--protocol', 'Vault');
    expect(service.requests()).toHaveLength(1);
  });
});

describe('arguments that make no sense', () => {
  const inspections = ['inspections', 'list', '--protocol', 'Vault'];
  test.each([
    [[...inspections, '--limit', '0'], "--limit must be a whole number from 1 (got '0')"],
    [[...inspections, '--limit', 'ten'], "--limit must be a whole number from 1 (got 'ten')"],
    [[...inspections, '--limit', '5', '--all'], '--limit and --all exclude each other'],
    [[...inspections, '--since', 'yesterday'], '--since must be a date-time like'],
    [[...inspections, '--until', '2026-02-30'], '--until must be a date-time like'],
    [[...inspections, '--since', '1h', '--until', '2h'], '--since must be before --until'],
    [[...inspections, '--sort', 'desc'], "--sort must be asc or dsc (got 'desc')"],
    [[...inspections, '--status', 'bad'], "--status must be one of ok, suspecious, critical (got 'bad')"],
    [[...inspections, '--hash', '0x12'], '--hash must be a transaction hash: 0x and 64 hex digits'],
    [[...inspections, '--origin', '0x12'], '--origin must be an address: 0x and 40 hex digits'],
    [[...inspections, '--chain', 'base'], "--chain must be a chain id in decimal digits (got 'base')"],
    [[...inspections, '--contract', ADDRESS], '--contract needs --chain beside it'],
    [[...inspections, '--contract', '0x1', '--chain', '1'], '--contract must be an address'],
    [[...inspections, '--id', ''], '--id is empty'],
    [['inspections', 'stats', '--protocol', 'Vault', '--detected', ' '], '--detected is empty'],
    [['inspections', 'list', '--protocol', ''], '--protocol is empty'],
    [['notifications', '--protocol', 'Vault', ' '], '--protocol is empty'],
    [['settings', '--protocol', '..'], 'the protocol name ".." cannot be written in a URL'],
    [['protocols', 'create', '--name', 'X', '--assets', '-', '--channels', '-'], 'only one of --assets and --channels'],
    [
      ['protocols', 'add-assets', '--protocol', 'X', '--assets', '/no/such.json'],
      '--assets /no/such.json cannot be read: there',
    ],
  ])('%j', async (args, message) => {
    const { run, service } = await startServiceWorld();
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(`tocsin: ${message}`);
    expect(service.requests()).toEqual([]);
  });

  test.each([
    [['settings'], "required option '--protocol <name>' not specified"],
    [['notifications'], "required option '--protocol <name...>' not specified"],
    [['protocols', 'replace-channels', '--protocol', 'X'], "required option '--channels <file>' not specified"],
    [['settings', '--protocol', 'Vault', 'more'], 'too many arguments'],
    [['inspections', 'list', '--protocol', 'Vault', '--colour'], "unknown option '--colour'"],
    [['protocols', 'delete'], "unknown command 'delete'"],
    [['protocols'], 'Usage: tocsin protocols'],
  ])('%j', async (args, message) => {
    const { run } = await startServiceWorld();
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(message);
  });
});

describe('a service that does not answer as it should', () => {
  test.each([
    [{ kind: 'reset' }, 75],
    [{ kind: 'status', status: 503 }, 75],
    [{ kind: 'status', status: 429 }, 75],
    [{ kind: 'status', status: 401 }, 1],
    [{ kind: 'status', status: 404 }, 1],
    [{ kind: 'empty' }, 1],
  ] as const)('%j ends with %i', async (fault, code) => {
    const { run, service } = await startServiceWorld();
    for (const args of [
      ['protocols', 'list'],
      ['inspections', 'stats', '--protocol', 'Vault'],
    ]) {
      service.addFault({ fault });
      expect(await run(args)).toMatchObject({ code, out: '', err: expect.stringMatching(/^tocsin: main: GET /) });
    }
  });

  test('nobody there', async () => {
    const { run, service } = await startServiceWorld();
    await service.stop();
    expect(await run(['settings', '--protocol', 'Vault'])).toMatchObject({
      code: 75,
      err: 'tocsin: main: GET settings of "Vault": no answer: the server refuses connections (ECONNREFUSED)',
    });
  });
});

describe('the program as people start it', () => {
  test('lists, with the config by the environment', async () => {
    const { configFile, service } = await startServiceWorld();
    const { _id } = service.insertInspection({ protocol: 'Vault' });
    const args = ['inspections', 'list', '--protocol', 'Vault', '--json'];
    const { code, stdout, stderr } = await runProgram(args, { TOCSIN_CONFIG: configFile });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject([{ _id }]);
  });

  test('reads a pipe, and asks nobody at it', async () => {
    const { configFile, service } = await startServiceWorld();
    const args = ['protocols', 'replace-channels', '--protocol', 'Vault', '--channels', '-', '--config', configFile];
    const pipe = async (...more: string[]) => {
      const program = startProgram([...args, ...more]);
      program.process.stdin?.end('- {name: email, contacts: [new@example.com]}\n');
      return { code: await program.ended, stderr: program.stderr() };
    };
    expect(await pipe()).toMatchObject({ code: 1, stderr: expect.stringMatching(/say --yes to do it\n$/) });
    expect(service.protocols()[0]?.channels).toEqual([]);
    expect(await pipe('--yes')).toMatchObject({ code: 0 });
    expect(service.protocols()[0]?.channels).toEqual([{ name: 'email', contacts: ['new@example.com'] }]);
  });

  test('stops at once, while it waits for the service or for its input', async () => {
    const { configFile, service } = await startServiceWorld({ timeout: '10m' });
    service.addFault({ fault: { kind: 'hang' } });
    const asking = startProgram(['protocols', 'list', '--config', configFile]);
    await until('the request', () => service.requests().length === 1);
    asking.signal('SIGINT');
    expect(await asking.ended).toBe(75);
    expect(asking.stderr()).toBe('tocsin: main: GET protocols: stopped by the caller\n');

    const reading = startProgram(['protocols', 'add-assets', '--protocol', 'Vault', '--assets', '-']);
    // More than any pipe holds, so that it is written only once the program reads.
    await new Promise((resolve) => reading.process.stdin?.write(' '.repeat(4_000_000), resolve));
    reading.signal('SIGTERM');
    expect(await reading.ended).toBe(75);
    expect(reading.stderr()).toBe('tocsin: stopped while standard input was read\n');
  });
});
