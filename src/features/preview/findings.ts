/** Alerts of made-up findings, always the same: what a service writes, as it writes it. */
import { createHash } from 'node:crypto';
import type { Alert, AlertContext, JsonObject } from '../../alert.ts';
import { alertId } from '../../identity.ts';
import { iso } from '../../time.ts';

export const SERVICE = 'main';

/** When the transaction of a single finding was made, when it was inspected, and when its message is sent. */
export const AT = Date.parse('2026-11-22T02:40:47.000Z');
const INSPECTED_AFTER_MS = 14_000;
export const SENT_AT = iso(AT + 15_000);

const DAY_MS = 86_400_000;
/** From when on the protocol's origins are remembered. */
const REMEMBERED_SINCE = iso(AT - 45 * DAY_MS);

const hex = (label: string, length: number): string =>
  createHash('sha256').update(label).digest('hex').slice(0, length);

/** Different for every label. */
export const hashOf = (label: string): string => `0x${hex(label, 64)}`;
export const addressOf = (label: string): string => `0x${hex(`address of ${label}`, 40)}`;
export const idOf = (label: string): string => hex(`id of ${label}`, 24);

export interface Asset {
  descriptor?: string;
  address: string;
}

export const asset = (descriptor: string): Asset => ({ descriptor, address: addressOf(descriptor) });

export const POOL_A: Asset = { descriptor: 'Pool A', address: '0x18072e8c35bf992dc9e9c616612e7696a6cecc1b' };
export const HASH = '0x50332cb8642a357c732902f451fbfcc798b8da9fb9fad67e4ba927c3ecf45ccb';
export const ORIGIN = '0xcc22af58be6521cc3e2434e37af027bc08d6af57';

const ALL_DETECTORS = [
  ...['adminCall', 'drasticBalanceChange', 'flashLoan', 'newContract', 'mixer', 'reentrancy'],
  'failedTransaction',
];

/** Detectors in the service's order, with a message for each that fired. */
const detectionsOf = (fired: Readonly<Record<string, string>>): JsonObject => ({
  ...Object.fromEntries(Object.entries(fired).map(([name, message]) => [name, { status: 'detected', message }])),
  ...Object.fromEntries(
    ALL_DETECTORS.filter((name) => !Object.hasOwn(fired, name)).map((name) => [
      name,
      { status: 'notDetected', message: '' },
    ]),
  ),
});

export interface Finding {
  /** Distinguishes findings. */
  label: string;
  protocol: string;
  assets: readonly Asset[];
  /** What each detector that fired says. */
  fired: Readonly<Record<string, string>>;
  assessment?: 'critical' | 'suspecious' | 'ok';
  method?: string;
  origin?: string;
  hash?: string;
  chainId?: number;
  /** Of the transaction; default `AT`. */
  at?: number;
  context?: AlertContext;
}

/** Nobody of the protocol, first seen today, and all detectors of the first group fired. */
export const strangerOf = (fired: Readonly<Record<string, string>>): AlertContext => ({
  trigger: { groups: 5, matched: { number: 1, detectors: Object.keys(fired) } },
  adminOf: [],
  privilegedOn: [],
  first: { since: REMEMBERED_SINCE, origin: true, detectors: false },
});

/** An alert of an inspection, whole. */
export const finding = (given: Finding): Alert => {
  const { label, protocol, fired, assessment = 'critical', at = AT, hash = hashOf(label) } = given;
  const itemId = idOf(label);
  const createdAt = iso(at + INSPECTED_AFTER_MS);
  return {
    id: alertId(SERVICE, 'inspections', itemId),
    source: 'inspections',
    service: SERVICE,
    protocol,
    type: `inspection.${assessment}`,
    itemId,
    at: createdAt,
    readAt: iso(at + INSPECTED_AFTER_MS + 400),
    txHash: hash,
    item: {
      _id: itemId,
      chainId: given.chainId ?? 1,
      txHash: hash,
      txTimestamp: iso(at),
      txOrigin: given.origin ?? addressOf(`origin of ${label}`),
      assets: given.assets.map((each) => ({ ...each })),
      protocol,
      invokedMethodName: given.method ?? 'transferFrom',
      assessment,
      actions: [],
      detections: detectionsOf(fired),
      createdAt,
      updatedAt: createdAt,
    },
    context: given.context ?? strangerOf(fired),
    replay: false,
  };
};

/** An alert of a stored notification. */
export const notification = (label: string, protocol: string, message: string): Alert => {
  const itemId = idOf(label);
  const at = iso(AT + INSPECTED_AFTER_MS);
  return {
    id: alertId(SERVICE, 'notifications', itemId),
    source: 'notifications',
    service: SERVICE,
    protocol,
    type: 'notification.created',
    itemId,
    at,
    readAt: at,
    item: { _id: itemId, message, protocol, createdAt: at },
    replay: false,
  };
};
