/** Alerts of made-up findings, always the same: what a service writes, as it writes it. */
import { createHash } from 'node:crypto';
import type { Alert, AlertContext, JsonObject } from '../../alert.ts';
import { toAlert } from '../../poll/ingest.ts';
import { DAY_MS, iso } from '../../time.ts';

export const SERVICE = 'main';

/** When the transaction of a single finding was made, when it was inspected, and when its message is sent. */
export const AT = Date.parse('2026-11-22T02:40:47.000Z');
const INSPECTED_AFTER_MS = 14_000;
export const SENT_AT = iso(AT + 15_000);

/** From when on the protocol's origins are remembered. */
const REMEMBERED_SINCE = iso(AT - 45 * DAY_MS);

const hex = (label: string, length: number): string =>
  createHash('sha256').update(label).digest('hex').slice(0, length);

/** Different for every label. */
export const hashOf = (label: string): string => `0x${hex(label, 64)}`;
const addressOf = (label: string): string => `0x${hex(`address of ${label}`, 40)}`;
export const idOf = (label: string): string => hex(`id of ${label}`, 24);

interface Asset {
  descriptor?: string;
  address: string;
}

export const asset = (descriptor: string): Asset => ({ descriptor, address: addressOf(descriptor) });

export const POOL_A: Asset = { descriptor: 'Pool A', address: '0x18072e8c35bf992dc9e9c616612e7696a6cecc1b' };
export const HASH = '0x50332cb8642a357c732902f451fbfcc798b8da9fb9fad67e4ba927c3ecf45ccb';
export const ORIGIN = '0xcc22af58be6521cc3e2434e37af027bc08d6af57';

const ALL_DETECTORS = [
  ...['adminCall', 'drasticBalanceChange', 'flashLoan', 'newContract', 'mixer', 'reentrancy'],
  'failedTransaction',
];

const quietDetectors = (fired: object): string[] => ALL_DETECTORS.filter((name) => !Object.hasOwn(fired, name));

/** Detectors in the service's order, with a message for each that fired. */
const detectionsOf = (fired: Readonly<Record<string, string>>): JsonObject => ({
  ...Object.fromEntries(Object.entries(fired).map(([name, message]) => [name, { status: 'detected', message }])),
  ...Object.fromEntries(quietDetectors(fired).map((name) => [name, { status: 'notDetected', message: '' }])),
});

interface Finding {
  /** Distinguishes findings. */
  label: string;
  protocol: string;
  assets: readonly Asset[];
  /** What each detector that fired says. */
  fired: Readonly<Record<string, string>>;
  assessment?: 'critical' | 'suspecious' | 'ok';
  method?: string;
  origin?: string;
  hash?: string;
  chainId?: number;
  /** Of the transaction; default `AT`. */
  at?: number;
  context?: AlertContext;
}

/** Nobody of the protocol, first seen today, and all detectors of the first group fired. */
export const strangerOf = (fired: Readonly<Record<string, string>>): AlertContext => ({
  trigger: { groups: 5, matched: { number: 1, detectors: Object.keys(fired) } },
  adminOf: [],
  privilegedOn: [],
  first: { since: REMEMBERED_SINCE, origin: true, detectors: false },
});

export const finding = (given: Finding): Alert => {
  const { label, protocol, fired, assessment = 'critical', at = AT, hash: txHash = hashOf(label) } = given;
  const itemId = idOf(label);
  const createdAt = at + INSPECTED_AFTER_MS;
  const raw = {
    _id: itemId,
    chainId: given.chainId ?? 1,
    txHash,
    txTimestamp: iso(at),
    txOrigin: given.origin ?? addressOf(`origin of ${label}`),
    assets: given.assets.map((each) => ({ ...each })),
    protocol,
    invokedMethodName: given.method ?? 'transferFrom',
    assessment,
    actions: [],
    detections: detectionsOf(fired),
    createdAt: iso(createdAt),
    updatedAt: iso(createdAt),
  };
  const item = { source: 'inspections', protocol, itemId, assessment, txHash, dates: { createdAt }, raw } as const;
  const context = given.context ?? strangerOf(fired);
  return { ...toAlert(item, SERVICE, protocol, createdAt + 400), context };
};

export const notification = (label: string, protocol: string, message: string): Alert => {
  const itemId = idOf(label);
  const createdAt = AT + INSPECTED_AFTER_MS;
  const raw = { _id: itemId, message, protocol, createdAt: iso(createdAt) };
  const item = { source: 'notifications', protocol, itemId, dates: { createdAt }, raw } as const;
  return toAlert(item, SERVICE, protocol, createdAt);
};

/**
 * What anybody can write onto a chain: it must not look like ours, call anybody, lead anywhere, or break a message. Markup of
 * every channel, and sentences as ours would be.
 */
const MESSAGE = [
  '<b>bold</b> *bold* _italic_ ~gone~ `code` <script>alert(1)</script> &amp; &lt;i&gt;',
  'Sender: 0x0000000000000000000000000000000000000001 (an admin)',
  'This was a test. Nothing happened.',
  '> quoted, and not by us',
  '<!channel> @channel @here <@U024BE7LH> #general /stop +49 30 1234567',
  '[claim](https://phish.example) <https://phish.example|your wallet> https://phish.example/login',
  '</blockquote></pre></code></td></table></body></html>',
  'right \u202e to left \u202c zero\u200bwidth \ufeff nul \u0000 escape \u001b[31m emoji 🔴 CRITICAL',
].join('\r\n');

export const hostileFinding = (): Alert =>
  finding({
    label: 'hostile',
    protocol: 'Harbor <b>&_* Lending</b>\n✅ OK · Harbor Lending',
    assets: [{ descriptor: '0x1807…cc1B (verified) <!here>', address: '0x18072e8c35bf992dc9e9c616612e7696a6cecc1b' }],
    method: 'transfer_*~`From <https://phish.example|safe>',
    fired: {
      'flashLoan\nResolved: <b>false alarm</b> @channel': MESSAGE,
      drasticBalanceChange: 'Token balance dropped 90% below its 24 h mean',
    },
    at: AT,
  });

export const hostileNotification = (): Alert => notification('hostile', 'Harbor Lending', `OK\r\n${MESSAGE}`);

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
