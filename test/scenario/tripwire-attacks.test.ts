/** Who has the service's write key tries to take a protocol's alerts away without its people hearing of it. */
import { expect, test } from 'vitest';
import type { SandboxChannel } from '../../src/sandbox/service/model.ts';
import { openConsole } from '../cli/console.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { SANDBOX, type Tree } from './config.ts';
import { startWorld, type World } from './world.ts';

const EVIL = 'evil@example.com';
const LISTING = { trouble: 'listing' };
const AT = 'at the monitoring service sandbox';

const plain = (text: string): string => text.replace(/\s+/g, ' ');
const mailsTo = ({ sandbox }: World, to: string, said: string) =>
  sandbox.receivers.smtp
    .received()
    .filter(({ destination, text }) => destination === to && plain(text).includes(plain(said)));
const email = (...contacts: string[]): SandboxChannel[] => [{ name: 'email', contacts }];

const ASSET = {
  ...{ chainId: 1, address: `0x${'aa'.repeat(20)}`, descriptor: 'Main Vault' },
  ...{ admins: [`0x${'5a'.repeat(20)}`], privilegedMethods: ['pause()'] },
};

/** A daemon that watches these protocols; each of them has one reader. */
const watch = async (names: readonly string[], changes: Tree = {}) => {
  const config = { poll: { catalogEvery: '300ms' }, ...changes };
  const protocols = names.map((name) => ({ name, assets: [ASSET] }));
  const world = await startWorld({ protocols, kinds: ['email'], config });
  const { service } = world.sandbox;
  const owner = (name: string) => `${name.toLowerCase()}@example.com`;
  for (const name of names) service.replaceChannels({ protocol: name }, email(owner(name)));
  const daemon = await world.start({ limits: { lastingMs: 1000 } });
  await daemon.watching();
  const console = await openConsole(world);
  await until('it is watched', async () => {
    const { services } = await console.json<{ services: { since?: string }[] }>('protocols', 'history', names[0] ?? '');
    return services[0]?.since !== undefined;
  });
  const told = (to: string, said: string, times = 1) =>
    until(`${to} hears: ${said}`, () => mailsTo(world, to, said).length >= times);
  return { world, service, owner, told, daemon };
};

test('decoys that make the listing unfinished hide no change', async () => {
  const { service, owner, told, daemon } = await watch(['Vault'], {
    services: [{ ...SANDBOX, pageSize: 1000 }],
    // Else this machine reads them all, for the test.
    protocols: { exclude: ['decoy*'] },
  });
  const [{ apiKey } = expect.unreachable()] = service.protocols();
  for (let n = 0; n <= 10_000; n += 1) service.addProtocol(apiKey, { name: `decoy ${n}`, detectors: [] });
  service.replaceChannels({ protocol: 'Vault' }, email(EVIL));
  await told(owner('Vault'), `The protocol “Vault” has other channels ${AT}`);
  await until(
    'it is said that the list came in part',
    async () => (await daemon.metric('tocsin_trouble', LISTING)) > 0,
  );
});

test('a namesake, a flood of changes, and a protocol that is made again take no alerts away unheard', async () => {
  const { world, service, owner, told } = await watch(['Vault', 'Bridge', 'Farm']);
  const [{ apiKey } = expect.unreachable()] = service.protocols();

  service.addProtocol(apiKey, { name: 'Vault', channels: email(EVIL) });
  await told(owner('Vault'), `The protocol “Vault” has other channels ${AT}`);
  const [{ txHash } = expect.unreachable()] = world.critical('Vault');
  await told(EVIL, txHash);
  await told(owner('Vault'), txHash);

  const changed = `The protocol “Bridge” has other channels ${AT}`;
  const steps = ['b1@example.com', 'b2@example.com', 'b3@example.com'];
  for (const to of steps) {
    service.replaceChannels({ protocol: 'Bridge' }, email(to));
    await told(to, changed);
  }
  service.replaceChannels({ protocol: 'Bridge' }, email(EVIL));
  service.changeProtocol({ protocol: 'Farm' }, { tracking: false });
  // The listing that had this had the other one, too.
  await told(owner('Farm'), `The protocol “Farm” has other tracking ${AT}`);
  const [{ txHash: bridged } = expect.unreachable()] = world.critical('Bridge');
  await told('b3@example.com', bridged);
  expect(mailsTo(world, EVIL, bridged)).toEqual([]);

  service.removeProtocol({ protocol: 'Farm' });
  await told(owner('Farm'), `The protocol “Farm” is not listed any more`);
  service.addProtocol(apiKey, { name: 'Farm', channels: email(EVIL) });
  await told(owner('Farm'), `The protocol “Farm” is listed again ${AT}`);
});

test('who makes himself an admin of a contract is told of, and does not pass for one of long ago', async () => {
  const evil = `0x${'e1'.repeat(20)}`;
  const { redis } = openTestRedis();
  const { world, service, owner, told } = await watch(['Vault', 'Bridge']);
  await until('the contracts are watched', async () =>
    ((await redis.hget(`${world.prefix}:tripwire:sandbox`, 'p:Vault')) ?? '').includes('"admins":'),
  );
  const [vault = expect.unreachable()] = service.protocols();
  const [asset = expect.unreachable()] = vault.assets;
  asset.admins = [...asset.admins, evil];
  await told(owner('Vault'), `The protocol “Vault” has other admins ${AT}`);
  const item = { protocol: 'Vault', assessment: 'critical', txOrigin: evil, chainId: asset.chainId };
  const assets = [{ address: asset.address, descriptor: asset.descriptor }];
  const { txHash } = service.insertInspection({ ...item, assets });
  await told(owner('Vault'), txHash);
  const [mail] = mailsTo(world, owner('Vault'), txHash);
  expect(plain(mail?.text ?? '')).toMatch(/an admin since \d\d:\d\d:\d\d UTC/);
  Object.assign(asset, { privilegedMethods: [] });
  await told(owner('Vault'), `The protocol “Vault” has other privileged methods ${AT}`);
});
