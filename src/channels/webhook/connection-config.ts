/** Config fields of one receiver's connections. Bad certificates and addresses are found when the config is read. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { SECRET_MARK, secret } from '../../schema/fields.ts';
import { createSecret } from '../../secret.ts';

const orUndefined = <T>(make: () => T): T | undefined => {
  try {
    return make();
  } catch {
    return undefined;
  }
};

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The certificates of a PEM text; empty if the text or one of them cannot be read. */
const certificatesIn = (pem: string): X509Certificate[] => {
  const found = (pem.match(BLOCK) ?? []).map((block) => orUndefined(() => new X509Certificate(block)));
  return found.every((certificate) => certificate !== undefined) ? found : [];
};

const privateKeyIn = (pem: string): KeyObject | undefined => orUndefined(() => createPrivateKey(pem));

// Not a template string: the operator writes it like this.
const FROM_FILE = 'read it from a file with $' + '{file:PATH}';
const CERTIFICATES_RULE = `must be certificates in PEM, as in -----BEGIN CERTIFICATE-----; ${FROM_FILE}`;
const KEY_RULE = `must be a private key in PEM without a passphrase; ${FROM_FILE}`;

/** One certificate or several, in PEM. */
export const certificates = () =>
  z
    .string({ error: CERTIFICATES_RULE })
    .refine((pem) => certificatesIn(pem).length > 0, { error: CERTIFICATES_RULE, abort: true })
    // By mistake this may be the key.
    .meta({ ...SECRET_MARK });

/** A private key in PEM; the program gets a `Secret`. */
export const privateKey = () =>
  z
    .string({ error: KEY_RULE })
    .refine((pem) => privateKeyIn(pem) !== undefined, { error: KEY_RULE, abort: true })
    .meta({ ...SECRET_MARK })
    .transform(createSecret);

/** Whether the first certificate belongs to the key. */
export const isKeyOf = (key: string, cert: string): boolean => {
  const [own] = certificatesIn(cert);
  const privateOne = privateKeyIn(key);
  return own !== undefined && privateOne !== undefined && own.checkPrivateKey(privateOne);
};

const PROXY_RULE = 'must be the http or https URL of a proxy, like http://user:password@proxy.example.com:3128';

const isProxyUrl = (text: string): boolean => {
  const url = URL.parse(text);
  const credentials = url && orUndefined(() => decodeURIComponent(`${url.username}:${url.password}`));
  return url !== null && credentials !== undefined && `${url.pathname}${url.search}${url.hash}` === '/';
};

/** A proxy's URL, which may hold user and password; the program gets a `Secret`. */
export const proxyUrl = () =>
  z
    .string({ error: PROXY_RULE })
    .regex(/^https?:\/\/\S+$/i, { error: PROXY_RULE, abort: true })
    .refine(isProxyUrl, { error: PROXY_RULE, abort: true })
    .meta({ ...SECRET_MARK })
    .transform(createSecret);

const NAME_RULE = "must be a header's name: letters, digits and -";
const RESERVED_RULE = 'is set by Tocsin, or by HTTP itself, and cannot be set here';
const VALUE_RULE = 'must be printable ASCII on one line, without spaces around it';

/** Headers of Standard Webhooks, of the body, and of the connection (RFC 9110, section 7.6.1). */
const RESERVED =
  /^(webhook-.*|content-(type|length|encoding)|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i;

const headerName = () =>
  z
    .string()
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, { error: NAME_RULE, abort: true })
    .refine((name) => !RESERVED.test(name), { error: RESERVED_RULE });

const areUnique = (names: readonly string[]): boolean =>
  new Set(names.map((name) => name.toLowerCase())).size === names.length;

/** Headers besides our own. Names are lower-cased; each value is a `Secret`. */
export const extraHeaders = () =>
  z
    .record(headerName(), secret({ pattern: /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/, rule: VALUE_RULE }))
    .refine((headers) => areUnique(Object.keys(headers)), { error: 'must not name a header twice' })
    .transform((headers) =>
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    );
