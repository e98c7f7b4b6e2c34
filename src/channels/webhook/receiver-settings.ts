/** How each receiver is reached (its format, its credentials and headers, and connections), and which secrets sign for it. */
import { hash, hkdfSync } from 'node:crypto';
import { createBoundedMap, getOrCreate } from '../../bounded-map.ts';
import type { ProxyFor } from '../../connection/proxy-variables.ts';
import { type ConnectionTo, createConnections, settingsIn } from '../../connection/settings.ts';
import { webLabel } from '../address.ts';
import { createReceiverFinder, type ReceiverConfig, type WebhookConfig } from './config.ts';
import type { Credentials } from './formats/format.ts';
import type { WebhookFormat } from './formats/names.ts';
import { signingKey } from './signature.ts';

export interface ReceiverSettings {
  format: WebhookFormat;
  credentials: Credentials;
  headers: Record<string, string>;
  connectionTo: ConnectionTo;
}

export const SECTION = 'channels.webhook';

/** Without what may be secret in a URL. */
export const shownName = (name: string): string => (name.includes('://') ? webLabel(name) : name);

const mapEntries = <A, B>(entries: Readonly<Record<string, A>>, change: (key: string, value: A) => B) =>
  Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, change(key, value)]));

const headersOf = ({ headers, basicAuth }: ReceiverConfig): Record<string, string> => {
  const own = mapEntries(headers, (_name, value) => value.reveal());
  if (basicAuth === undefined) return own;
  const pair = `${basicAuth.user}:${basicAuth.pass.reveal()}`;
  return { ...own, authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
};

/** A receiver's own settings count before those of all webhooks; its `ca` is meant instead of the well-known ones. */
export const createSettingsFinder = (
  config: WebhookConfig,
  proxyFor: ProxyFor = () => undefined,
): ((address: string) => ReceiverSettings) => {
  const { proxy, ...tls } = settingsIn(config);
  const usualProxy: ProxyFor = proxy === undefined ? proxyFor : () => ({ url: proxy, key: `${SECTION}.proxy` });
  const connectionTo = createConnections(tls, { section: SECTION }, usualProxy);
  const usual: ReceiverSettings = { format: 'standard', credentials: {}, headers: {}, connectionTo };
  const ownOf = (name: string, receiver: ReceiverConfig): ReceiverSettings => {
    const { ca, ...settings } = settingsIn(receiver);
    const section = `${SECTION}.receivers.${shownName(name)}`;
    const alone = ca === undefined ? {} : { ca, onlyCa: true, ...(tls.ca !== undefined && { proxyCa: tls.ca }) };
    return {
      format: receiver.format,
      credentials: receiver,
      headers: headersOf(receiver),
      connectionTo: createConnections({ ...tls, ...settings, ...alone }, { section }, usualProxy),
    };
  };
  const find = createReceiverFinder(mapEntries(config.receivers, ownOf));
  return (address) => find(address) ?? usual;
};

// Which secrets sign what is sent to an address.

const DERIVED_BYTES = 32;

/**
 * The secret of one URL: HKDF-SHA256 (RFC 5869) of the common one. Its owner can neither sign for another URL nor
 * find the common one. Never change it: receivers have what came out. Of the URL its digest goes in, because Node takes
 * 1024 bytes there at most.
 */
export const deriveSecret = (common: string, address: string): string => {
  const info = `tocsin webhook secret ${hash('sha256', address)}`;
  return `whsec_${Buffer.from(hkdfSync('sha256', signingKey(common), '', info, DERIVED_BYTES)).toString('base64')}`;
};

/** Derived secrets are remembered for this many addresses. Others are derived again, which takes microseconds. */
export const REMEMBERED_MAX = 1000;

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
  const remembered = createBoundedMap<string, readonly T[]>(REMEMBERED_MAX);
  return (address) => {
    const named = namedOf(address);
    if (named.length > 0) return named;
    if (!deriveSecrets) return common;
    return getOrCreate(remembered, address, () => secret.map((one) => make(deriveSecret(one.reveal(), address))));
  };
};
