/** The yardsticks: the same world, and nothing between reading and posting; no queue, no ledger, no promise. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

const HEADERS = { 'content-type': 'application/json' };

/** Reads every protocol each interval, one after the other, and posts at once what is new, until `seconds` are over. */
export const readAndPost = async (
  url: string,
  { protocols, intervalMs, seconds }: { protocols: number; intervalMs: number; seconds: number },
): Promise<void> => {
  const pool = new Pool(url, { connections: 20 });
  const seen = new Set<string>();
  const since = new Date().toISOString();

  const post = async (n: number, inspection: { _id: string }): Promise<void> => {
    if (seen.has(inspection._id)) return;
    seen.add(inspection._id);
    const body = JSON.stringify({ data: { inspection } });
    await (await pool.request({ path: `/hooks/${n}`, method: 'POST', headers: HEADERS, body })).body.dump();
  };
  const read = async (n: number): Promise<void> => {
    const path = `/service-0/Protocol%20${n}/inspections?startDate=${since}`;
    const { page } = (await (await pool.request({ path, method: 'GET' })).body.json()) as { page: { _id: string }[] };
    await Promise.all(page.map((inspection) => post(n, inspection)));
  };

  const begunAt = performance.now();
  const reading: Promise<void>[] = [];
  for (let turn = 0; performance.now() < begunAt + seconds * 1000; turn += 1) {
    reading.push(read(turn % protocols));
    await sleep(Math.max(0, begunAt + (turn * intervalMs) / protocols - performance.now()));
  }
  await Promise.all(reading);
  await pool.close();
};
