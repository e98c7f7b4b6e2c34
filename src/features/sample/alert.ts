/** The alert of `tocsin test`: shaped like a real finding, so that people see what they will get, and marked as a test. */
import type { Alert } from '../../alert.ts';
import { alertId } from '../../identity.ts';
import { iso } from '../../time.ts';

/** `id` distinguishes samples: the same id is the same sample. */
export const sampleAlert = (service: string, protocol: string, id: string, now: number): Alert => {
  const at = iso(now);
  const txHash = `0x${'0'.repeat(64)}`;
  return {
    id: alertId(service, 'inspections', id),
    source: 'inspections',
    service,
    protocol,
    type: 'test.sample',
    itemId: id,
    at,
    readAt: at,
    txHash,
    item: {
      _id: id,
      chainId: 1,
      txHash,
      txTimestamp: at,
      txOrigin: `0x${'0'.repeat(40)}`,
      assets: [{ address: `0x${'0'.repeat(40)}`, descriptor: 'Sample contract' }],
      protocol,
      invokedMethodName: 'sample',
      assessment: 'critical',
      actions: [],
      detections: {
        sample: { status: 'detected', message: 'A test sent by an operator to see that alerts arrive here.' },
      },
      createdAt: at,
      updatedAt: at,
    },
    context: {
      trigger: { groups: 1, matched: { number: 1, detectors: ['sample'] } },
      adminOf: [],
      privilegedOn: [],
    },
    replay: false,
  };
};
