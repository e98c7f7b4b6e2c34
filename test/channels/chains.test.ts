import { expect, test } from 'vitest';
import { addressLink, transactionLink, WELL_KNOWN_CHAINS, withWellKnown } from '../../src/channels/chains.ts';

const HASH = `0x${'aB'.repeat(32)}`;
const ADDRESS = `0x${'aB'.repeat(20)}`;
const CHAIN = { name: 'Mine', explorer: 'https://scan.example.com//' };

test('a hash and an address are linked to the explorer', () => {
  expect(transactionLink(CHAIN, HASH)).toBe(`https://scan.example.com/tx/${HASH}`);
  expect(addressLink(CHAIN, ADDRESS)).toBe(`https://scan.example.com/address/${ADDRESS}`);
});

test.each(['', '0x1', `${HASH}0`, ` ${HASH}`, `${HASH.slice(0, -1)}/`, '../../evil'])(
  '%j is linked nowhere',
  (text) => {
    expect(transactionLink(CHAIN, text)).toBeUndefined();
    expect(addressLink(CHAIN, text)).toBeUndefined();
  },
);

test('without a chain or its explorer nothing is linked', () => {
  expect(transactionLink(undefined, HASH)).toBeUndefined();
  expect(addressLink({ name: 'Private' }, ADDRESS)).toBeUndefined();
});

test('the config adds chains and replaces well-known ones', () => {
  const chains = withWellKnown({ '1': { name: 'Fork' }, '4711': CHAIN });
  expect(chains).toEqual({ ...WELL_KNOWN_CHAINS, '1': { name: 'Fork' }, '4711': CHAIN });
});
