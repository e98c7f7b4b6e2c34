/** The monitoring service behind one key: eight endpoints, one typed function each, one HTTP request a call. */
import type { ChannelEntry } from '../item.ts';
import type { RequestLabel } from './failure.ts';
import {
  type Confirmation,
  decodeConfirmation,
  decodeProtocolPage,
  decodeSettings,
  decodeStats,
  type InspectionStats,
  type Protocol,
  type ProtocolSettings,
} from './protocols.ts';
import {
  type ArrayParams,
  type DateQuery,
  type InspectionQuery,
  inspectionParams,
  type NotificationQuery,
  notificationParams,
  type Params,
  type ProtocolQuery,
  protocolPath,
  queryString,
} from './queries.ts';
import { createTransport, type Decode, type Salvage, type Transport, type TransportSettings } from './request.ts';
import {
  decodeInspection,
  decodeNotification,
  decodePage,
  type Inspection,
  type Notification,
  type Page,
  pageOfOversized,
} from './wire.ts';

/** A smaller lead over our clock is no skew: clocks in one network agree no better. */
const TOLERANCE_MS = 2000;

/** Answers in a row that must be ahead to be believed: one bad node behind a balancer answers now and then. */
const ANSWERS_AHEAD = 8;

/**
 * The service's own time: it dates the items, so cursors follow its clock and not ours. A `Date` header has whole seconds,
 * and the answer travelled: both make the service's clock seem slow, which does no harm.
 */
export const createServiceClock = (now: () => number) => {
  let skewMs = 0;
  /** Of the answers in a row that were ahead, the last few. */
  let ahead: number[] = [];
  /** Until an answer is not ahead, the service may have been ahead all along. */
  let mayBeAhead = true;

  const observeAhead = (skew: number): void => {
    ahead = [...ahead, skew].slice(-ANSWERS_AHEAD);
    if (ahead.length === ANSWERS_AHEAD) mayBeAhead = true;
    if (mayBeAhead) skewMs = Math.min(...ahead);
  };

  return {
    /** Learns from the time that an answer named, in epoch milliseconds; absent: nothing. */
    observe: (serverTime: number | undefined): void => {
      if (serverTime === undefined) return;
      const skew = serverTime - now();
      if (skew >= TOLERANCE_MS) observeAhead(skew);
      else {
        ahead = [];
        mayBeAhead = false;
        skewMs = Math.min(0, skew);
      }
    },
    /**
     * Epoch milliseconds by the service's clock; by ours before the first answer. Rather too early than too late: items
     * are then read twice and never skipped.
     */
    now: (): number => now() + skewMs,
  };
};

export type ServiceClock = ReturnType<typeof createServiceClock>;

export interface ServiceOptions extends TransportSettings {
  service: TransportSettings['service'] & {
    /** Asked for in every list; the service may give less. */
    pageSize: number;
    arrayParams: ArrayParams;
  };
  /** How lists are written at present; found out while the client runs. Default: as `arrayParams` says. */
  listStyle?: () => ArrayParams;
}

export interface AssetInput {
  chainId: number;
  abi: string;
  address: string;
  admins: readonly string[];
  descriptor: string;
}

const changes = (transport: Transport) => {
  const change = (label: RequestLabel, body: object, signal: AbortSignal): Promise<Confirmation> =>
    transport.ask({ ...label, path: `/${label.endpoint}`, body }, decodeConfirmation, signal);
  return {
    createProtocol: (
      body: { protocolName: string; assets?: readonly AssetInput[]; notificationChannels?: readonly ChannelEntry[] },
      signal: AbortSignal,
    ) => change({ method: 'POST', endpoint: 'protocols/create', protocol: body.protocolName }, body, signal),
    addAssets: (body: { protocolId: string; assets: readonly AssetInput[] }, signal: AbortSignal) =>
      change({ method: 'PUT', endpoint: 'protocols/assets/add', protocol: body.protocolId }, body, signal),
    /** `notificationChannels`: all of the protocol's channels from now on. */
    replaceChannels: (
      body: { protocolId: string; notificationChannels: readonly ChannelEntry[] },
      signal: AbortSignal,
    ) => {
      const endpoint = 'protocols/notification-channels/replace';
      return change({ method: 'PATCH', endpoint, protocol: body.protocolId }, body, signal);
    },
  };
};

const reads = (transport: Transport, pageSize: number, listStyle: () => ArrayParams) => {
  const query = (params: Params, style = listStyle()) => queryString(params, style);
  const sized = (params: Params): Params => ({ ...params, pageSize: params.pageSize ?? pageSize });
  const get = <T>(
    label: Pick<RequestLabel, 'endpoint' | 'protocol'>,
    path: string,
    decode: Decode<T>,
    signal: AbortSignal,
    salvage?: Salvage<T>,
  ) => transport.ask({ method: 'GET', ...label, path }, decode, signal, salvage);
  /** Only where one item is asked for is it the one that is too large. */
  const salvageOf = (asked: Pick<DateQuery, 'pageSize'>): Salvage<Page<never>> | undefined =>
    (asked.pageSize ?? pageSize) === 1 ? pageOfOversized : undefined;

  // Each is async, so that a query that cannot be written rejects and does not throw.
  return {
    listProtocols: async (asked: ProtocolQuery, signal: AbortSignal): Promise<Page<Protocol>> => {
      const { pageNumber, pageSize: size, hideAssets } = asked;
      const path = `/protocols${query(sized({ pageNumber, pageSize: size, hideAssets }))}`;
      const decode: Decode<Page<Protocol>> = (json, time) => decodeProtocolPage(json, time, pageNumber !== undefined);
      return get({ endpoint: 'protocols' }, path, decode, signal, salvageOf(asked));
    },
    listInspections: async (asked: InspectionQuery, signal: AbortSignal): Promise<Page<Inspection>> => {
      const path = `${protocolPath(asked)}/inspections${query(sized(inspectionParams(asked)))}`;
      const decode = decodePage((raw) => decodeInspection(raw, asked.protocol), asked.pageNumber !== undefined);
      return get({ endpoint: 'inspections', protocol: asked.protocol }, path, decode, signal, salvageOf(asked));
    },
    /** Counts for the same query; page number and size are sent only where they are given. */
    inspectionStats: async (asked: InspectionQuery, signal: AbortSignal): Promise<InspectionStats> => {
      const path = `${protocolPath(asked)}/inspections/stats${query(inspectionParams(asked))}`;
      return get({ endpoint: 'inspections/stats', protocol: asked.protocol }, path, decodeStats, signal);
    },
    settings: async (protocol: string, signal: AbortSignal): Promise<ProtocolSettings> =>
      get({ endpoint: 'settings', protocol }, `${protocolPath({ protocol })}/settings`, decodeSettings, signal),
    listNotifications: async (asked: NotificationQuery, signal: AbortSignal): Promise<Page<Notification>> => {
      const path = `/notifications${query(sized(notificationParams(asked)), asked.listStyle)}`;
      const decode = decodePage((raw) => decodeNotification(raw, asked.protocols), asked.pageNumber !== undefined);
      const label = { endpoint: 'notifications', protocol: asked.protocols.join(', ') };
      return get(label, path, decode, signal, salvageOf(asked));
    },
  };
};

/**
 * Opens no connection yet. Throws a `UsageError` for a key that no header can carry. Every function of it throws a
 * `ServiceError`, or a `UsageError` for a request that cannot be written as asked.
 */
export const createServiceClient = (options: ServiceOptions) => {
  const { name, pageSize, arrayParams } = options.service;
  const { listStyle = () => arrayParams } = options;
  const transport = createTransport(options);
  return {
    name,
    /** Items a page asked for where a query names no other number. */
    pageSize,
    ...reads(transport, pageSize, listStyle),
    ...changes(transport),
    heldForMs: transport.heldForMs,
    close: transport.close,
  };
};

export type ServiceClient = ReturnType<typeof createServiceClient>;
