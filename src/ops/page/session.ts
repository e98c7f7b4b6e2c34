/**
 * Who may change something: whoever knows `ops.token` gets a cookie. Nothing is stored for it: the cookie is signed by the
 * token, so all daemons take it, and a new token ends all sessions.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createMinuteLimit } from '../../minute-limit.ts';

export interface SessionSettings {
  token: string;
  /** Epoch milliseconds. */
  now(): number;
}

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

/** Takes as long whatever differs, also the length. */
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

export const createSessions = ({ token, now }: SessionSettings) => {
  const key = createHash('sha256').update(`tocsin status page ${token}`).digest();
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');
  const ended = new Set<string>();

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
      if (ended.size >= MOST_ENDED) ended.clear();
      if (value !== undefined) ended.add(value);
      return `${COOKIE}=; ${attributes(false, 0)}`;
    },
  };
};

export type Sessions = ReturnType<typeof createSessions>;

/** Wrong tokens within a minute, from one address and from all of them. */
const MOST_WRONG = { each: 5, all: 30 };

/** Slows down whoever guesses. */
export const createAttempts = (now: () => number) => {
  const { mayTake, count } = createMinuteLimit(now, MOST_WRONG);
  return { mayTry: mayTake, failed: count };
};
