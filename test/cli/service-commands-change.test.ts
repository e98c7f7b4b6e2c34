/** The commands that change something at the service: what is sent, what is asked before, and what is refused. */
import { describe, expect, test } from 'vitest';
import type { SandboxService } from '../../src/sandbox/service/service.ts';
import type { RunOptions } from './in-process.ts';
import { type ServiceWorld, startServiceWorld } from './service-world.ts';

const POOL = `0x${'ab'.repeat(20)}`;
const ABI = [{ type: 'function', name: 'sweep' }];
const ASSETS = JSON.stringify([{ chainId: 1, abi: ABI, address: POOL, admins: [], descriptor: 'Pool' }]);
const CHANNELS = '- {name: email, contacts: [new@example.com]}\n';
const HOOK = { name: 'webhook', url: 'https://hooks.example.com/SECRET' };
const VAULT = { name: 'Vault', channels: [{ name: 'email', contacts: ['old@example.com'] }, HOOK] };

const changesAt = (service: SandboxService): string[] =>
  service
    .requests()
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path}`);

const channelsOf = (service: SandboxService, name = 'Vault') =>
  service.protocols().find((protocol) => protocol.name === name)?.channels;

describe('protocols create', () => {
  test('with assets and channels', async () => {
    const { run, file, service } = await startServiceWorld();
    const args = ['--assets', await file('assets.json', ASSETS), '--channels', await file('channels.yaml', CHANNELS)];
    const { code, out, err } = await run(['protocols', 'create', '--name', 'New Pool', ...args]);
    const created = service.protocols()[1];
    expect({ code, out, err }).toEqual({
      code: 0,
      out: `Created 'New Pool' (${created?.protocolId}); the service says: Protocol created\n`,
      err: '',
    });
    expect(created).toMatchObject({
      name: 'New Pool',
      assets: [{ chainId: 1, abi: JSON.stringify(ABI), address: POOL, admins: [], descriptor: 'Pool' }],
      channels: [{ name: 'email', contacts: ['new@example.com'] }],
    });
  });

  test('with nothing but a name, and the answer as given', async () => {
    const { json, service } = await startServiceWorld();
    expect(await json('protocols', 'create', '--name', 'Bare')).toEqual({
      protocolId: service.protocols()[1]?.protocolId,
      message: 'Protocol created',
    });
    expect(JSON.parse(service.requests().at(-1)?.body ?? '')).toEqual({ protocolName: 'Bare' });
  });

  test('not a second time', async () => {
    const { run, service } = await startServiceWorld();
    const { code, err } = await run(['protocols', 'create', '--name', 'Vault']);
    const id = service.protocols()[0]?.protocolId;
    expect({ code, err }).toEqual({ code: 1, err: `tocsin: main lists a protocol 'Vault' already (${id})` });
    expect(changesAt(service)).toEqual([]);
  });

  test.each(['', ' ', ' Vault', 'Vault ', 'a\nb', 'a\u202eb', '.', '..'])('not under the name %j', async (name) => {
    const { run, service } = await startServiceWorld();
    expect(await run(['protocols', 'create', '--name', name])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^tocsin: --name must not be/),
    });
    expect(service.requests()).toEqual([]);
  });
});

describe('protocols add-assets', () => {
  test('by name and by id; what was there is modified', async () => {
    const { run, file, service } = await startServiceWorld();
    const assets = ['--assets', await file('assets.json', ASSETS)];
    const byName = await run(['protocols', 'add-assets', '--protocol', 'Vault', ...assets]);
    const said = 'of 1 assets of “Vault”; the service says: Assets added\n';
    expect(byName).toEqual({ code: 0, out: `Added 1 and modified 0 ${said}`, err: '' });
    const id = service.protocols()[0]?.protocolId ?? '';
    const byId = await run(['protocols', 'add-assets', '--protocol', id, ...assets]);
    expect(byId).toEqual({ code: 0, out: `Added 0 and modified 1 ${said}`, err: '' });
    expect(service.protocols()[0]?.assets).toMatchObject([{ abi: JSON.stringify(ABI), address: POOL }]);
  });

  test('from standard input, with the answer as given', async () => {
    const { run } = await startServiceWorld();
    const args = ['protocols', 'add-assets', '--protocol', 'Vault', '--assets', '-', '--json'];
    const { code, out } = await run(args, { stdin: ASSETS });
    expect({ code, said: JSON.parse(out) }).toEqual({
      code: 0,
      said: { message: 'Assets added', changes: { added: 1, modified: 0 } },
    });
  });

  test('an id goes before a name that reads like it, and a name twice is no name', async () => {
    const { run, services, service } = await startServiceWorld({
      services: { main: [VAULT, { name: 'Twice' }, { name: 'Twice' }] },
    });
    const id = service.protocols()[0]?.protocolId ?? '';
    services.main?.addProtocol('test-key', { name: id });
    const add = (protocol: string) =>
      run(['protocols', 'add-assets', '--protocol', protocol, '--assets', '-'], { stdin: ASSETS });
    expect((await add(id)).out).toContain('“Vault”');
    const { code, err } = await add('Twice');
    const ids = service
      .protocols()
      .slice(1, 3)
      .map(({ protocolId }) => `${protocolId} at main`);
    expect(code).toBe(1);
    expect(err).toBe(`tocsin: several protocols are called 'Twice': name one by its id (${ids.join(', ')})`);
  });
});

describe('protocols replace-channels', () => {
  const replace = async ({ run, file }: ServiceWorld, more: readonly string[] = [], options: RunOptions = {}) => {
    const channels = [
      '--channels',
      await file('channels.yaml', `- {name: email, contacts: [old@example.com, new@example.com]}\n`),
    ];
    return run(['protocols', 'replace-channels', '--protocol', 'Vault', ...channels, ...more], options);
  };
  const AFTER = [{ name: 'email', contacts: ['old@example.com', 'new@example.com'] }];
  const world = () => startServiceWorld({ services: { main: [VAULT] } });

  test('shows what goes, stays and comes, and asks who sits at the terminal', async () => {
    const opened = await world();
    const { code, out, err } = await replace(opened, [], { answer: 'y' });
    const [head, ...lines] = err.split('\n');
    expect(head).toBe(`Channels of 'Vault' (${opened.service.protocols()[0]?.protocolId}) at main:`);
    expect(lines.map((line) => line.trim().split(/ +/))).toEqual([
      ['-', 'webhook', 'hooks.example.com', expect.stringMatching(/^\([0-9a-f]{4}\)$/)],
      ['=', 'email', 'old@example.com'],
      ['+', 'email', 'new@example.com'],
      "This replaces the channels of 'Vault' at main. Go on? [y/N]".split(' '),
    ]);
    expect({ code, out }).toEqual({
      code: 0,
      out: "Replaced the channels of 'Vault'; the service says: Notification channels replaced\n",
    });
    expect(channelsOf(opened.service)).toEqual(AFTER);
  });

  test('changes nothing where the answer is no', async () => {
    const opened = await world();
    expect(await replace(opened, [], { answer: '' })).toMatchObject({ code: 1, out: '' });
    expect(channelsOf(opened.service)).toEqual(VAULT.channels);
    expect(changesAt(opened.service)).toEqual([]);
  });

  test('wants --yes where nobody can be asked', async () => {
    const opened = await world();
    const { code, out, err } = await replace(opened);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('+ email     new@example.com');
    expect(err).toMatch(/tocsin: this replaces the channels of 'Vault' at main: say --yes to do it$/);
    expect(changesAt(opened.service)).toEqual([]);
    expect(await replace(opened, ['--yes'])).toMatchObject({ code: 0 });
    expect(channelsOf(opened.service)).toEqual(AFTER);
  });

  test('asks nobody whose standard input brings the channels', async () => {
    const { run, service } = await world();
    const args = ['protocols', 'replace-channels', '--protocol', 'Vault', '--channels', '-'];
    const asked = await run(args, { stdin: CHANNELS, answer: 'y' });
    expect(asked.code).toBe(1);
    expect(asked.err).toMatch(/say --yes to do it$/);
    expect(changesAt(service)).toEqual([]);
    const { code, out } = await run([...args, '--yes', '--json'], { stdin: '[]' });
    expect({ code, said: JSON.parse(out) }).toEqual({ code: 0, said: { message: 'Notification channels replaced' } });
    expect(channelsOf(service)).toEqual([]);
  });
});

describe('input that is wrong', () => {
  test.each([
    [
      'create',
      ['--name', 'New', '--assets', '-'],
      '[{}]',
      'the assets have 5 problems; nothing was sent:\nstdin:1:2: 0.chainId',
    ],
    ['create', ['--name', 'New', '--channels', '-'], '[{"name": "email"}]', 'the channels have one problem'],
    ['add-assets', ['--protocol', 'Vault', '--assets', '-'], '[]', 'stdin:1:1: assets: must name at least one'],
    [
      'replace-channels',
      ['--protocol', 'Vault', '--yes', '--channels', '-'],
      '',
      'stdin:1:1: channels: must be a list',
    ],
  ])('never reaches the service by %s', async (command, args, stdin, message) => {
    const { run, service } = await startServiceWorld();
    const { code, out, err } = await run(['protocols', command, ...args], { stdin });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(message);
    expect(service.requests()).toEqual([]);
  });
});

describe('a change without a clear answer', () => {
  const doubt = /; it may have been done all the same, so check before you try again$/;

  test.each([
    ['the connection breaks', { kind: 'cut' }, 75],
    ['the service fails', { kind: 'status', status: 502 }, 75],
    ['the answer is unreadable', { kind: 'invalid-json' }, 1],
  ] as const)('is reported where %s', async (_, fault, code) => {
    const { run, service } = await startServiceWorld();
    service.addFault({ endpoint: 'createProtocol', fault });
    const ran = await run(['protocols', 'create', '--name', 'New']);
    expect(ran.code).toBe(code);
    expect(ran.err).toMatch(doubt);
  });

  test.each([
    [400, 1],
    [401, 1],
    [429, 75],
  ])('is not in doubt after %i', async (status, code) => {
    const { run, service } = await startServiceWorld();
    service.addFault({ endpoint: 'createProtocol', fault: { kind: 'status', status } });
    const ran = await run(['protocols', 'create', '--name', 'New']);
    expect(ran.code).toBe(code);
    expect(ran.err).not.toMatch(doubt);
  });
});
