/** An inspection of ordinary size, about 1 kB. Its id is found again in every message of every kind. */
import { createHash } from 'node:crypto';

export interface Inspection {
  _id: string;
  txHash: string;
  [field: string]: unknown;
}

const hex = (text: string, length: number): string =>
  `0x${createHash('sha256').update(text).digest('hex').slice(0, length)}`;

/** `n` tells it apart from all others; `at` in epoch milliseconds; `bytes`: of the text that makes it large. */
export const inspectionOf = (n: number, protocol: string, at: number, bytes = 0): Inspection => {
  const date = new Date(at).toISOString();
  return {
    _id: `finding-${n}`,
    chainId: 1,
    protocol,
    assessment: 'critical',
    txHash: hex(`transaction ${n}`, 64),
    txTimestamp: new Date(at - 2000).toISOString(),
    txOrigin: hex(`origin ${n % 97}`, 40),
    invokedMethodName: 'withdraw',
    assets: [{ address: hex(protocol, 40), descriptor: `${protocol} Vault` }],
    actions: ['notify'],
    detections: {
      drasticBalanceChange: { status: 'detected', message: 'The balance fell by 48 % within one transaction.' },
      newContract: { status: 'detected', message: 'The caller was created 12 blocks before this transaction.' },
      adminCall: { status: 'notDetected', message: '' },
      flashLoan: { status: 'notDetected', message: 'a'.repeat(bytes) },
      blacklistedOrigin: { status: 'notDetected', message: '' },
    },
    createdAt: date,
    updatedAt: date,
  };
};

/** The inspections that a message tells of; the text may be wrapped as mail wraps it. */
export const inspectionsIn = (text: string): Set<string> =>
  new Set(text.replaceAll('=\r\n', '').match(/finding-\d+/g) ?? []);
