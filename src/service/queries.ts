/** What can be asked of the lists, and how it is written in paths and queries. */
import { UsageError } from '../errors.ts';
import { iso } from '../time.ts';
import { type ArrayParams, type Params, segment } from './address.ts';
import type { Assessment } from './wire.ts';

export interface PageQuery {
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
  /** The protocol's name. */
  protocol: string;
  chainId?: number | string | undefined;
  /** Only together with `chainId`: without it the service would take it for one. */
  contractAddress?: string | undefined;
  id?: readonly string[] | undefined;
  hash?: string | undefined;
  origin?: string | undefined;
  status?: Assessment | undefined;
  /** Names of detectors that fired. */
  detected?: readonly string[] | undefined;
}

export interface NotificationQuery extends DateQuery {
  /** Names; at least one. */
  protocols: readonly string[];
  /** How the names are written. Default: as the client writes its lists. */
  listStyle?: ArrayParams | undefined;
}

const dateParam = (date: number | string | undefined): string | undefined =>
  typeof date === 'number' ? iso(date) : date;

const dateParams = ({ startDate, endDate, pageNumber, pageSize, sort }: DateQuery): Params => ({
  startDate: dateParam(startDate),
  endDate: dateParam(endDate),
  pageNumber,
  pageSize,
  sort,
});

export const inspectionParams = (query: InspectionQuery): Params => {
  const { id, hash, origin, status, detected } = query;
  return { id, hash, origin, status, detected, ...dateParams(query) };
};

/** `/PROTOCOL`, `/PROTOCOL/CHAIN` or `/PROTOCOL/CHAIN/CONTRACT`. */
export const protocolPath = ({
  protocol,
  chainId,
  contractAddress,
}: Omit<InspectionQuery, keyof DateQuery>): string => {
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
