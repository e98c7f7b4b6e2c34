/** Which secrets sign what is sent to an address. */
import { hash, hkdfSync } from 'node:crypto';
import type { WebhookConfig } from './config.ts';
import { createReceiverFinder } from './receivers.ts';
import { signingKey } from './signature.ts';

const DERIVED_BYTES = 32;

/**
 * The secret of one URL: HKDF-SHA256 (RFC 5869) of the common one. Whoever has it can neither sign for another URL nor
 * find the common one. Never change it: receivers have what came out. Of the URL its digest goes in, because Node takes
 * 1024 bytes there at most.
 */
export const deriveSecret = (common: string, address: string): string => {
  const info = `tocsin webhook secret ${hash('sha256', address)}`;
  return `whsec_${Buffer.from(hkdfSync('sha256', signingKey(common), '', info, DERIVED_BYTES)).toString('base64')}`;
};

/** Derived secrets are remembered for this many addresses. Others are derived anew, which takes microseconds. */
export const REMEMBERED_MAX = 1000;

/** Gives the value for an address, made when it is first asked for, of those that were asked for last. */
const createMemory = <T>(make: (address: string) => T): ((address: string) => T) => {
  const values = new Map<string, T>();
  return (address) => {
    const value = values.get(address) ?? make(address);
    values.delete(address);
    values.set(address, value);
    const [oldest] = values.keys();
    if (values.size > REMEMBERED_MAX && oldest !== undefined) values.delete(oldest);
    return value;
  };
};

export type SigningConfig = Pick<WebhookConfig, 'secret' | 'secrets' | 'deriveSecrets'>;

/** The secrets that `secrets` names for an address; empty where it names none. */
export const createNamedSecretFinder = <T>(
  { secrets }: Pick<SigningConfig, 'secrets'>,
  make: (secret: string) => T,
): ((address: string) => readonly T[]) => {
  const given = Object.entries(secrets).map(([name, some]) => [name, some.map((one) => make(one.reveal()))] as const);
  const ownOf = createReceiverFinder(Object.fromEntries(given));
  return (address) => ownOf(address) ?? [];
};

/** The secrets for an address, the newer first, in the form that `make` gives them; empty: it is sent to unsigned. */
export const createSecretFinder = <T>(
  { secret = [], secrets, deriveSecrets }: SigningConfig,
  make: (secret: string) => T,
): ((address: string) => readonly T[]) => {
  const namedOf = createNamedSecretFinder({ secrets }, make);
  const common = deriveSecrets ? [] : secret.map((one) => make(one.reveal()));
  const derivedOf = createMemory((address) => secret.map((one) => make(deriveSecret(one.reveal(), address))));
  return (address) => {
    const named = namedOf(address);
    if (named.length > 0) return named;
    return deriveSecrets ? derivedOf(address) : common;
  };
};
