/** Alerts, destinations and parcels for tests: believable, and different wherever a difference should show. */
import type { Alert, ChannelKind, Destination, JsonObject } from '../../src/alert.ts';
import { alertId, destinationId } from '../../src/item.ts';

export const TX_HASH = `0x${'5d1c9a'.repeat(10)}ab12`;
export const TX_ORIGIN = `0x${'7e'.repeat(20)}`;

export const sampleInspection = (changes: JsonObject = {}): JsonObject => ({
  _id: '673d2f0a1b2c3d4e5f607182',
  chainId: 8453,
  txHash: TX_HASH,
  txTimestamp: '2026-11-20T10:07:12.000Z',
  txOrigin: TX_ORIGIN,
  assets: [{ address: `0x${'ab'.repeat(20)}`, descriptor: 'Lending vault' }],
  protocol: 'Lending Pool',
  invokedMethodName: 'liquidateCall',
  assessment: 'critical',
  actions: [],
  detections: {
    flashLoan: { status: 'detected', message: 'Borrowed 12,400 ETH and repaid in the same transaction' },
    mixer: { status: 'notDetected', message: '' },
    drasticBalanceChange: { status: 'detected', message: 'Balance fell by 61.5 %' },
  },
  createdAt: '2026-11-20T10:07:31.002Z',
  updatedAt: '2026-11-20T10:07:31.002Z',
  ...changes,
});

/** An alert of an inspection; `item` holds changes to the sample. */
export const inspectionAlert = ({ item = {}, ...changes }: Partial<Alert> = {}): Alert => {
  const whole = sampleInspection(item);
  const itemId = String(whole._id);
  return {
    id: alertId('main', 'inspections', itemId),
    source: 'inspections',
    service: 'main',
    protocol: String(whole.protocol),
    type: `inspection.${String(whole.assessment)}`,
    itemId,
    at: '2026-11-20T10:07:31.002Z',
    readAt: '2026-11-20T10:07:40.500Z',
    txHash: String(whole.txHash),
    item: whole,
    replay: false,
    ...changes,
  };
};

export const notificationAlert = (message: string, changes: Partial<Alert> = {}): Alert => ({
  id: alertId('main', 'notifications', message),
  source: 'notifications',
  service: 'main',
  protocol: 'Lending Pool',
  type: 'notification.created',
  itemId: 'b7f2c0de11aa22bb33cc44dd55ee66ff',
  at: '2026-11-20T11:22:33.000Z',
  readAt: '2026-11-20T11:22:40.000Z',
  item: { message, protocol: 'Lending Pool', createdAt: '2026-11-20T11:22:33.000Z' },
  replay: false,
  ...changes,
});

export const destinationOf = (kind: ChannelKind, address: string, label = address): Destination => ({
  id: destinationId(kind, address),
  kind,
  address,
  label,
});
