/** Config fields of certificates and keys in PEM. Bad ones are found when the config is read. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { createSecret } from '../secret.ts';
import { SECRET_MARK } from './fields.ts';

const orUndefined = <T>(make: () => T): T | undefined => {
  try {
    return make();
  } catch {
    return undefined;
  }
};

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
