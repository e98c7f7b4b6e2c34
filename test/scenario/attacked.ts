/** A world for those who try to make alerts unheard: each protocol has one reader, a mailbox. */
import { expect } from 'vitest';
import type { Limits } from '../../src/app/context.ts';
import type { SandboxChannel } from '../../src/sandbox/service/model.ts';
import { openConsole } from '../cli/console.ts';
import { until } from '../support/until.ts';
import type { Tree } from './config.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

/** The mailbox of who attacks. */
export const EVIL = 'evil@example.com';
/** Where the fallback leads, with `FALLBACK`. */
export const ONCALL = 'oncall@example.com';
export const FALLBACK: Tree = { fallback: { after: '2s', channels: [{ name: 'email', contacts: [ONCALL] }] } };

const plain = (text: string): string => text.replace(/\s+/g, ' ');

export const mailsTo = ({ sandbox }: World, to: string, said: string) =>
  sandbox.receivers.smtp
    .received()
    .filter(({ destination, text }) => destination === to && plain(text).includes(plain(said)));

export const email = (...contacts: string[]): SandboxChannel[] => [{ name: 'email', contacts }];

/** A thousand mails may be sent before. */
const PATIENCE_MS = 100_000;

const ASSET = {
  ...{ chainId: 1, address: `0x${'aa'.repeat(20)}`, descriptor: 'Main Vault' },
  ...{ admins: [`0x${'5a'.repeat(20)}`], privilegedMethods: ['pause()'] },
};

interface WatchOptions extends WorldOptions {
  channels?: SandboxChannel[];
  limits?: Partial<Limits>;
  /** The daemon's clock. */
  now?(): number;
}

/** A daemon that watches these protocols. `channels`: of the first one, instead of its reader's mailbox. */
export const watch = async (
  names: readonly string[],
  changes: Tree = {},
  { channels, limits = {}, now = Date.now, ...options }: WatchOptions = {},
) => {
  const config = { poll: { catalogEvery: '300ms' }, ...changes };
  const protocols = names.map((name) => ({ name, assets: [ASSET] }));
  const world = await startWorld({ protocols, kinds: ['email'], config, ...options });
  const { service } = world.sandbox;
  const owner = (name: string) => `${name.toLowerCase()}@example.com`;
  for (const name of names) service.replaceChannels({ protocol: name }, email(owner(name)));
  const [first = ''] = names;
  if (channels !== undefined) service.replaceChannels({ protocol: first }, channels);
  const daemon = await world.start({ limits: { lastingMs: 1000, ...limits }, now });
  await daemon.watching();
  const console = await openConsole(world);
  await until('it is watched', async () => {
    const { services } = await console.json<{ services: { since?: string }[] }>('protocols', 'history', first);
    return services[0]?.since !== undefined;
  });
  const told = (to: string, said: string, times = 1) =>
    until(`${to} hears: ${said}`, () => mailsTo(world, to, said).length >= times, PATIENCE_MS);
  const critical = (protocol: string, txHash?: string) =>
    service.insertInspection({ protocol, assessment: 'critical', ...(txHash === undefined ? {} : { txHash }) });
  return { world, service, owner, told, critical, daemon, console, slack: world.sandbox.receivers.slack };
};

/** The key that its protocols belong to. */
export const keyOf = ({ sandbox }: World): string => (sandbox.service.protocols()[0] ?? expect.unreachable()).apiKey;
