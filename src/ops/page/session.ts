/** Who may change something on the page: people who signed in, here or at a trusted proxy, by a form of our own. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { contains, networkOf, parseAddress } from '../../networks.ts';
import { isSame } from '../../secret.ts';
import { pause, withinTime } from '../../waiting.ts';

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
 * headers one may be somebody else's, and so may the first of a list in one: none counts.
 */
export const createUserOf = ({ networks, header }: TrustedProxy) => {
  const trusted = networks.map(networkOf).filter((network) => network !== undefined);
  const name = header.toLowerCase();
  return ({ socket, headersDistinct }: IncomingMessage): string | undefined => {
    const from = parseAddress(socket.remoteAddress ?? '');
    if (from === undefined || !trusted.some((network) => contains(network, from))) return undefined;
    const [user = '', ...others] = headersDistinct[name] ?? [];
    const isOne = others.length === 0 && !user.includes(',');
    const isName = user.trim() !== '' && user.length <= LONGEST_NAME && isOne;
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

/** Sessions that somebody has signed out: those of all daemons, also from before a restart. */
export interface EndedSessions {
  /** `until`: epoch milliseconds, when it would have ended by itself. */
  add(id: string, until: number): Promise<void>;
  has(id: string): Promise<boolean>;
}

/** Redis keeps them. While it is silent nobody counts as signed in; nothing could be changed anyway. */
const ENDED_TIMEOUT_MS = 1000;

const valueIn = (header: string | undefined): string | undefined =>
  header
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${COOKIE}=`))
    ?.slice(COOKIE.length + 1);

const attributes = (isSecure: boolean, seconds: number): string =>
  `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;

interface SessionSettings {
  token: string;
  ended: EndedSessions;
  now(): number;
}

interface Cookie {
  value: string;
  id: string;
  until: number;
}

/**
 * Who knows `ops.token` gets a cookie. Nothing is stored for it until it is signed out: the cookie is signed by the token, so
 * all daemons take it, and a new token ends all sessions.
 */
export const createSessions = ({ token, ended, now }: SessionSettings) => {
  const key = createHash('sha256').update(`tocsin status page ${token}`).digest();
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');

  const signed = (header: string | undefined): Cookie | undefined => {
    const value = valueIn(header);
    const [expires = '', id = '', signature = ''] = value?.split('.') ?? [];
    if (value === undefined || !isSame(signature, sign(`${expires}.${id}`))) return undefined;
    const until = Number(expires);
    return until > now() ? { value, id, until } : undefined;
  };

  return {
    /** The `Set-Cookie` of a new session; undefined where the token is another. */
    signIn: (given: string, isSecure: boolean): string | undefined => {
      if (!isSame(given, token)) return undefined;
      const body = `${now() + LASTS_MS}.${randomBytes(16).toString('base64url')}`;
      return `${COOKIE}=${body}.${sign(body)}; ${attributes(isSecure, LASTS_MS / 1000)}`;
    },
    /** `header`: the request's `Cookie`. Rejects where it cannot be asked whether the session was ended. */
    of: async (header: string | undefined): Promise<Session | undefined> => {
      const cookie = signed(header);
      if (cookie === undefined || (await withinTime(ended.has(cookie.id), ENDED_TIMEOUT_MS))) return undefined;
      return { csrf: sign(`csrf ${cookie.value}`) };
    },
    /** Of somebody whom a trusted proxy has signed in: it needs no cookie, and ends there. */
    ofUser: (user: string): Session => ({ csrf: sign(`csrf of the user ${user}`), user }),
    isFormOf: ({ csrf }: Session, given: string): boolean => isSame(csrf, given),
    /** Ends a session; gives the `Set-Cookie` that removes it. */
    signOut: async (header: string | undefined): Promise<string> => {
      const cookie = signed(header);
      if (cookie !== undefined) await withinTime(ended.add(cookie.id, cookie.until), ENDED_TIMEOUT_MS);
      return `${COOKIE}=; ${attributes(false, 0)}`;
    },
  };
};

/** How long who gave a wrong token waits to hear of it. */
const WRONG_TOKEN_MS = 2000;
/** Of so many at once; the one that waits longest is let go without an answer. */
const MOST_WRONG = 10;

/**
 * Slows down who guesses, and nobody else: a right token never waits, as those who guess may come from the same address. So a
 * guess costs the time, or a connection; what no guess finds is a token by chance.
 */
export const createWrongTokens = (waitMs = WRONG_TOKEN_MS) => {
  const waiting = new Set<Socket>();
  return async (socket: Socket): Promise<void> => {
    const left = new AbortController();
    const leave = (): void => left.abort();
    socket.once('close', leave);
    const [longest] = waiting;
    if (longest !== undefined && waiting.size >= MOST_WRONG) {
      waiting.delete(longest);
      longest.destroy();
    }
    waiting.add(socket);
    await pause(waitMs, left.signal);
    waiting.delete(socket);
    socket.off('close', leave);
  };
};
