/** The protocols of the fake service, each owned by the API key it was created with. */
import type { Random } from '../random.ts';
import type {
  AssetSeed,
  ProtocolChange,
  ProtocolRef,
  ProtocolSeed,
  SandboxAsset,
  SandboxChannel,
  SandboxDetector,
  SandboxProtocol,
} from './model.ts';
import { DETECTOR_NAMES } from './model.ts';

export interface ProtocolStore {
  add(apiKey: string, seed: ProtocolSeed): SandboxProtocol;
  remove(ref: ProtocolRef): void;
  /** Throws where no protocol fits. */
  resolve(ref: ProtocolRef): SandboxProtocol;
  byName(apiKey: string, name: string): SandboxProtocol | undefined;
  byId(apiKey: string, protocolId: string): SandboxProtocol | undefined;
  /** In order of creation; of every key where none is given. */
  list(apiKey?: string): SandboxProtocol[];
  addAssets(protocol: SandboxProtocol, seeds: readonly AssetSeed[]): { added: number; modified: number };
  replaceChannels(protocol: SandboxProtocol, channels: readonly SandboxChannel[]): void;
  change(protocol: SandboxProtocol, change: ProtocolChange): void;
}

const DETECTORS: SandboxDetector[] = DETECTOR_NAMES.map((name) => ({
  name,
  config: name === 'drasticBalanceChange' ? { threshold: 0.2 } : null,
  external: name === 'mixer',
}));

const createAsset = (seed: AssetSeed, at: number): SandboxAsset => ({
  admins: [],
  abi: '[]',
  methods: {},
  privilegedMethods: [],
  ...seed,
  createdAt: at,
  updatedAt: at,
});

const sameAsset = (asset: SandboxAsset, seed: AssetSeed): boolean =>
  asset.chainId === seed.chainId && asset.address.toLowerCase() === seed.address.toLowerCase();

const createProtocol = (apiKey: string, protocolId: string, seed: ProtocolSeed, at: number): SandboxProtocol => ({
  apiKey,
  protocolId,
  name: seed.name,
  assets: (seed.assets ?? []).map((asset) => createAsset(asset, at)),
  channels: structuredClone(seed.channels ?? []),
  detectors: structuredClone(seed.detectors ?? DETECTORS),
  triggers: structuredClone(
    seed.triggers ?? {
      critical: { detectionsGroup: [['drasticBalanceChange'], ['reentrancy']], actions: ['notification'] },
    },
  ),
  tracking: seed.tracking ?? true,
  createdAt: at,
  updatedAt: at,
});

export const createProtocolStore = ({ random, now }: { random: Random; now(): number }): ProtocolStore => {
  let protocols: SandboxProtocol[] = [];
  const owned = (apiKey: string): SandboxProtocol[] => protocols.filter((protocol) => protocol.apiKey === apiKey);
  const find = (ref: ProtocolRef): SandboxProtocol | undefined =>
    protocols.find(
      ({ name, apiKey }) =>
        (ref.protocol === undefined || ref.protocol === name) && (ref.apiKey === undefined || ref.apiKey === apiKey),
    );
  return {
    add: (apiKey, seed) => {
      const protocol = createProtocol(apiKey, random.hex(24), seed, now());
      protocols.push(protocol);
      return protocol;
    },
    remove: (ref) => {
      const gone = find(ref);
      protocols = protocols.filter((protocol) => protocol !== gone);
    },
    resolve: (ref) => {
      const protocol = find(ref);
      if (!protocol) throw new Error(`the sandbox has no protocol ${JSON.stringify(ref)}`);
      return protocol;
    },
    byName: (apiKey, name) => owned(apiKey).find((protocol) => protocol.name === name),
    byId: (apiKey, protocolId) => owned(apiKey).find((protocol) => protocol.protocolId === protocolId),
    list: (apiKey) => (apiKey === undefined ? [...protocols] : owned(apiKey)),
    addAssets: (protocol, seeds) => {
      const at = now();
      let modified = 0;
      for (const seed of seeds) {
        const known = protocol.assets.find((asset) => sameAsset(asset, seed));
        if (known) {
          Object.assign(known, seed, { updatedAt: at });
          modified += 1;
        } else protocol.assets.push(createAsset(seed, at));
      }
      protocol.updatedAt = at;
      return { added: seeds.length - modified, modified };
    },
    replaceChannels: (protocol, channels) => {
      protocol.channels = structuredClone([...channels]);
      protocol.updatedAt = now();
    },
    change: (protocol, change) => void Object.assign(protocol, structuredClone(change), { updatedAt: now() }),
  };
};
