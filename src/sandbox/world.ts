/** The protocols that the sandbox begins with. Names, addresses and numbers are made up. */
import { HOSTILE_NAME } from './hostile.ts';
import { createRandom, type Random } from './random.ts';
import { RECEIVER_KINDS, type ReceiverKind } from './receivers/received.ts';
import type { AssetSeed, ProtocolSeed, SandboxChannel } from './service/model.ts';

/** Chain ids: four that people know and one that nobody does. */
const CHAINS: readonly [number, ...number[]] = [1, 10, 8453, 42161, 987654321];

const METHODS: Readonly<Record<string, string>> = {
  '0xc5ebeaec': 'borrow',
  '0x69328dec': 'withdraw',
  '0x47e7ef24': 'deposit',
  '0x5cffe9de': 'flashLoan',
  '0x3659cfe6': 'upgradeTo',
  '0xf2fde38b': 'transferOwnership',
  '0x00a718a9': 'liquidationCall',
  '0x38ed1739': 'swapExactTokensForTokens',
};

export const METHOD_NAMES = Object.values(METHODS);

/** `upgradeTo` and `transferOwnership`. */
const PRIVILEGED = ['0x3659cfe6', '0xf2fde38b'];

interface Blueprint {
  name: string;
  assets: readonly string[];
}

const BLUEPRINTS: readonly Blueprint[] = [
  { name: 'Sandbox Lending Pool', assets: ['Pool', 'PriceOracle', 'Treasury'] },
  { name: 'Example Swap', assets: ['Router', 'Factory', 'StablePair'] },
  { name: 'Imaginary Bridge', assets: ['Gateway', 'Escrow'] },
  { name: 'Überfluss Vaults 🏦', assets: ['VaultController', 'Strategy "Läufer"'] },
  { name: HOSTILE_NAME, assets: ['Market <i>1</i> & *2*', '_Proxy_`x`'] },
];

const createAsset = (descriptor: string, random: Random): AssetSeed => ({
  chainId: random.pick(CHAINS),
  address: `0x${random.hex(40)}`,
  descriptor,
  admins: [`0x${random.hex(40)}`],
  abi: '[]',
  methods: METHODS,
  privilegedMethods: PRIVILEGED,
});

/** Without channels: those depend on where the receivers listen. */
export const createWorld = (seed: number | string): ProtocolSeed[] => {
  const random = createRandom(`world ${seed}`);
  return BLUEPRINTS.map(({ name, assets }) => ({
    name,
    assets: assets.map((descriptor) => createAsset(descriptor, random)),
  }));
};

/** `Sandbox Lending Pool` -> `sandbox-lending-pool`; never empty. */
const slugOf = (name: string, index: number): string => {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return slug || `protocol-${index}`;
};

const FORUM_TOPIC = 7;

/** One of each kind for the `index`th protocol; every third chat is a forum's topic. */
export const createChannels = (name: string, index: number, webhookOrigin: string): SandboxChannel[] => {
  const slug = slugOf(name, index);
  const chat = `-100${String(4_200_000_000 + index)}`;
  const addresses: Record<ReceiverKind, Omit<SandboxChannel, 'name'>> = {
    email: { contacts: [`alerts+${slug}@example.com`] },
    telegram: { contacts: [index % 3 === 2 ? `${chat}/${FORUM_TOPIC}` : chat] },
    slack: { contacts: [`C0SANDBOX${String(index + 1).padStart(2, '0')}`] },
    webhook: { url: `${webhookOrigin}/hooks/${slug}` },
  };
  return RECEIVER_KINDS.map((kind) => ({ name: kind, ...addresses[kind] }));
};
