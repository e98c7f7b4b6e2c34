/** What an answer other than 2xx means, and how long it asks us to wait. */

import type { ServiceError, ServiceReason } from '../errors.ts';
import { statusText } from '../http-status.ts';
import { EXCERPT_SOURCE_LIMIT, excerptOf } from './excerpt.ts';
import type { Response } from './exchange.ts';
import type { Fail } from './failure.ts';
import { headerOf, openBody } from './response.ts';

/** Milliseconds of an HTTP date, or `undefined`. */
export const httpDateMs = (header: string | undefined): number | undefined => {
  const ms = Date.parse(header ?? '');
  return Number.isNaN(ms) ? undefined : ms;
};

/**
 * `Retry-After` in milliseconds from now: seconds or an HTTP date (RFC 9110, 10.2.3). A date is compared with the
 * service's own clock (`serverTimeMs`), so that a skew between the two machines does not lengthen or hide the wait.
 */
const retryAfterMs = (header: string | undefined, serverTimeMs: number): number | undefined => {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // Only text with a month's name is a date: the runtime would make one of "-5" or "1.2.3" as well.
  const at = /[a-z]{3}/i.test(text) ? httpDateMs(text) : undefined;
  return at === undefined ? undefined : Math.max(0, at - serverTimeMs);
};

/** The reasons of `ServiceError`, by HTTP status. */
const reasonOf = (status: number): ServiceReason => {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 404 || status === 410) return 'missing';
  if (status === 429) return 'limited';
  return status >= 500 ? 'failed' : 'rejected';
};

/** Where a redirect points to, by host only: its path and query may carry secrets. */
const describeRedirect = (location: string | undefined, base: string): string => {
  if (location === undefined) return 'a redirect that names no address';
  const host = URL.canParse(location, base) ? new URL(location, base).host : 'an unreadable address';
  return `a redirect to ${host} is not followed`;
};

/** The beginning of the body. The status matters, so a body that breaks off is no failure by itself. */
const readStart = async (response: Response): Promise<string> => {
  let text = '';
  try {
    for await (const chunk of openBody(response)?.setEncoding('utf8') ?? []) {
      text += chunk;
      if (text.length >= EXCERPT_SOURCE_LIMIT) break;
    }
  } catch {
    return text;
  }
  return text;
};

/** The wait that an answer names, in milliseconds; none for a redirect. `now` stands in where it has no `Date`. */
export const statedWaitMs = (response: Response, now: number): number | undefined => {
  if (response.statusCode < 400) return undefined;
  return retryAfterMs(headerOf(response, 'retry-after'), httpDateMs(headerOf(response, 'date')) ?? now);
};

/** The error of an answer that refuses. `now` as for `statedWaitMs`; `base` resolves a redirect. */
export const refusal = async (response: Response, now: number, base: string, fail: Fail): Promise<ServiceError> => {
  const { statusCode: status } = response;
  const wait = statedWaitMs(response, now);
  const excerpt = excerptOf(await readStart(response));
  if (status < 400) {
    return fail('rejected', `${status}: ${describeRedirect(headerOf(response, 'location'), base)}`, { status });
  }
  const details = wait === undefined ? { status } : { status, retryAfterMs: wait };
  return fail(reasonOf(status), excerpt === '' ? statusText(status) : `${status}: ${excerpt}`, details);
};
