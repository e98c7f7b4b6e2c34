/** Signatures by Standard Webhooks 1.0.0, "Symmetric": HMAC-SHA256 of `id.timestamp.body` with the decoded secret. */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

export const SIGNING_SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/** Made once for each secret: Node takes much longer over a key that it gets as bytes each time. */
export const signingKey = (secret: string): KeyObject =>
  createSecretKey(SIGNING_SECRET.exec(secret)?.[1] ?? '', 'base64');

/** `whsec_` and the base64 of 24 to 64 bytes. */
export const isSigningSecret = (text: string): boolean => {
  const { symmetricKeySize = 0 } = signingKey(text);
  return symmetricKeySize >= 24 && symmetricKeySize <= 64;
};

export interface Signed {
  id: string;
  /** Unix seconds, in digits. */
  timestamp: string;
  body: string | Buffer;
}

/** `v1,BASE64`. */
export const signatureBy = (key: KeyObject, { id, timestamp, body }: Signed): string =>
  `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;

/** The value of `webhook-signature`: one signature for each key, in their order. */
export const signatures = (keys: readonly KeyObject[], signed: Signed): string =>
  keys.map((key) => signatureBy(key, signed)).join(' ');
