/** The sample that `tocsin test` sends, and how it is taken back. */
import { randomUUID } from 'node:crypto';
import type { Alert, Parcel } from '../../alert.ts';
import type { Config } from '../../config/schema.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { toAlert } from '../../poll/ingest.ts';
import { parcelJobId } from '../../queue/job.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import { iso } from '../../time.ts';

/**
 * Shaped like a real finding, so that people see what they will get, and marked as a test. `id` distinguishes samples: the same id is the same sample.
 */
export const sampleAlert = (service: string, protocol: string, id: string, now: number): Alert => {
  const at = iso(now);
  const txHash = `0x${'0'.repeat(64)}`;
  const raw = {
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
  };
  const item = { source: 'inspections', protocol, itemId: id, txHash, dates: { createdAt: now }, raw } as const;
  const trigger = { groups: 1, matched: { number: 1, detectors: ['sample'] } };
  const context = { trigger, adminOf: [], privilegedOn: [] };
  return { ...toAlert(item, service, protocol, now), type: 'test.sample', context };
};

/** A sample of its own, at the first service of the config. */
export const testAlert = ({ services }: Pick<Config, 'services'>, protocol = 'Sample protocol'): Alert =>
  sampleAlert(services[0]?.name ?? 'test', protocol, `test-${randomUUID()}`, Date.now());

interface CancelSampleDependencies {
  ledger: Pick<Ledger, 'pending' | 'recordAttempt'>;
  queues: Pick<ParcelQueues, 'remove'>;
  now(): number;
}

const MESSAGE = 'the sender of this test has stopped waiting for it';

/**
 * Ends a sample that nobody waits for any more: it must not arrive hours later, when it frightens people. Gives the ids of
 * the destinations that get nothing more. The ledger decides: a job that runs later finds nothing to
 * send. A request that is under way may still arrive.
 */
export const createCancelSample =
  ({ ledger, queues, now }: CancelSampleDependencies) =>
  async (parcels: readonly Parcel[]): Promise<Set<string>> => {
    const cancelled = new Set<string>();
    for (const parcel of parcels) {
      const { destination, alerts } = parcel;
      const waiting = await ledger.pending(destination, alerts);
      if (waiting.length === 0) continue;
      const end = { at: iso(now()), reason: 'cancelled', message: MESSAGE };
      const attempt = { outcome: 'dead', durationMs: 0, ...end } as const;
      const found = await ledger.recordAttempt(destination, waiting, { state: 'dead', attempt });
      if (!found.includes('delivered')) cancelled.add(destination.id);
      await queues.remove(destination.kind, parcelJobId(parcel));
    }
    return cancelled;
  };
