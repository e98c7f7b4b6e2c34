/** Who may change something on the page: people who signed in, here or at a trusted proxy, by a form of our own. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createBoundedMap } from '../../bounded-map.ts';
import { contains, networkOf, parseAddress } from '../../networks.ts';
import { createMinuteLimit } from '../../rarely.ts';

/** Another page's script or frame asked for it. Old browsers and programs do not say. */
export const isFromElsewhere = ({ 'sec-fetch-site': site }: IncomingHttpHeaders): boolean =>
  site !== undefined && site !== 'same-origin' && site !== 'none';

/**
 * A form was sent by a page of ours: every browser names the origin. `publicUrl`: where people reach the server through
 * a proxy, which may ask for another host.
 */
export const isOwnForm = (headers: IncomingHttpHeaders, publicUrl: string | undefined): boolean => {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (origin === undefined || (site !== undefined && site !== 'same-origin')) return false;
  const from = URL.parse(origin)?.host;
  if (from === undefined || from === '') return false;
  return from === host?.toLowerCase() || (publicUrl !== undefined && origin === URL.parse(publicUrl)?.origin);
};

export interface TrustedProxy {
  /** Where it connects from: CIDRs and addresses. */
  networks: readonly string[];
  /** The header with the name of who is signed in. */
  header: string;
}

const LONGEST_NAME = 200;

/**
 * Who is signed in at a proxy in front of us; undefined for nobody. Its header counts only on a connection from a network
 * that the config names: everybody else could write it, too. The proxy has to remove it from what it is sent. Of two
 * headers one may be somebody else's: none counts.
 */
export const createUserOf = ({ networks, header }: TrustedProxy) => {
  const trusted = networks.map(networkOf).filter((network) => network !== undefined);
  const name = header.toLowerCase();
  return ({ socket, headersDistinct }: IncomingMessage): string | undefined => {
    const from = parseAddress(socket.remoteAddress ?? '');
    if (from === undefined || !trusted.some((network) => contains(network, from))) return undefined;
    const [user = '', ...others] = headersDistinct[name] ?? [];
    const isName = user.trim() !== '' && user.length <= LONGEST_NAME && others.length === 0;
    return isName ? user.trim() : undefined;
  };
};

/** Forms of ours are much smaller. */
const MOST_BYTES = 16_384;

const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i;

/** The fields of a form; undefined where it is none, too large, or did not come whole. */
export const readForm = async (request: IncomingMessage): Promise<URLSearchParams | undefined> => {
  if (!FORM_TYPE.test(request.headers['content-type'] ?? '')) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MOST_BYTES) return undefined;
      chunks.push(chunk);
    }
  } catch {
    // The browser has gone.
    return undefined;
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
};

export interface Session {
  /** What every form of this session carries. */
  csrf: string;
  /** Who it is, where a trusted proxy says so: text from outside. */
  user?: string;
}

const COOKIE = 'tocsin';
const LASTS_MS = 12 * 3_600_000;
/** Sessions that were signed out are refused for as long as they last; so many are remembered. */
const MOST_ENDED = 1000;

/** Takes as long for every difference, also of length. */
const isSame = (one: string, other: string): boolean => {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
};

const valueIn = (header: string | undefined): string | undefined =>
  header
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${COOKIE}=`))
    ?.slice(COOKIE.length + 1);

const attributes = (isSecure: boolean, seconds: number): string =>
  `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;

/**
 * Who knows `ops.token` gets a cookie. Nothing is stored for it: the cookie is signed by the token, so all daemons take it,
 * and a new token ends all sessions.
 */
export const createSessions = (token: string, now: () => number) => {
  const key = createHash('sha256').update(`tocsin status page ${token}`).digest();
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');
  const ended = createBoundedMap<string, true>(MOST_ENDED);

  const valid = (header: string | undefined): string | undefined => {
    const value = valueIn(header);
    const [expires = '', nonce = '', signature = ''] = value?.split('.') ?? [];
    if (value === undefined || !isSame(signature, sign(`${expires}.${nonce}`))) return undefined;
    return Number(expires) > now() && !ended.has(value) ? value : undefined;
  };

  return {
    /** The `Set-Cookie` of a new session; undefined where the token is another. */
    signIn: (given: string, isSecure: boolean): string | undefined => {
      if (!isSame(given, token)) return undefined;
      const body = `${now() + LASTS_MS}.${randomBytes(16).toString('base64url')}`;
      return `${COOKIE}=${body}.${sign(body)}; ${attributes(isSecure, LASTS_MS / 1000)}`;
    },
    /** `header`: the request's `Cookie`. */
    of: (header: string | undefined): Session | undefined => {
      const value = valid(header);
      return value === undefined ? undefined : { csrf: sign(`csrf ${value}`) };
    },
    /** Of somebody whom a trusted proxy has signed in: it needs no cookie, and ends there. */
    ofUser: (user: string): Session => ({ csrf: sign(`csrf of the user ${user}`), user }),
    isFormOf: ({ csrf }: Session, given: string): boolean => isSame(csrf, given),
    /** Ends a session; gives the `Set-Cookie` that removes it. */
    signOut: (header: string | undefined): string => {
      const value = valid(header);
      if (value !== undefined) ended.set(value, true);
      return `${COOKIE}=; ${attributes(false, 0)}`;
    },
  };
};

/** Wrong tokens within a minute, from one address and from all of them. */
const MOST_WRONG = { each: 5, all: 30 };

/** Slows down who guesses. */
export const createAttempts = (now: () => number) => createMinuteLimit(now, MOST_WRONG);
