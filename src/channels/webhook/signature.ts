/** Signatures by Standard Webhooks 1.0.0, "Symmetric": HMAC-SHA256 of `id.timestamp.body` with the decoded secret. */
import { createHmac } from 'node:crypto';

export const SIGNING_SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/** The key's bytes. */
export const signingKey = (secret: string): Buffer => Buffer.from(SIGNING_SECRET.exec(secret)?.[1] ?? '', 'base64');

/** `whsec_` and the base64 of 24 to 64 bytes. */
export const isSigningSecret = (text: string): boolean => {
  const { length } = signingKey(text);
  return length >= 24 && length <= 64;
};

export interface Signed {
  id: string;
  /** Unix seconds, in digits. */
  timestamp: string;
  body: string | Buffer;
}

/** `v1,BASE64`, by the bytes of a key. */
export const signatureBy = (key: Buffer, { id, timestamp, body }: Signed): string =>
  `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;

/** The value of `webhook-signature`: one signature for each secret, in their order. */
export const signatures = (secrets: readonly string[], signed: Signed): string =>
  secrets.map((secret) => signatureBy(signingKey(secret), signed)).join(' ');
