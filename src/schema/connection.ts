/** Config fields of connections: whom to trust, what to show, and a proxy. Bad values are found when the config is read. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { orUndefined } from '../errors.ts';
import { createSecret, type Secret } from '../secret.ts';
import { SECRET_MARK } from './fields.ts';

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The certificates of a PEM text; empty if the text or one of them cannot be read. */
export const certificatesIn = (pem: string): X509Certificate[] => {
  const found = (pem.match(BLOCK) ?? []).map((block) => orUndefined(() => new X509Certificate(block)));
  return found.every((certificate) => certificate !== undefined) ? found : [];
};

const privateKeyIn = (pem: string): KeyObject | undefined => orUndefined(() => createPrivateKey(pem));

// Not a template string: the operator writes it like this.
const FROM_FILE = 'read it from a file with $' + '{file:PATH}';
const CERTIFICATES_RULE = `must be certificates in PEM, as in -----BEGIN CERTIFICATE-----; ${FROM_FILE}`;
const KEY_RULE = `must be a private key in PEM without a passphrase; ${FROM_FILE}`;

/** Never printed: by mistake it may be a key even where certificates belong. */
const pem = (error: string, isRight: (text: string) => boolean) =>
  z
    .string({ error })
    .refine(isRight, { error, abort: true })
    .meta({ ...SECRET_MARK });

/** One certificate or several, in PEM. */
export const certificates = () => pem(CERTIFICATES_RULE, (text) => certificatesIn(text).length > 0);

/** A private key in PEM; the program gets a `Secret`. */
export const privateKey = () => pem(KEY_RULE, (text) => privateKeyIn(text) !== undefined).transform(createSecret);

/** Whether the first certificate belongs to the key. */
export const isKeyOf = (key: string, cert: string): boolean => {
  const [own] = certificatesIn(cert);
  const privateOne = privateKeyIn(key);
  return own !== undefined && privateOne !== undefined && own.checkPrivateKey(privateOne);
};

export const PROXY_RULE = 'must be the http or https URL of a proxy, like http://user:password@proxy.example.com:3128';

const isDecodable = (text: string): boolean => orUndefined(() => decodeURIComponent(text)) !== undefined;

export const isProxyUrl = (text: string): boolean => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || !isDecodable(`${url.username}:${url.password}`)) return false;
  return `${url.pathname}${url.search}${url.hash}` === '/';
};

/** A proxy's URL, which may hold user and password; the program gets a `Secret`. */
export const proxyUrl = () =>
  z
    .string({ error: PROXY_RULE })
    .regex(/^https?:\/\/\S+$/i, { error: PROXY_RULE, abort: true })
    .refine(isProxyUrl, { error: PROXY_RULE, abort: true })
    .meta({ ...SECRET_MARK })
    .transform(createSecret);

/** `ca`, `cert` and `key`, to spread into a strict object; `peer` is who is reached. With `pairedKey`. */
export const tlsFields = (peer: string) => ({
  ca: certificates()
    .exactOptional()
    .describe(`Certificates in PEM to trust for ${peer}, besides the well-known authorities.`),
  cert: certificates().exactOptional().describe('Client certificate in PEM, with its chain if needed; needs key.'),
  key: privateKey().exactOptional().describe('The key of cert in PEM, without a passphrase.'),
});

/** The same with `proxy`. */
export const connectionFields = (peer: string) => ({
  ...tlsFields(peer),
  proxy: proxyUrl()
    .exactOptional()
    .describe(
      `http or https URL of the proxy to ${peer}, with user and password if needed. docs/private-networks.md has the rules.`,
    ),
});

interface Pair {
  cert?: string | undefined;
  key?: Secret | undefined;
}

/** For a strict object with `cert` and `key`: both or neither, and the key belongs to the certificate. */
export const pairedKey = (
  values: Pair,
  context: { addIssue(issue: { code: 'custom'; message: string; path?: string[] }): void },
) => {
  const { cert, key } = values;
  if ((cert === undefined) !== (key === undefined)) {
    context.addIssue({ code: 'custom', message: 'cert and key go together: give both or neither' });
  } else if (cert !== undefined && key !== undefined && !isKeyOf(key.reveal(), cert)) {
    context.addIssue({ code: 'custom', message: 'is not the key of the first certificate in cert', path: ['key'] });
  }
};
