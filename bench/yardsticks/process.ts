/** The yardsticks' own process: does what it is told, and tells when it was done. Ends with its parent. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { forwardInTens } from './floor.ts';
import { runSingly } from './jobs.ts';
import { bodyOf, post } from './post.ts';
import { type Spent, startWatch } from './watch.ts';
import type { YardstickOrder } from './yardstick.ts';

type OrderOf<Kind> = Extract<YardstickOrder, { kind: Kind }>;

const getAgain = async ({ url, count, concurrency }: OrderOf<'get'>): Promise<Spent> => {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, { connections: concurrency });
  const spent = startWatch();
  let left = count;
  const getOn = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await (await pool.request({ path: `${pathname}${search}`, method: 'GET' })).body.json();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, getOn));
  const result = spent();
  await pool.close();
  return result;
};

const postEvenly = async ({ url, perSecond, seconds }: OrderOf<'post'>): Promise<Spent> => {
  const pool = new Pool(url, { connections: 10 });
  const bodies = Array.from({ length: perSecond * seconds }, (_, n) => bodyOf(n));
  const spent = startWatch();
  const begunAt = performance.now();
  const posting: Promise<void>[] = [];
  for (const [n, body] of bodies.entries()) {
    await sleep(Math.max(0, begunAt + (n * 1000) / perSecond - performance.now()));
    posting.push(post(pool, `bare-${n}`, body));
  }
  await Promise.all(posting);
  const result = spent();
  await pool.close();
  return result;
};

const perform = (order: YardstickOrder): Promise<Spent> => {
  switch (order.kind) {
    case 'floor':
      return forwardInTens(order);
    case 'jobs':
      return runSingly(order);
    case 'get':
      return getAgain(order);
    case 'post':
      return postEvenly(order);
  }
};

process.on('message', (order: YardstickOrder) => {
  void perform(order).then((spent) => process.send?.(spent));
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
