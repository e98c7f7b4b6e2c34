/** Transactions by a part of their hash. */
import { expect, test } from 'vitest';
import { createHashFinder, fits, shortHashOf } from '../../../src/features/trace/trace.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const hash = (head: string, tail: string): string => `0x${head}${'0'.repeat(64 - head.length - tail.length)}${tail}`;

test.for([
  ['0xABCDEF', { head: 'abcdef', tail: '' }],
  ['0xabcdef…', { head: 'abcdef', tail: '' }],
  ['0xabcd…ef01', { head: 'abcd', tail: 'ef01' }],
  ['0xabcd...ef01', { head: 'abcd', tail: 'ef01' }],
  ['0xabcde', undefined],
  ['abcdef01', undefined],
  [hash('ab', 'cd'), undefined],
  ['0xabcdefg', undefined],
] as const)('%s', ([text, short]) => {
  expect(shortHashOf(text)).toEqual(short);
});

test('it is found in the ledger, with every transaction that it may mean', async () => {
  const { redis, prefix } = openTestRedis();
  const ledger = createLedger(redis, prefix, () => Date.now());
  const hashes = [hash('5033aa', '01'), hash('5033aabbcc', '02'), hash('5033aabbdd', '03'), hash('60', '01')];
  const alerts = hashes.map((txHash, index) => makeAlert(index + 1, { txHash }));
  await ledger.recordWaiting([{ destination: destinationOf('slack', 'C1'), alerts }]);
  const find = async (text: string): Promise<(string | undefined)[]> => {
    const short = shortHashOf(text);
    if (short === undefined) throw new Error('no short hash');
    return (await createHashFinder({ ledger })(short)).map(({ txHash }) => txHash).toSorted();
  };
  expect(await find('0x5033aabbcc')).toEqual([hashes[1]]);
  expect(await find('0x5033AA…02')).toEqual([hashes[1]]);
  expect(await find('0x5033aabb')).toEqual([hashes[1], hashes[2]]);
  expect(await find('0x5033aa')).toEqual(hashes.slice(0, 3));
  expect(await find('0x70aaaa')).toEqual([]);
  expect(fits({ head: '5033', tail: '02' }, hashes[1] ?? '')).toBe(true);
});
