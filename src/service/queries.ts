/** What can be asked of the lists, and how it is written in paths and queries. */
import { UsageError } from '../errors.ts';
import { isPathSegment } from '../text.ts';
import { iso } from '../time.ts';
import type { Assessment } from './wire.ts';

/** How a parameter with several values is written: `k=a&k=b`, `k[]=a&k[]=b`, or `k=a,b` (a comma inside a value is encoded). */
export type ArrayParams = 'repeat' | 'brackets' | 'comma';

type ParamValue = string | number | boolean | readonly string[] | undefined;
/** `undefined` and empty lists are left out of the query. */
export type Params = Readonly<Record<string, ParamValue>>;

/** Unpaired surrogates have no UTF-8 form; they become U+FFFD as in any URL. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

/**
 * One path segment. Throws a `UsageError` for text that no URL can carry as a segment: servers and proxies resolve
 * `.` and `..`, also when encoded (RFC 3986, 6.2.2.3), and would answer for another address.
 */
const segment = (what: string, text: string): string => {
  if (text === '') throw new UsageError(`the ${what} is empty`);
  if (!isPathSegment(text)) throw new UsageError(`the ${what} "${text}" cannot be written in a URL`);
  return encode(text);
};

const listParam = (name: string, values: readonly string[], style: ArrayParams): string => {
  const encoded = values.map(encode);
  if (style === 'comma') return `${name}=${encoded.join(',')}`;
  const key = style === 'brackets' ? `${name}%5B%5D` : name;
  return encoded.map((each) => `${key}=${each}`).join('&');
};

/** `?a=b&c=d`, or the empty string where nothing is asked. */
export const queryString = (params: Params, style: ArrayParams): string => {
  let query = '';
  for (const name in params) {
    const value = params[name];
    if (value === undefined || (typeof value === 'object' && value.length === 0)) continue;
    const pair = typeof value === 'object' ? listParam(name, value, style) : `${name}=${encode(String(value))}`;
    query += query === '' ? `?${pair}` : `&${pair}`;
  }
  return query;
};

interface PageQuery {
  /** Left out: the service's own first page. */
  pageNumber?: number | undefined;
  /** Default: the service's `pageSize` of the config. */
  pageSize?: number | undefined;
}

/** `startDate` and `endDate` are exclusive; epoch milliseconds, or a date-time that is sent as it stands. */
export interface DateQuery extends PageQuery {
  startDate?: number | string | undefined;
  endDate?: number | string | undefined;
  /** Descending is spelled `dsc` by the service. */
  sort?: 'asc' | 'dsc' | undefined;
}

export interface ProtocolQuery extends PageQuery {
  hideAssets?: boolean | undefined;
}

export interface InspectionQuery extends DateQuery {
  protocol: string;
  chainId?: number | string | undefined;
  /** Only together with `chainId`: without it the service would take it for one. */
  contractAddress?: string | undefined;
  id?: readonly string[] | undefined;
  hash?: string | undefined;
  origin?: string | undefined;
  status?: Assessment | undefined;
  detected?: readonly string[] | undefined;
}

export interface NotificationQuery extends DateQuery {
  /** Names; at least one. */
  protocols: readonly string[];
  /** How the names are written. Default: as the client writes its lists. */
  listStyle?: ArrayParams | undefined;
}

const dateOf = (date: DateQuery['startDate']): string | undefined => (typeof date === 'number' ? iso(date) : date);

const dateParams = ({ startDate, endDate, pageNumber, pageSize, sort }: DateQuery): Params => ({
  startDate: dateOf(startDate),
  endDate: dateOf(endDate),
  pageNumber,
  pageSize,
  sort,
});

export const inspectionParams = (query: InspectionQuery): Params => {
  const { id, hash, origin, status, detected } = query;
  return { id, hash, origin, status, detected, ...dateParams(query) };
};

/** `/PROTOCOL`, `/PROTOCOL/CHAIN` or `/PROTOCOL/CHAIN/CONTRACT`. */
export const protocolPath = (query: Omit<InspectionQuery, keyof DateQuery>): string => {
  const { protocol, chainId, contractAddress } = query;
  const path = `/${segment('protocol name', protocol)}`;
  if (chainId === undefined && contractAddress !== undefined)
    throw new UsageError('contractAddress needs a chainId beside it');
  if (chainId === undefined) return path;
  const chain = `${path}/${segment('chainId', String(chainId))}`;
  return contractAddress === undefined ? chain : `${chain}/${segment('contractAddress', contractAddress)}`;
};

export const notificationParams = (query: NotificationQuery): Params => {
  if (query.protocols.length === 0) throw new UsageError('notifications need at least one protocol name');
  return { protocolName: query.protocols, ...dateParams(query) };
};
