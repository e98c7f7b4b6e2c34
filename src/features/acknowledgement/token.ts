/**
 * What a button carries, and what a link in a mail carries: made with a key that only Redis and the daemons know, and bound
 * to one destination and the alerts of one message there. Pure.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Alert, Destination } from '../../alert.ts';

/** 16 bytes: short enough for Telegram, which takes 64 characters, and not to be guessed. */
const BYTES = 16;

const sign = (key: string, parts: readonly string[]): string =>
  createHmac('sha256', key).update(JSON.stringify(parts)).digest().subarray(0, BYTES).toString('base64url');

/** Takes as long wherever they differ. */
const isSame = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/** The same for the same alerts in any order, on every daemon. */
export const tokenOf = (key: string, destination: Destination['id'], alerts: readonly Alert['id'][]): string =>
  sign(key, ['button', destination, ...alerts.toSorted()]);

/** Whether we made this token for these alerts at this destination. */
export const isTokenOf = (
  token: string,
  key: string,
  destination: Destination['id'],
  alerts: readonly Alert['id'][],
): boolean => isSame(token, tokenOf(key, destination, alerts));

const TOKEN = /^[A-Za-z0-9_-]{22}$/;

/** Anything else is not even looked up. */
export const looksLikeToken = (text: string): boolean => TOKEN.test(text);

const LINK = /^([A-Za-z0-9_-]{22})\.([0-9a-z]{1,9})\.([A-Za-z0-9_-]{22})$/;

/** `expiresAt`: epoch milliseconds. */
export const linkOf = (key: string, token: string, expiresAt: number): string => {
  const expires = Math.floor(expiresAt / 1000).toString(36);
  return `${token}.${expires}.${sign(key, ['link', token, expires])}`;
};

/** The token of a link that this key has signed; `expired` where its time is over, undefined for anything else. */
export const readLink = (key: string, text: string, now: number): { token: string } | 'expired' | undefined => {
  const [, token = '', expires = '', signature = ''] = LINK.exec(text) ?? [];
  if (!isSame(signature, sign(key, ['link', token, expires])) || token === '') return undefined;
  return Number.parseInt(expires, 36) * 1000 > now ? { token } : 'expired';
};
