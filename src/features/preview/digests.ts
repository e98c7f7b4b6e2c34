/** Many findings at once, always the same. */
import type { Alert } from '../../alert.ts';
import { AT, addressOf, asset, finding, strangerOf } from './findings.ts';

const KINDS = [
  {
    ...{ protocol: 'Quarry Perps', asset: asset('Margin Account'), method: 'liquidate' },
    fired: (n: number) => ({ drasticBalanceChange: `Token balance dropped ${20 + (n % 60)}% below its 24 h mean` }),
  },
  {
    ...{ protocol: 'Harbor Lending', asset: asset('Pool B'), method: 'borrow' },
    fired: (n: number) => ({ flashLoan: `${1000 + n * 7} WETH borrowed and repaid in the same transaction` }),
  },
  {
    ...{ protocol: 'Meridian Swap', asset: asset('WETH/USDX Pair'), method: 'swap' },
    fired: () => ({ failedTransaction: 'The call reverted: slippage' }),
  },
  {
    ...{ protocol: 'Quarry Perps', asset: asset('Insurance Fund'), method: 'withdraw' },
    fired: () => ({ mixer: 'The origin was funded by a mixer' }),
  },
] as const;

/** Most are alike, as in a storm; a few come from one address, and the third last is the one that matters. */
export const digest = (count: number): Alert[] =>
  Array.from({ length: count }, (_, n) => {
    const at = AT - (count - n) * 250;
    if (n === count - 3) {
      const fired = { adminCall: 'Ownership was transferred to an address that was created today' };
      const context = { ...strangerOf(fired), adminOf: ['Vault Controller'], privilegedOn: ['Vault Controller'] };
      const assets = [asset('Vault Controller')];
      const protocol = 'Northlight Vaults';
      return finding({ label: `digest ${n}`, protocol, assets, fired, at, method: 'transferOwnership', context });
    }
    const kind = KINDS[n % 7 === 6 ? 3 : n % 3] ?? KINDS[0];
    const fired = kind.fired(n);
    const { first: _first, ...context } = strangerOf(fired);
    return finding({
      label: `digest ${n}`,
      ...{ protocol: kind.protocol, assets: [kind.asset], fired, at, method: kind.method, context },
      origin: addressOf(`digest origin ${n % 5}`),
      assessment: n % 3 === 2 ? 'suspecious' : 'critical',
    });
  });
