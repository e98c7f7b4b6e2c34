/** The monitoring service behind one key: eight endpoints, one typed function each, one HTTP request a call. */
import type { ConnectionSettings } from '../connection/settings.ts';
import type { ChannelEntry } from '../item.ts';
import type { Secret } from '../secret.ts';
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
import { createTransport, type Decode, type Salvage } from './request.ts';
import {
  decodeInspection,
  decodeNotification,
  decodePage,
  type Inspection,
  type Notification,
  type Page,
  pageOfOversized,
} from './wire.ts';

/** The service's own time: it dates the items, so cursors follow its clock and not ours. */
export interface ServiceClock {
  /** Learns from the time that an answer named, in epoch milliseconds; absent: nothing. */
  observe(serverTime: number | undefined): void;
  /**
   * Epoch milliseconds by the service's clock; by ours before the first answer. Rather too early than too late: items are
   * then read twice and never skipped.
   */
  now(): number;
}

/** A smaller lead over our clock is no skew: clocks in one network agree no better. */
const TOLERANCE_MS = 2000;

/** Answers in a row that must be ahead to be believed: one bad node behind a balancer answers now and then. */
const ANSWERS_AHEAD = 8;

/** A `Date` header has whole seconds, and the answer travelled: both make the service's clock seem slow, which does no harm. */
export const createServiceClock = (now: () => number): ServiceClock => {
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
    observe: (serverTime) => {
      if (serverTime === undefined) return;
      const skew = serverTime - now();
      if (skew >= TOLERANCE_MS) return observeAhead(skew);
      ahead = [];
      mayBeAhead = false;
      skewMs = Math.min(0, skew);
    },
    now: () => now() + skewMs,
  };
};

export interface ServiceOptions {
  service: {
    /** Short id of the entry, in error messages. */
    name: string;
    /** Absolute; a path is kept, a trailing slash makes no difference. */
    baseUrl: string;
    apiKey: Secret;
    /** Milliseconds for one request as a whole. */
    timeout: number;
    /** Asked for in every list; the service may give less. */
    pageSize: number;
    arrayParams: ArrayParams;
  };
  /** Certificates and a proxy. Default: none. */
  connection?: ConnectionSettings;
  /** How lists are written at present; found out while the client runs. Default: as `arrayParams` says. */
  listStyle?: () => ArrayParams;
  /** Epoch milliseconds. Default `Date.now`. */
  now?: () => number;
  /** Connections at most; further requests wait, within their own timeout. Default 20. */
  connections?: number;
  /** Largest answer that is read, in bytes after decompression. Default 20 MB. */
  maxBodyBytes?: number;
}

/** A contract as it is given to the service. */
export interface AssetInput {
  chainId: number;
  abi: string;
  address: string;
  admins: readonly string[];
  /** The asset's name. */
  descriptor: string;
}

export interface CreateProtocolBody {
  protocolName: string;
  assets?: readonly AssetInput[];
  notificationChannels?: readonly ChannelEntry[];
}

export interface AddAssetsBody {
  protocolId: string;
  assets: readonly AssetInput[];
}

export interface ReplaceChannelsBody {
  protocolId: string;
  /** All of the protocol's channels from now on. */
  notificationChannels: readonly ChannelEntry[];
}

/** Every function throws a `ServiceError`, or a `UsageError` for a request that cannot be written as asked. */
export interface ServiceClient {
  readonly name: string;
  /** Items a page asked for where a query names no other number. */
  readonly pageSize: number;
  listProtocols(query: ProtocolQuery, signal: AbortSignal): Promise<Page<Protocol>>;
  createProtocol(body: CreateProtocolBody, signal: AbortSignal): Promise<Confirmation>;
  addAssets(body: AddAssetsBody, signal: AbortSignal): Promise<Confirmation>;
  replaceChannels(body: ReplaceChannelsBody, signal: AbortSignal): Promise<Confirmation>;
  listInspections(query: InspectionQuery, signal: AbortSignal): Promise<Page<Inspection>>;
  /** Counts for the same query; page number and size are sent only where they are given. */
  inspectionStats(query: InspectionQuery, signal: AbortSignal): Promise<InspectionStats>;
  settings(protocol: string, signal: AbortSignal): Promise<ProtocolSettings>;
  listNotifications(query: NotificationQuery, signal: AbortSignal): Promise<Page<Notification>>;
  /** Milliseconds until the wait that the service named is over; 0 where there is none. Until then every call throws. */
  heldForMs(): number;
  /** Takes no new request and waits for those in flight. Idempotent. */
  close(): Promise<void>;
}

const DEFAULT_CONNECTIONS = 20;
const DEFAULT_MAX_BODY_BYTES = 20_000_000;

type Transport = ReturnType<typeof createTransport>;

/** The endpoints that change something. */
const changes = (transport: Transport): Pick<ServiceClient, 'createProtocol' | 'addAssets' | 'replaceChannels'> => {
  const change = (label: RequestLabel, body: object, signal: AbortSignal) =>
    transport.ask({ ...label, path: `/${label.endpoint}`, body }, decodeConfirmation, signal);
  return {
    createProtocol: (body, signal) =>
      change({ method: 'POST', endpoint: 'protocols/create', protocol: body.protocolName }, body, signal),
    addAssets: (body, signal) =>
      change({ method: 'PUT', endpoint: 'protocols/assets/add', protocol: body.protocolId }, body, signal),
    replaceChannels: (body, signal) => {
      const endpoint = 'protocols/notification-channels/replace';
      return change({ method: 'PATCH', endpoint, protocol: body.protocolId }, body, signal);
    },
  };
};

type Reads = 'listProtocols' | 'listInspections' | 'inspectionStats' | 'settings' | 'listNotifications';

/** The endpoints that only read. */
const reads = (transport: Transport, pageSize: number, listStyle: () => ArrayParams): Pick<ServiceClient, Reads> => {
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
  const salvageOf = (asked: DateQuery): Salvage<Page<never>> | undefined =>
    (asked.pageSize ?? pageSize) === 1 ? pageOfOversized : undefined;

  // Each is async, so that a query that cannot be written rejects and does not throw.
  return {
    listProtocols: async ({ pageNumber, pageSize: size, hideAssets }, signal) => {
      const path = `/protocols${query(sized({ pageNumber, pageSize: size, hideAssets }))}`;
      const decode: Decode<Page<Protocol>> = (json, time) => decodeProtocolPage(json, time, pageNumber !== undefined);
      return get({ endpoint: 'protocols' }, path, decode, signal);
    },
    listInspections: async (asked, signal) => {
      const path = `${protocolPath(asked)}/inspections${query(sized(inspectionParams(asked)))}`;
      const decode = decodePage((raw) => decodeInspection(raw, asked.protocol), asked.pageNumber !== undefined);
      return get({ endpoint: 'inspections', protocol: asked.protocol }, path, decode, signal, salvageOf(asked));
    },
    inspectionStats: async (asked, signal) => {
      const path = `${protocolPath(asked)}/inspections/stats${query(inspectionParams(asked))}`;
      return get({ endpoint: 'inspections/stats', protocol: asked.protocol }, path, decodeStats, signal);
    },
    settings: async (protocol, signal) =>
      get({ endpoint: 'settings', protocol }, `${protocolPath({ protocol })}/settings`, decodeSettings, signal),
    listNotifications: async (asked, signal) => {
      const path = `/notifications${query(sized(notificationParams(asked)), asked.listStyle)}`;
      const decode = decodePage((raw) => decodeNotification(raw, asked.protocols), asked.pageNumber !== undefined);
      return get(
        { endpoint: 'notifications', protocol: asked.protocols.join(', ') },
        path,
        decode,
        signal,
        salvageOf(asked),
      );
    },
  };
};

/** Opens no connection yet. Throws a `UsageError` for a key that no header can carry. */
export const createServiceClient = (options: ServiceOptions): ServiceClient => {
  const { service, now = Date.now } = options;
  const { name, pageSize, arrayParams } = service;
  const { listStyle = () => arrayParams } = options;
  const transport = createTransport({
    name,
    baseUrl: service.baseUrl,
    apiKey: service.apiKey,
    timeoutMs: service.timeout,
    connections: options.connections ?? DEFAULT_CONNECTIONS,
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
    now,
    connection: options.connection ?? {},
  });
  return {
    name,
    pageSize,
    ...reads(transport, pageSize, listStyle),
    ...changes(transport),
    heldForMs: transport.heldForMs,
    close: () => transport.close(),
  };
};
