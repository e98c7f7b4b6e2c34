import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/alert.ts';
import { decodeAssets } from '../../src/service/protocols.ts';
import { anyJson } from '../support/texts.ts';

const assetOf = (fields: JsonObject) => decodeAssets([{ address: '0xA', ...fields }])?.[0];

test('an asset as the interface describes it, selectors with their names', () => {
  const listed = {
    address: ' 0xAB ',
    chainId: 8453,
    protocol: 'p-1',
    admins: ['0xAD', '0xad', '0xEF'],
    descriptor: 'Vault',
    exposedMethods: [],
    privilegedMethods: ['0x8456CB59', 'setFee(uint256)'],
    methods: { '0x8456cb59': 'pause', '0x69fe0e2d': 'setFee', '0xd0e30db0': 'deposit' },
  };
  expect(decodeAssets([listed])).toEqual([
    {
      address: '0xab',
      chainId: '8453',
      name: 'Vault',
      admins: ['0xad', '0xef'],
      privileged: ['0x8456cb59', 'pause', 'setfee', '0x69fe0e2d'],
    },
  ]);
});

test('left out is not known, null is no asset', () => {
  expect(decodeAssets(undefined)).toBeUndefined();
  expect(decodeAssets(null)).toEqual([]);
  expect(decodeAssets([null, 'x', {}, { address: '' }])).toEqual([]);
});

test.each<JsonValue>([null, [], {}, [null], ['0xad', {}], ['0xad', ''], Array.from({ length: 201 }, () => '0xad')])(
  'admins %j are not known: half a list would deny',
  (admins) => {
    expect(assetOf({ admins })).toEqual({ address: '0xa' });
  },
);

test.each<[JsonValue, string[] | undefined]>([
  ['pause', ['pause']],
  [[{ name: 'pause', selector: '0x8456cb59', inputs: [] }], ['pause', '0x8456cb59']],
  [[{ signature: 'Pause ( bool )' }], ['pause']],
  [['pause', { id: 7 }], undefined],
  [['pause', 7], undefined],
  [['('], undefined],
  [['0x8456cb59'], undefined],
  [['pause', '0x8456cb59'], undefined],
  [{}, undefined],
])('privileged methods %j are %j', (privilegedMethods, privileged) => {
  expect(assetOf({ privilegedMethods })?.privileged).toEqual(privileged);
});

test('nothing that comes is a reason to fail', () => {
  fc.assert(
    fc.property(anyJson(), anyJson(), anyJson(), (admins, privilegedMethods, methods) => {
      expect(assetOf({ admins, privilegedMethods, methods } as JsonObject)?.address).toBe('0xa');
      expect(Array.isArray(decodeAssets(admins as JsonValue))).toBe(true);
    }),
  );
});
