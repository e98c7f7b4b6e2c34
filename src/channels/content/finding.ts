/**
 * Who and what of one inspection, or of several of one transaction: typed, and each thing once. Items are read leniently: a
 * field of another shape is missing and never makes this fail.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { type Alert, hasFired, isSample, type JsonObject, type JsonValue } from '../../alert.ts';
import { createBoundedMap, getOrCreate } from '../../bounded-map.ts';
import { cleanLine } from '../../text.ts';
import { parseTime } from '../../time.ts';
import { addressLink, type Chain, type Chains, isAddress, transactionLink } from '../chains.ts';
import { objectOf, shortHex, text, UNKNOWN } from './foreign.ts';

const mixedCase = (lower: string): string => {
  const hash = keccak_256(new TextEncoder().encode(lower));
  const digits = [...lower].map((digit, index) => {
    const half = (hash[index >> 1] ?? 0) >> (index % 2 === 0 ? 4 : 0);
    return (half & 0xf) >= 8 ? digit.toUpperCase() : digit;
  });
  return `0x${digits.join('')}`;
};

const checksums = createBoundedMap<string, string>(5000);

/**
 * The address with its checksum (EIP-55), so that a mistyped digit shows. Found once for each of the last few thousand: a
 * digest names the same ones again and again.
 */
export const checksumAddress = (address: string): string => {
  const lower = address.slice(2).toLowerCase();
  return getOrCreate(checksums, lower, () => mixedCase(lower));
};

/** A hash or an address. */
export interface Reference {
  /** As it is copied: an address with its checksum, else as it came. */
  whole: string;
  /** `0x5033…5ccb` */
  short: string;
  url?: string | undefined;
}

export interface Origin extends Reference {
  /** Names of the contracts that it is an admin of; empty: of none of those it touched. Absent: not known. */
  adminOf?: readonly string[] | undefined;
  /** Epoch milliseconds: since when it is one, where that is recent; NaN: where it is not. */
  adminSince: number;
}

export interface Contract {
  name?: string | undefined;
  /** Absent where the service names no address. */
  at?: Reference | undefined;
}

export interface Finding {
  chain?: { id: string; name?: string | undefined } | undefined;
  transaction?: Reference | undefined;
  origins: Origin[];
  methods: { name: string; isPrivileged: boolean }[];
  contracts: Contract[];
  /** First alert of the protocol from this origin, or with these detectors, as remembered since (epoch milliseconds). */
  first: { since: number; origin: boolean; detectors: boolean };
  /** `group 1 of 5: flashLoan, mixer` */
  triggers: string[];
  /** Detectors that did not fire. */
  notFired: string[];
  /** Epoch milliseconds; NaN where the service gave none that can be read. The last inspection of several. */
  transactionAt: number;
  inspectedAt: number;
  /** The service's ids. */
  ids: string[];
}

/** Chain ids arrive as number or string. */
export const chainOf = (item: JsonObject, chains: Chains): Chain | undefined => {
  const id = text(item.chainId);
  return Object.hasOwn(chains, id) ? chains[id] : undefined;
};

const addressReference = (address: string, chain: Chain | undefined): Reference => {
  const whole = isAddress(address) ? checksumAddress(address) : address;
  return { whole, short: shortHex(whole), url: addressLink(chain, whole) };
};

/** Undefined for a missing field. */
const known = (value: JsonValue | undefined): string | undefined => {
  const read = text(value);
  return read === UNKNOWN ? undefined : read;
};

const contractOf = (value: JsonValue, chain: Chain | undefined): Contract[] => {
  const { descriptor, address } = objectOf(value);
  const name = known(descriptor);
  const at = known(address);
  if (name === undefined && at === undefined) return [];
  return [{ name, at: at === undefined ? undefined : addressReference(at, chain) }];
};

const notFiredIn = ({ detections }: JsonObject): string[] =>
  Object.entries(objectOf(detections)).flatMap(([name, detection]) => (hasFired(detection) ? [] : [cleanLine(name)]));

const triggerOf = ({ context }: Alert): string[] => {
  const { matched, groups = 0 } = context?.trigger ?? {};
  return matched === undefined
    ? []
    : [`group ${matched.number} of ${groups}: ${matched.detectors.map(cleanLine).join(', ')}`];
};

const firstOf = ({ context }: Alert): Finding['first'] => {
  const { since, origin = false, detectors = false } = context?.first ?? {};
  return { since: parseTime(since), origin, detectors };
};

/** What an inspection says. A sample links to nothing: what it names does not exist. */
export const findingOf = (alert: Alert, chains: Chains): Finding => {
  const { item, context } = alert;
  const id = known(item.chainId);
  const named = chainOf(item, chains);
  const linked = isSample(alert) ? undefined : named;
  const hash = known(item.txHash);
  const origin = known(item.txOrigin);
  const method = known(item.invokedMethodName);
  const { adminOf, adminSince, privilegedOn = [] } = context ?? {};
  return {
    chain: id === undefined ? undefined : { id, name: named?.name },
    transaction:
      hash === undefined ? undefined : { whole: hash, short: shortHex(hash), url: transactionLink(linked, hash) },
    origins:
      origin === undefined ? [] : [{ ...addressReference(origin, linked), adminOf, adminSince: parseTime(adminSince) }],
    methods: method === undefined ? [] : [{ name: method, isPrivileged: privilegedOn.length > 0 }],
    contracts: (Array.isArray(item.assets) ? item.assets : []).flatMap((asset) => contractOf(asset, linked)),
    first: firstOf(alert),
    triggers: triggerOf(alert),
    notFired: notFiredIn(item),
    transactionAt: parseTime(item.txTimestamp),
    inspectedAt: parseTime(item.createdAt),
    ids: [known(item._id) ?? alert.itemId],
  };
};

const uniqueBy = <T>(all: readonly T[], keyOf: (one: T) => string): T[] =>
  [...Map.groupBy(all, keyOf).values()].flatMap((same) => same.slice(0, 1));

const latest = (times: readonly number[]): number =>
  times.reduce((last, at) => (Number.isNaN(last) || at > last ? at : last), Number.NaN);

/** The same origin judged for several protocols: an admin of one is an admin. */
const uniteOrigins = (origins: readonly Origin[]): Origin[] =>
  [...Map.groupBy(origins, ({ whole }) => whole).values()].flatMap((same) => {
    const said = same.flatMap(({ adminOf }) => (adminOf === undefined ? [] : [adminOf]));
    const adminOf = [...new Set(said.flat())];
    // `not an admin` has to hold for all of them.
    const isKnown = adminOf.length > 0 || said.length === same.length;
    const adminSince = latest(same.map((one) => one.adminSince));
    return same.slice(0, 1).map((origin) => ({ ...origin, adminOf: isKnown ? adminOf : undefined, adminSince }));
  });

/** Several inspections of one transaction as one. Never empty. */
export const uniteFindings = (findings: readonly Finding[]): Finding => {
  const [first] = findings;
  if (first === undefined) throw new Error('an incident has at least one alert');
  if (findings.length === 1) return first;
  const methods = findings.flatMap((one) => one.methods);
  const notFired = [...new Set(findings.flatMap((one) => one.notFired))];
  return {
    ...first,
    origins: uniteOrigins(findings.flatMap(({ origins }) => origins)),
    methods: uniqueBy(methods, ({ name }) => name).map(({ name }) => ({
      name,
      isPrivileged: methods.some((one) => one.name === name && one.isPrivileged),
    })),
    contracts: uniqueBy(
      findings.flatMap((one) => one.contracts),
      ({ name = '', at }) => at?.whole ?? name,
    ),
    first: {
      since: latest(findings.map((one) => one.first.since)),
      origin: findings.every((one) => one.first.origin),
      detectors: findings.every((one) => one.first.detectors),
    },
    triggers: [...new Set(findings.flatMap(({ triggers }) => triggers))],
    notFired: notFired.filter((name) => findings.every((one) => one.notFired.includes(name))),
    transactionAt: latest(findings.map((one) => one.transactionAt)),
    inspectedAt: latest(findings.map((one) => one.inspectedAt)),
    ids: [...new Set(findings.flatMap(({ ids }) => ids))],
  };
};
