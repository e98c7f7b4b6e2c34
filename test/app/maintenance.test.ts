/** The first listing of each service, with which a daemon starts. */
import { expect, test } from 'vitest';
import { listUntilKnown } from '../../src/app/maintenance.ts';

test('a Redis that refuses us during the first listing is waited for, and ends no daemon', async () => {
  const lines: object[] = [];
  const reviewed: string[] = [];
  let asked = 0;
  await listUntilKnown('main', {
    reading: {
      intake: {
        list: async () => {
          asked += 1;
          if (asked === 1) throw new Error('CLUSTERDOWN The cluster is down');
          return asked > 2;
        },
      },
      catalog: { protocols: async () => new Map() },
    },
    review: { review: (service: string) => void reviewed.push(service) },
    log: { error: (fields: object) => lines.push(fields) } as never,
    stopping: new AbortController().signal,
  });
  expect({ asked, reviewed }).toEqual({ asked: 3, reviewed: ['main'] });
  expect(lines).toMatchObject([{ turn: 'first listing main', err: { message: 'CLUSTERDOWN The cluster is down' } }]);
});
