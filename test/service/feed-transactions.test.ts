import { expect, test } from 'vitest';
import { transactionsIn } from '../../src/service/feed.ts';

const A = `0x${'ab'.repeat(32)}`;
const B = `0x${'0'.repeat(63)}1`;

test.each<[string, string[]]>([
  [`Critical finding in Vault.\nTransaction: ${A}`, [A]],
  [`${A.toUpperCase()} and ${A}.`, [A]],
  [`https://etherscan.io/tx/${A}?x=1, (${B})`, [A, B]],
  [`{"txHash":"${A}"}`, [A]],
  [`${A}0 is longer data, ${A.slice(0, -1)} is too short`, []],
  [`${'ab'.repeat(32)} has no prefix; by 0x${'7e'.repeat(20)}; word${A}`, []],
  ['', []],
])('%j', (text, hashes) => {
  expect(transactionsIn(text)).toEqual(hashes);
});
