/** Who has the service's write key tries to take a protocol's alerts away without its people hearing of it. */
import { expect, test } from 'vitest';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { EVIL, email, keyOf, mailsTo, watch } from './attacked.ts';
import { SANDBOX } from './config.ts';

const LISTING = { trouble: 'listing' };
const AT = 'at the monitoring service “sandbox”';
const plain = (text: string): string => text.replace(/\s+/g, ' ');

test('decoys that make the listing unfinished hide no change', async () => {
  const { world, service, owner, told, daemon } = await watch(['Vault'], {
    services: [{ ...SANDBOX, pageSize: 1000 }],
    // Else this machine reads them all, for the test.
    protocols: { exclude: ['decoy*'] },
  });
  const apiKey = keyOf(world);
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
  const apiKey = keyOf(world);

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

test('what is switched off is told of, also where the service leaves out what is empty or false', async () => {
  const detectors = [{ name: 'mixer', config: null, external: false }];
  const { service, owner, told, world } = await watch(['Vault', 'Farm'], {}, { quirks: { nullArrays: true } });
  for (const protocol of ['Vault', 'Farm']) service.changeProtocol({ protocol }, { detectors });
  await told(owner('Farm'), `The protocol “Farm” has other detectors ${AT}`);
  service.changeProtocol({ protocol: 'Vault' }, { detectors: [] });
  await told(owner('Vault'), `The protocol “Vault” has other detectors ${AT}`, 2);
  const farm = service.protocols().find(({ name }) => name === 'Farm') ?? expect.unreachable();
  Reflect.deleteProperty(farm, 'tracking');
  await told(owner('Farm'), `The protocol “Farm” has other tracking ${AT}`);
  expect(mailsTo(world, owner('Farm'), 'tracking before: on tracking now: not listed')).toHaveLength(1);
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

test('a change that came too often to be told is followed by no daemon that comes after', async () => {
  const { world, service, owner, told, daemon } = await watch(['Vault', 'Bridge']);
  for (const to of ['b1@example.com', 'b2@example.com', 'b3@example.com']) {
    service.replaceChannels({ protocol: 'Bridge' }, email(to));
    await told(to, `The protocol “Bridge” has other channels ${AT}`);
  }
  service.replaceChannels({ protocol: 'Bridge' }, email(EVIL));
  service.changeProtocol({ protocol: 'Vault' }, { tracking: false });
  // The listing that had this had the other one, too.
  await told(owner('Vault'), `The protocol “Vault” has other tracking ${AT}`);
  const second = await world.start();
  await second.watching();
  await daemon.stop();
  service.changeProtocol({ protocol: 'Vault' }, { tracking: true });
  await told(owner('Vault'), `The protocol “Vault” has other tracking ${AT}`, 2);
  const [{ txHash: first } = expect.unreachable()] = world.critical('Bridge');
  await told('b3@example.com', first);
  await second.stop();
  const last = await world.start();
  await last.watching();
  const [{ txHash: next } = expect.unreachable()] = world.critical('Bridge');
  await told('b3@example.com', next);
  for (const hash of [first, next]) expect(mailsTo(world, EVIL, hash)).toEqual([]);
});
