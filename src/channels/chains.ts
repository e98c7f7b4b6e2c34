/** Chains by id: the name that people know, and the explorer that shows transactions. The config's `chains` adds to them. */

export interface Chain {
  name: string;
  /** Base URL of an Etherscan-shaped explorer: `/tx/HASH` and `/address/ADDRESS` follow it. Absent: hashes are not linked. */
  explorer?: string;
}

/** By decimal chain id. */
export type Chains = Readonly<Record<string, Chain>>;

/** Source: each chain's own documentation; ids as registered in ethereum-lists/chains. */
export const WELL_KNOWN_CHAINS: Chains = {
  '1': { name: 'Ethereum', explorer: 'https://etherscan.io' },
  '10': { name: 'OP Mainnet', explorer: 'https://optimistic.etherscan.io' },
  '25': { name: 'Cronos', explorer: 'https://cronoscan.com' },
  '56': { name: 'BNB Smart Chain', explorer: 'https://bscscan.com' },
  '100': { name: 'Gnosis', explorer: 'https://gnosisscan.io' },
  '130': { name: 'Unichain', explorer: 'https://uniscan.xyz' },
  '137': { name: 'Polygon', explorer: 'https://polygonscan.com' },
  '146': { name: 'Sonic', explorer: 'https://sonicscan.org' },
  '250': { name: 'Fantom', explorer: 'https://ftmscan.com' },
  '324': { name: 'ZKsync Era', explorer: 'https://era.zksync.network' },
  '480': { name: 'World Chain', explorer: 'https://worldscan.org' },
  '1101': { name: 'Polygon zkEVM', explorer: 'https://zkevm.polygonscan.com' },
  '5000': { name: 'Mantle', explorer: 'https://mantlescan.xyz' },
  '8453': { name: 'Base', explorer: 'https://basescan.org' },
  '42161': { name: 'Arbitrum One', explorer: 'https://arbiscan.io' },
  '42220': { name: 'Celo', explorer: 'https://celoscan.io' },
  '43114': { name: 'Avalanche C-Chain', explorer: 'https://snowtrace.io' },
  '59144': { name: 'Linea', explorer: 'https://lineascan.build' },
  '80094': { name: 'Berachain', explorer: 'https://berascan.com' },
  '81457': { name: 'Blast', explorer: 'https://blastscan.io' },
  '534352': { name: 'Scroll', explorer: 'https://scrollscan.com' },
  '11155111': { name: 'Sepolia', explorer: 'https://sepolia.etherscan.io' },
};

/** The well-known ones, and what the config adds or has instead. */
export const withWellKnown = (chains: Chains): Chains => ({ ...WELL_KNOWN_CHAINS, ...chains });

const HASH = /^0x[0-9a-f]{64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;

export const isHash = (text: string): boolean => text.length === 66 && HASH.test(text);
export const isAddress = (text: string): boolean => text.length === 42 && ADDRESS.test(text);

const link = (chain: Chain | undefined, path: string): string | undefined =>
  chain?.explorer === undefined ? undefined : `${chain.explorer.replace(/\/+$/, '')}/${path}`;

/** The text comes from outside, so it is linked only if it has the shape of a hash. */
export const transactionLink = (chain: Chain | undefined, hash: string): string | undefined =>
  isHash(hash) ? link(chain, `tx/${hash}`) : undefined;

export const addressLink = (chain: Chain | undefined, address: string): string | undefined =>
  isAddress(address) ? link(chain, `address/${address}`) : undefined;
