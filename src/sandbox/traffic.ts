/** Believable traffic: mostly harmless transactions, now and then a finding. The same seed gives the same traffic. */
import { HOSTILE_TEXTS } from './hostile.ts';
import { createRandom, type Random } from './random.ts';
import {
  type AssetSeed,
  DETECTOR_NAMES,
  type DetectorName,
  type InspectionSeed,
  NOT_DETECTED,
  type NotificationSeed,
  type ProtocolRef,
  type SandboxDetection,
} from './service/model.ts';
import { METHOD_NAMES } from './world.ts';

/** Shares are from 0 to 1. */
export interface TrafficMix {
  /** Of inspections. Default 0.04. */
  critical: number;
  /** Of inspections. Default 0.1. */
  suspecious: number;
  /** Criticals that are stored as a notification as well. Default 0.5. */
  notified: number;
  /** Steps that also store a notification about nothing in particular. Default 0.02. */
  announced: number;
  /** Texts that are hostile. Default 0.05. */
  hostile: number;
}

const DEFAULT_MIX: TrafficMix = { critical: 0.04, suspecious: 0.1, notified: 0.5, announced: 0.02, hostile: 0.05 };

/** Whom the traffic is about. */
interface TrafficProtocol {
  name: string;
  apiKey?: string;
  assets?: readonly AssetSeed[];
}

export type TrafficItem =
  | { source: 'inspections'; seed: InspectionSeed }
  | { source: 'notifications'; seed: NotificationSeed };

interface TrafficOptions {
  /** Default 1. */
  seed?: number | string;
  protocols: readonly TrafficProtocol[];
  /** Epoch milliseconds. Default `Date.now`. */
  now?: () => number;
}

export interface Traffic {
  /** One inspection of one transaction, and what comes with it; nothing where there is no protocol. */
  next(mix?: Partial<TrafficMix>): TrafficItem[];
}

type Severity = 'ok' | 'suspecious' | 'critical';

const FINDINGS: Readonly<Record<DetectorName, (random: Random) => string>> = {
  adminCall: (random) => `Privileged method called by 0x${random.hex(40)}, which is not a known admin.`,
  drasticBalanceChange: (random) =>
    `Balance fell by ${20 + random.below(79)}.${random.below(10)} % in one transaction (threshold 20 %).`,
  flashLoan: (random) =>
    `Flash loan of ${(1 + random.below(90)) * 1000} WETH taken and repaid in the same transaction.`,
  newContract: (random) => `Called through a contract that was created ${1 + random.below(40)} blocks ago.`,
  mixer: (random) => `Origin was funded by a mixer ${1 + random.below(12)} hours before.`,
  reentrancy: (random) => `Method entered ${2 + random.below(30)} times before the first call returned.`,
  failedTransaction: (random) => `Reverted, as ${2 + random.below(8)} transactions of this origin before.`,
};

const LIKELY: Readonly<Record<Exclude<Severity, 'ok'>, readonly [DetectorName, ...DetectorName[]]>> = {
  critical: ['drasticBalanceChange', 'reentrancy', 'flashLoan', 'adminCall'],
  suspecious: ['newContract', 'mixer', 'failedTransaction', 'flashLoan'],
};

/** Share of transactions that an admin of the contract sends. */
const ADMINS = 0.1;

const ANNOUNCEMENTS: readonly [string, ...string[]] = [
  'Monitoring was extended by a contract.',
  'The inspection queue was behind for a few minutes and has caught up.',
  'The weekly report is ready: nothing critical was left open.',
];

const severityOf = (random: Random, mix: TrafficMix): Severity => {
  const draw = random.next();
  if (draw < mix.critical) return 'critical';
  return draw < mix.critical + mix.suspecious ? 'suspecious' : 'ok';
};

/** Draws texts, of which a share is hostile. */
type TextOr = (usual: string) => string;

const drawDetections = (severity: Severity, random: Random, textOr: TextOr): Record<string, SandboxDetection> => {
  const main = severity === 'ok' ? undefined : random.pick(LIKELY[severity]);
  const draw = (name: DetectorName): SandboxDetection => {
    const fired = name === main || (severity === 'critical' && random.chance(0.2));
    return fired
      ? { status: 'detected', message: textOr(FINDINGS[name](random)) }
      : { status: NOT_DETECTED, message: '' };
  };
  return Object.fromEntries(DETECTOR_NAMES.map((name) => [name, draw(name)]));
};

const ownerOf = ({ name, apiKey }: TrafficProtocol): ProtocolRef => ({
  protocol: name,
  ...(apiKey !== undefined && { apiKey }),
});

export const createTraffic = ({ seed = 1, protocols, now = Date.now }: TrafficOptions): Traffic => {
  const random = createRandom(`traffic ${seed}`);
  const [first, ...others] = protocols;
  if (!first) return { next: () => [] };

  const inspect = (protocol: TrafficProtocol, severity: Severity, textOr: TextOr) => {
    const [asset, ...rest] = protocol.assets ?? [];
    const touched = asset ? [random.pick([asset, ...rest])] : [];
    const [admin] = random.chance(ADMINS) ? (touched[0]?.admins ?? []) : [];
    return {
      ...ownerOf(protocol),
      _id: random.hex(24),
      chainId: touched[0]?.chainId ?? 1,
      txHash: `0x${random.hex(64)}`,
      txTimestamp: now() - 2000 - random.below(12_000),
      txOrigin: admin ?? `0x${random.hex(40)}`,
      assets: touched.map(({ address, descriptor }) => ({ address, descriptor })),
      invokedMethodName: textOr(METHOD_NAMES[random.below(METHOD_NAMES.length)] ?? 'transfer'),
      assessment: severity,
      detections: drawDetections(severity, random, textOr),
    };
  };

  const notify = (protocol: TrafficProtocol, message: string): TrafficItem => ({
    source: 'notifications',
    seed: { ...ownerOf(protocol), id: random.hex(24), message },
  });

  return {
    next: (wanted) => {
      const mix: TrafficMix = { ...DEFAULT_MIX, ...wanted };
      const textOr: TextOr = (usual) => (random.chance(mix.hostile) ? random.pick(HOSTILE_TEXTS) : usual);
      const protocol = random.pick([first, ...others]);
      const seedOf = inspect(protocol, severityOf(random, mix), textOr);
      const items: TrafficItem[] = [{ source: 'inspections', seed: seedOf }];
      if (seedOf.assessment === 'critical' && random.chance(mix.notified)) {
        const heading = textOr(`Critical finding in ${protocol.name}.`);
        items.push(notify(protocol, `${heading}\nTransaction: ${seedOf.txHash}`));
      }
      if (random.chance(mix.announced)) items.push(notify(protocol, textOr(random.pick(ANNOUNCEMENTS))));
      return items;
    },
  };
};
