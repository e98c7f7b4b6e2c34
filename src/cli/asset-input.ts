/** Assets as the operator hands them in: the service's own shape, no field left out. */
import { z } from 'zod';
import type { Breach } from '../config/breach.ts';
import type { AssetInput } from '../service/client.ts';
import type { ListKind } from './input.ts';

const ADDRESS_RULE = 'must be an address: 0x and 40 hex digits';
const CHAIN_RULE = 'must be a chain id: a whole number from 1';

const address = () => z.string({ error: ADDRESS_RULE }).regex(/^0x[0-9a-fA-F]{40}$/, { error: ADDRESS_RULE });

const asset = z.strictObject({
  chainId: z.int({ error: CHAIN_RULE }).min(1, { error: CHAIN_RULE }),
  abi: z.string({ error: 'must be the ABI, as a list or as its JSON text' }),
  address: address(),
  admins: z.array(address(), { error: 'must be a list of addresses; it may be empty' }),
  descriptor: z
    .string({ error: 'must be a name (put quotes around digits)' })
    .regex(/\S/, { error: 'must be a name, not blank' }),
});

/** `CHAIN ADDRESS` in one spelling, or undefined where the element has none. */
const contractOf = (element: unknown): string | undefined => {
  const { chainId, address: text } = Object(element) as { chainId?: unknown; address?: unknown };
  return typeof text === 'string' && typeof chainId === 'number' ? `${chainId} ${text.toLowerCase()}` : undefined;
};

const repeated = (elements: readonly unknown[]): Breach[] => {
  const contracts = elements.map(contractOf);
  return contracts.flatMap((contract, index) => {
    const first = contracts.indexOf(contract);
    return contract === undefined || first === index
      ? []
      : [{ path: [index], rule: `is the same contract as ${first}` }];
  });
};

export const ASSETS: ListKind<AssetInput> = {
  what: 'assets',
  schema: z
    .array(asset, { error: 'must be a list of assets' })
    .refine((list) => list.length > 0, { error: 'must name at least one' }),
  breachesOf: repeated,
  jsonTextAt: 'abi',
};
