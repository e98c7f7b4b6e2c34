/** Paths and queries of the service's endpoints, percent-encoded. */
import { UsageError } from '../errors.ts';
import { isPathSegment } from '../text.ts';

/** How a parameter with several values is written: `k=a&k=b`, `k[]=a&k[]=b`, or `k=a,b` (a comma inside a value is encoded). */
export type ArrayParams = 'repeat' | 'brackets' | 'comma';

/** `undefined` and empty lists are left out of the query. */
export type ParamValue = string | number | boolean | readonly string[] | undefined;
export type Params = Readonly<Record<string, ParamValue>>;

/** Unpaired surrogates have no UTF-8 form; they become U+FFFD as in any URL. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

/**
 * One path segment. Throws a `UsageError` for text that no URL can carry as a segment: servers and proxies resolve
 * `.` and `..`, also when encoded (RFC 3986, 6.2.2.3), and would answer for another address.
 */
export const segment = (what: string, text: string): string => {
  if (text === '') throw new UsageError(`the ${what} is empty`);
  if (!isPathSegment(text)) throw new UsageError(`the ${what} "${text}" cannot be written in a URL`);
  return encode(text);
};

const listParam = (name: string, values: readonly string[], style: ArrayParams): string[] => {
  if (values.length === 0) return [];
  const encoded = values.map(encode);
  if (style === 'comma') return [`${name}=${encoded.join(',')}`];
  const key = style === 'brackets' ? `${name}%5B%5D` : name;
  return encoded.map((value) => `${key}=${value}`);
};

const param = (name: string, value: ParamValue, style: ArrayParams): string[] => {
  if (value === undefined) return [];
  return typeof value === 'object' ? listParam(name, value, style) : [`${name}=${encode(String(value))}`];
};

/** `?a=b&c=d`, or the empty string where nothing is asked. */
export const queryString = (params: Params, style: ArrayParams): string => {
  const pairs = Object.entries(params).flatMap(([name, value]) => param(name, value, style));
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
};
