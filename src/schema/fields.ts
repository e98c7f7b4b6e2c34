/**
 * Field schemas that every slice of the configuration shares. Each reports one sentence however it fails, and each is
 * visible in the JSON Schema (`z.toJSONSchema(schema, { io: 'input' })`) with its pattern and description.
 * Give defaults as the operator would write them, with `.prefault('15s')`, so that the JSON Schema shows them.
 */
import { isIP } from 'node:net';
import { z } from 'zod';
import { emptyRangeIn } from '../globs.ts';
import { isCidr } from '../net.ts';
import { createSecret } from '../secret.ts';

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNIT_MS;

const DURATION = /^(\d{1,12})(ms|s|m|h|d)$/;
const DURATION_RULE = 'must be a whole number and a unit: 500ms, 15s, 10m, 24h or 7d';

/** Node's timers fire at once when asked to wait longer than 2^31 - 1 ms, so no timer may be set beyond 24 days. */
const LONGEST_TIMER_MS = 24 * UNIT_MS.d;

/** `15s` -> 15000; undefined where the text is no duration. */
export const parseDuration = (text: string): number | undefined => {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * UNIT_MS[unit as Unit];
};

/** 15000 -> `15s`: the largest unit that loses nothing. */
export const formatDuration = (durationMs: number): string => {
  const unit = (['d', 'h', 'm', 's'] as const).find((name) => durationMs > 0 && durationMs % UNIT_MS[name] === 0);
  return unit === undefined ? `${durationMs}ms` : `${durationMs / UNIT_MS[unit]}${unit}`;
};

/** A length of time: the operator writes `500ms|15s|10m|24h|7d`, the program gets milliseconds. Bounds are inclusive; 1 ms to 24 days by default. */
export const duration = ({ minMs = 1, maxMs = LONGEST_TIMER_MS }: { minMs?: number; maxMs?: number } = {}) =>
  z
    .string({ error: DURATION_RULE })
    .regex(DURATION, { error: DURATION_RULE, abort: true })
    .refine(
      (text) => {
        const durationMs = parseDuration(text) ?? Number.NaN;
        return durationMs >= minMs && durationMs <= maxMs;
      },
      { error: `must be from ${formatDuration(minMs)} to ${formatDuration(maxMs)}` },
    )
    .meta({ description: `A duration from ${formatDuration(minMs)} to ${formatDuration(maxMs)}.` })
    .transform((text) => parseDuration(text) ?? Number.NaN);

/** The same with a default, as the operator would write it. */
export const durationOr = (usual: string, bounds?: Parameters<typeof duration>[0]) => duration(bounds).prefault(usual);

/** A glob on names that something can fit. */
export const glob = () =>
  z
    .string()
    .min(1, { error: 'must not be empty' })
    .refine((text) => emptyRangeIn(text) === undefined, {
      error: ({ input }) => `has the range ${emptyRangeIn(String(input))}, which nothing is in: turn it round`,
    });

export const globs = (description: string) => z.array(glob()).prefault([]).describe(description);

/** A switch that is off where nothing is said. */
export const flag = () => z.boolean().default(false);

/** JSON Schema keyword that marks a value that must never be printed; the loader reads it. */
export const SECRET_MARK = { writeOnly: true } as const;

interface SecretShape {
  pattern: RegExp;
  /** What the pattern means, as a sentence that goes on from the key: `must be ...`. */
  rule: string;
}

/** A text that must never be printed, of a given shape where one is known; the program gets a `Secret`. */
export const secret = ({ pattern, rule }: SecretShape = { pattern: /./s, rule: 'must not be empty' }) =>
  z
    .string({ error: 'must be a text (put quotes around digits)' })
    .regex(pattern, { error: rule })
    .meta({ ...SECRET_MARK, description: 'A secret; never printed. Best kept in a variable or a file.' })
    .transform(createSecret);

export const URL_RULE = 'must be an absolute http or https URL, without user and password';

const isHttpUrl = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
};

/** An absolute http or https URL without credentials; kept as it was written. */
export const httpUrl = () =>
  z
    .string({ error: URL_RULE })
    .regex(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s/@]+(\/\S*|[?#]\S*)?$/, { error: URL_RULE, abort: true })
    .refine(isHttpUrl, { error: URL_RULE });

/** A whole number; both bounds are inclusive. */
export const count = ({ min = 1, max }: { min?: number; max: number }) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error, abort: true }).max(max, { error });
};

const LAST_PORT = 65_535;

/** A TCP port, 1 to 65535. */
export const port = () => count({ max: LAST_PORT });

const HOST =
  /^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*$/;

/** True for a host name or an IP address; false for what only resembles an address (`10.0.0`, `256.1.1.1`). */
export const isHost = (text: string): boolean => isIP(text) !== 0 || (HOST.test(text) && !/(^|\.)\d+$/.test(text));

const networkOr = (others: string, isOther: (text: string) => boolean) => {
  const error = `must be a network like 10.0.0.0/8 or fd00::/8, ${others}`;
  return z
    .string({ error })
    .refine((text) => isCidr(text) || isOther(text), { error })
    .meta({ description: `A network (CIDR), ${others}.` });
};

/** A network in CIDR notation, or an IP address; kept as it was written. */
export const cidr = () => networkOr('or an IP address', (text) => isIP(text) !== 0);

/** A network in CIDR notation, an IP address, or a host name; kept as it was written. */
export const cidrOrHost = () => networkOr('an IP address, or a host name', isHost);

/** `host:port`, with an IPv6 address in brackets; undefined where the text is neither. */
export const parseHostPort = (text: string): { host: string; port: number } | undefined => {
  const [, bracketed, plain, digits = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const valid = bracketed === undefined ? plain !== undefined && isHost(plain) : isIP(bracketed) === 6;
  if (!valid || Number(digits) > LAST_PORT) return undefined;
  return { host: bracketed ?? plain ?? '', port: Number(digits) };
};

/** An address and a port, `127.0.0.1:9464` or `[::1]:9464`; kept as it was written. Port 0 only where `anyPort` allows it. */
export const hostPort = ({ anyPort = false }: { anyPort?: boolean } = {}) => {
  const error = 'must be host:port, like 127.0.0.1:9464 or [::1]:9464';
  return z.string({ error }).refine(
    (text) => {
      const parsed = parseHostPort(text);
      return parsed !== undefined && (anyPort || parsed.port > 0);
    },
    { error },
  );
};
