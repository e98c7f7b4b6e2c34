/** One signed POST of an alert, as Tocsin sends it to a webhook: the same body, the same headers. */
import { createHmac } from 'node:crypto';
import type { Pool } from 'undici';
import { inspectionOf } from '../world/inspection.ts';

const KEY = Buffer.from('bench '.repeat(4));

/** `bytes`: of the text that makes its inspection large. */
export const bodyOf = (n: number, bytes?: number): string => {
  const now = Date.now();
  return JSON.stringify({
    type: 'inspection.critical',
    timestamp: new Date(now).toISOString(),
    data: {
      service: 'bench',
      protocol: 'Protocol 0',
      inspection: inspectionOf(n, 'Protocol 0', now, bytes),
      replay: false,
    },
  });
};

export const post = async (pool: Pool, id: string, body: string): Promise<void> => {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', KEY).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  await (await pool.request({ path: '/hooks/0', method: 'POST', headers, body })).body.dump();
};
