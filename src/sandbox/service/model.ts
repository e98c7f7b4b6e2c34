/** What the fake monitoring service keeps. Dates are epoch milliseconds of the service's own clock. */
import type { JsonValue } from '../json.ts';

export interface SandboxChannel {
  name: string;
  contacts?: string[];
  url?: string;
}

export interface SandboxAsset {
  chainId: number;
  address: string;
  descriptor: string;
  admins: string[];
  abi: string;
  /** Method selector to method name. */
  methods: Record<string, string>;
  /** Selectors; the shape is not documented. */
  privilegedMethods: JsonValue[];
  createdAt: number;
  updatedAt: number;
}

export interface AssetSeed {
  chainId: number;
  address: string;
  descriptor: string;
  admins?: string[];
  abi?: string;
  methods?: Record<string, string>;
  privilegedMethods?: JsonValue[];
}

export interface SandboxDetector {
  name: string;
  config: { threshold: number } | null;
  external: boolean;
}

interface SandboxTrigger {
  detectionsGroup: string[][];
  actions: string[];
}

export interface ProtocolSeed {
  name: string;
  assets?: AssetSeed[];
  channels?: SandboxChannel[];
  detectors?: SandboxDetector[];
  /** By severity. Default: `critical` with the action `notification`. */
  triggers?: Record<string, SandboxTrigger>;
  /** Default true. */
  tracking?: boolean;
}

/** What somebody may set at the service, besides channels. */
export type ProtocolChange = Pick<ProtocolSeed, 'detectors' | 'triggers' | 'tracking'>;

export interface SandboxProtocol {
  apiKey: string;
  protocolId: string;
  name: string;
  assets: SandboxAsset[];
  channels: SandboxChannel[];
  detectors: SandboxDetector[];
  triggers: Record<string, SandboxTrigger>;
  tracking: boolean;
  createdAt: number;
  updatedAt: number;
}

export interface SandboxDetection {
  status: string;
  message: string;
}

export interface SandboxInspection {
  _id: string;
  chainId: number;
  txHash: string;
  txTimestamp: number;
  txOrigin: string;
  assets: { address: string; descriptor: string }[];
  /** The protocol's name. */
  protocol: string;
  invokedMethodName: string;
  /** `ok`, `suspecious`, `critical`; any other word may be tried. */
  assessment: string;
  actions: JsonValue[];
  detections: Record<string, SandboxDetection>;
  createdAt: number;
  updatedAt: number;
}

export interface SandboxNotification {
  /** The sandbox's own; never on the wire. */
  id: string;
  message: string;
  protocol: string;
  createdAt: number;
  updatedAt: number;
}

/** Which protocol an item is for: default the first of all; `apiKey` only where two keys share a name. */
export interface ProtocolRef {
  protocol?: string;
  apiKey?: string;
}

export type InspectionSeed = Partial<SandboxInspection> & ProtocolRef;
export type NotificationSeed = Partial<SandboxNotification> & ProtocolRef;
export type InspectionChange = Partial<Omit<SandboxInspection, '_id' | 'protocol'>>;

export const DETECTOR_NAMES = [
  'adminCall',
  'drasticBalanceChange',
  'flashLoan',
  'newContract',
  'mixer',
  'reentrancy',
  'failedTransaction',
] as const;
export type DetectorName = (typeof DETECTOR_NAMES)[number];

/** The one status the interface names; any other means that the detector fired. */
export const NOT_DETECTED = 'notDetected';
