/** Somebody changes a protocol at the service: its old and new people hear of it once, and so they do of its undoing. */
import { expect, test } from 'vitest';
import type { SandboxChannel } from '../../src/sandbox/service/model.ts';
import { openConsole } from '../cli/console.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

const [VAULT, BRIDGE] = ['Vault', 'Bridge'];
const ONCALL = 'oncall@example.com';
const EVIL = 'evil@example.com';

interface Printed {
  services: { since?: string; changes: { kind: string; isCritical: boolean; differences: unknown[] }[] }[];
}

const mails = ({ sandbox }: World, said: string) =>
  sandbox.receivers.smtp.received().filter(({ text }) => text.replace(/\s+/g, ' ').includes(said));

const channelsOf = ({ sandbox }: World, protocol: string): SandboxChannel[] =>
  sandbox.service.protocols().find(({ name }) => name === protocol)?.channels ?? [];

const replace = (world: World, protocol: string, channels: SandboxChannel[]): void =>
  world.sandbox.service.replaceChannels({ protocol }, channels);

test.concurrent('changes of channels are told once over two daemons, to the old and the new, and so is a vanished protocol', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({
    onFinished,
    names: [VAULT, BRIDGE],
    kinds: ['email', 'webhook'],
    config: {
      poll: { catalogEvery: '300ms' },
      fallback: { after: '1h', channels: [{ name: 'email', contacts: [ONCALL] }] },
    },
  });
  const console = await openConsole(world);
  const history = (name: string) => console.json<Printed>('protocols', 'history', name);
  for (const daemon of [await world.start(), await world.start()]) await daemon.watching();
  await until('it is watched', async () => (await history(VAULT)).services[0]?.since !== undefined);

  const before = channelsOf(world, VAULT);
  const [owner = ''] = before.find(({ name }) => name === 'email')?.contacts ?? [];
  const others = before.filter(({ name }) => name !== 'email');
  replace(world, VAULT, [...others, { name: 'email', contacts: [EVIL] }]);
  const changed = `The protocol “${VAULT}” has other channels`;
  await until('it is told', () => mails(world, changed).length === 2);
  expect(
    mails(world, changed)
      .map(({ destination }) => destination)
      .toSorted(),
  ).toEqual([owner, EVIL].toSorted());

  replace(world, VAULT, others);
  const critical = `Critical: No person gets alerts of “${VAULT}” any more`;
  await until('the fallback hears that nobody is left', () =>
    mails(world, critical).some(({ destination }) => destination === ONCALL),
  );
  replace(world, VAULT, before);
  // The fallback reads it now.
  await until('its undoing is told', () => mails(world, changed).length === 4);
  expect(mails(world, changed).map(({ destination }) => destination)).toContain(ONCALL);

  world.sandbox.service.removeProtocol({ protocol: BRIDGE });
  await until('it is told', () => mails(world, `The protocol “${BRIDGE}” is not listed any more`).length > 0);
  await until('it is written', async () => (await history(BRIDGE)).services[0]?.changes.length === 1);

  const { changes = [] } = (await history(VAULT)).services[0] ?? {};
  expect(changes.map(({ kind, isCritical }) => [kind, isCritical])).toEqual([
    ['changed', false],
    ['changed', true],
    ['changed', false],
  ]);
  const { out } = await console.run('protocols', 'history', VAULT);
  expect(out).toContain(`+ email ${EVIL}`);
  const mistyped = await console.run('protocols', 'history', 'Valut');
  expect(mistyped).toMatchObject({ code: 1, err: expect.stringContaining("did you mean 'Vault'?") });
  world.critical(VAULT);
  await world.delivered();
  expect([mails(world, changed).length, mails(world, critical).length]).toEqual([4, 2]);
});

test.concurrent('each other change is told once over two daemons, and its undoing once', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({
    onFinished,
    names: [VAULT, BRIDGE],
    kinds: ['email'],
    config: { poll: { catalogEvery: '300ms' } },
  });
  const { service } = world.sandbox;
  const console = await openConsole(world);
  for (const daemon of [await world.start(), await world.start()]) await daemon.watching();
  await until(
    'it is watched',
    async () => (await console.json<Printed>('protocols', 'history', VAULT)).services[0]?.since !== undefined,
  );
  const at = 'at the monitoring service “sandbox”';
  const told = async (said: string, times: number): Promise<void> => {
    await until(`${times} times: ${said}`, () => mails(world, said).length >= times);
    expect(mails(world, said)).toHaveLength(times);
  };
  const [{ triggers, detectors } = expect.unreachable()] = service.protocols();
  const changes = [
    { aspect: 'tracking', next: { tracking: false }, before: { tracking: true } },
    { aspect: 'triggers', next: { triggers: {} }, before: { triggers } },
    { aspect: 'detectors', next: { detectors: detectors.slice(1) }, before: { detectors } },
  ];
  for (const { aspect, next, before } of structuredClone(changes)) {
    service.changeProtocol({ protocol: VAULT }, next);
    await told(`The protocol “${VAULT}” has other ${aspect} ${at}`, 1);
    service.changeProtocol({ protocol: VAULT }, before);
    await told(`The protocol “${VAULT}” has other ${aspect} ${at}`, 2);
  }

  const [, bridge = expect.unreachable()] = service.protocols();
  const { apiKey, name, channels } = bridge;
  service.removeProtocol({ protocol: BRIDGE });
  await told(`The protocol “${BRIDGE}” is not listed any more, so nothing of it is watched ${at}`, 1);
  service.addProtocol(apiKey, { name, channels });
  await told(`The protocol “${BRIDGE}” is listed again ${at}`, 1);
  service.addProtocol(apiKey, { name: 'Farm', channels });
  await told(`The protocol “Farm” is new ${at}`, 1);

  world.critical(VAULT);
  world.critical('Farm');
  await world.delivered();
  expect(mails(world, `${at}`)).toHaveLength(9);
});
