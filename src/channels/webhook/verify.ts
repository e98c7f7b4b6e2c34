/** Whether a received webhook is as it was sent, and if not, why: for those who write receivers. Pure. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { orUndefined } from '../../errors.ts';
import { formatDuration } from '../../schema/fields.ts';
import { type Signed, signatureBy, signingKey } from './signature.ts';

/** What arrived. `body`: its exact bytes. */
export interface Received {
  id?: string;
  timestamp?: string;
  signature?: string;
  body: Buffer;
}

interface VerifyOptions {
  /** By the names that the checks show. */
  secrets: Readonly<Record<string, string>>;
  /** Secrets that are known and are not those of this receiver, by names. Default: none. */
  others?: Readonly<Record<string, string>>;
  /** Epoch milliseconds. */
  now: number;
  toleranceMs: number;
}

export interface Check {
  check: 'headers' | 'timestamp' | 'signature';
  ok: boolean;
  /** A sentence without secrets. */
  detail: string;
}

const failed = (check: Check['check'], detail: string): Check => ({ check, ok: false, detail });

const HEADERS = { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' } as const;

const checkHeaders = (received: Received): Check => {
  const missing = (['id', 'timestamp', 'signature'] as const).filter((key) => !received[key]);
  if (missing.length > 0) return failed('headers', `missing: ${missing.map((key) => HEADERS[key]).join(', ')}`);
  if (received.id?.includes('.')) return failed('headers', 'webhook-id has a dot in it');
  return { check: 'headers', ok: true, detail: 'all three are there' };
};

const UNITS_MS = [86_400_000, 3_600_000, 60_000, 1000];

/** Rounded to the largest unit of which there are at least ten, or to seconds. */
const differenceText = (ageMs: number): string => {
  const size = Math.abs(ageMs);
  const unit = UNITS_MS.find((ms) => size >= 10 * ms) ?? 1000;
  const count = Math.round(size / unit);
  if (count === 0) return 'just now';
  return `${formatDuration(count * unit)} ${ageMs < 0 ? 'in the future' : 'old'}`;
};

const checkTimestamp = ({ timestamp = '' }: Received, { now, toleranceMs }: VerifyOptions): Check => {
  if (/^\d{13}$/.test(timestamp)) return failed('timestamp', 'is in milliseconds; seconds are due');
  if (!/^\d{1,12}$/.test(timestamp)) return failed('timestamp', 'is not a number of seconds');
  const ageMs = now - Number(timestamp) * 1000;
  const difference = differenceText(ageMs);
  const tolerance = `the tolerance is ${formatDuration(toleranceMs)}`;
  if (Math.abs(ageMs) <= toleranceMs) return { check: 'timestamp', ok: true, detail: `${difference}, ${tolerance}` };
  const why = 'a clock is wrong, or the message was kept or played again';
  return failed('timestamp', `${difference}, and ${tolerance}: ${why}`);
};

const jsonOf = (body: Buffer): string | undefined =>
  orUndefined(() => JSON.stringify(JSON.parse(body.toString('utf8'))));

const FIRST_KEYS = ['type', 'timestamp', 'data'];

/** With the keys of the top in the order in which we write them; undefined where they are so, or it is no object. */
const inOurOrder = (json: string): string | undefined => {
  const parsed: unknown = JSON.parse(json);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
  const rank = (key: string): number => (FIRST_KEYS.includes(key) ? FIRST_KEYS.indexOf(key) : FIRST_KEYS.length);
  const ordered = JSON.stringify(Object.fromEntries(Object.entries(parsed).sort(([a], [b]) => rank(a) - rank(b))));
  return ordered === json ? undefined : ordered;
};

/** Bodies that may have been signed, and what would have turned each into the one that arrived. */
const originals = (body: Buffer): { original: Buffer; came: string }[] => {
  const json = jsonOf(body);
  const text = body.toString('latin1');
  const bytes = (original: string, came: string) => ({ original: Buffer.from(original, 'latin1'), came });
  const written = (original: string | undefined, came: string) =>
    original === undefined
      ? []
      : [{ original: Buffer.from(original), came: `the body was parsed and rewritten${came}` }];
  return [
    bytes(text.replace(/^\xef\xbb\xbf/, ''), 'the body got a byte order mark at its beginning, as some editors add it'),
    bytes(text.replaceAll('\r\n', '\n'), 'the line breaks of the body were changed'),
    ...written(json && inOurOrder(json), ' with its keys in another order: verify the bytes as they came'),
    bytes(text.replace(/[\r\n]+$/, ''), 'the body got a line break at its end, as editors and shells add it'),
    ...written(json, ', by a proxy or the framework: verify the bytes as they came'),
  ];
};

const explain = (
  signed: Omit<Signed, 'body'>,
  body: Buffer,
  given: readonly string[],
  { secrets, others = {} }: Pick<VerifyOptions, 'secrets' | 'others'>,
) => {
  const made = (key: KeyObject, original: Buffer) => given.includes(signatureBy(key, { ...signed, body: original }));
  for (const secret of Object.values(secrets)) {
    const cause = originals(body).find(({ original }) => made(signingKey(secret), original));
    if (cause !== undefined) return `made with this secret, but ${cause.came}`;
    const asText = [secret, secret.replace(/^whsec_/, '')].some((text) => made(createSecretKey(text, 'utf8'), body));
    if (asText) return "made with the secret's text: the key is what the base64 after whsec_ decodes to";
  }
  const strangers = Object.entries(others).filter(([, secret]) =>
    [body, ...originals(body).map(({ original }) => original)].some((one) => made(signingKey(secret), one)),
  );
  if (strangers.length > 0)
    return `made with ${strangers.map(([name]) => name).join(' and ')}, not with the secret of this receiver`;
  const json = jsonOf(body);
  if (json === undefined) return 'made with another secret, or the body, which is no JSON, was cut or changed';
  return json === body.toString('utf8')
    ? 'made with another secret, or a value was changed: a signature does not tell which; the body is at least not rewritten'
    : 'made with another secret, or the id, the timestamp or the body was changed';
};

const checkSignature = ({ id = '', timestamp = '', signature = '', body }: Received, options: VerifyOptions): Check => {
  const given = signature.split(' ').filter((one) => /^v1,[A-Za-z0-9+/]{43}=$/.test(one));
  if (given.length === 0) return failed('signature', 'none is of the form v1, and the base64 of 32 bytes');
  const signed = { id, timestamp };
  const names = Object.entries(options.secrets)
    .filter(([, secret]) => given.includes(signatureBy(signingKey(secret), { ...signed, body })))
    .map(([name]) => name);
  if (names.length > 0) return { check: 'signature', ok: true, detail: `made with ${names.join(' and ')}` };
  return failed('signature', explain(signed, body, given, options));
};

/** Every check, in the order of the standard: a failed timestamp does not hide the signature. */
export const verifyWebhook = (received: Received, options: VerifyOptions): Check[] => {
  const headers = checkHeaders(received);
  return headers.ok ? [headers, checkTimestamp(received, options), checkSignature(received, options)] : [headers];
};
