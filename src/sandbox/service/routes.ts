/** From a method and a raw path to an endpoint. Segments are split before they are decoded: names may contain slashes. */
import type { Place } from './filters.ts';
import { Refusal } from './refusal.ts';

export type Endpoint =
  | 'listProtocols'
  | 'createProtocol'
  | 'addAssets'
  | 'replaceChannels'
  | 'listInspections'
  | 'inspectionStats'
  | 'protocolSettings'
  | 'listNotifications';

export interface Route {
  endpoint: Endpoint;
  /** Only where the path names one. */
  protocol?: string;
  place: Place;
}

const FIXED: Readonly<Record<string, Endpoint>> = {
  'GET protocols': 'listProtocols',
  'POST protocols/create': 'createProtocol',
  'PUT protocols/assets/add': 'addAssets',
  'PATCH protocols/notification-channels/replace': 'replaceChannels',
  'GET notifications': 'listNotifications',
};

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Refusal(400, 'the path is not percent-encoded UTF-8');
  }
};

const placeOf = (chain: string | undefined, contractAddress: string | undefined): Place => {
  if (chain === undefined) return {};
  if (!/^\d{1,15}$/.test(chain)) throw new Refusal(400, 'chainId must be an integer');
  return { chainId: Number(chain), ...(contractAddress === undefined ? {} : { contractAddress }) };
};

const tailOf = (segments: readonly string[]): { endpoint: Endpoint; length: number } | undefined => {
  if (segments.at(-1) === 'settings' && segments.length === 2) return { endpoint: 'protocolSettings', length: 1 };
  if (segments.at(-1) === 'inspections') return { endpoint: 'listInspections', length: 1 };
  if (segments.at(-1) === 'stats' && segments.at(-2) === 'inspections')
    return { endpoint: 'inspectionStats', length: 2 };
  return undefined;
};

/** `{protocolName}/{chainId}?/{contractAddress}?` before the tail. */
const protocolRoute = (segments: readonly string[]): Route | undefined => {
  const tail = tailOf(segments);
  if (!tail) return undefined;
  const [protocol, chain, contractAddress, ...rest] = segments.slice(0, -tail.length).map(decode);
  if (!protocol || rest.length > 0) return undefined;
  return { endpoint: tail.endpoint, protocol, place: placeOf(chain, contractAddress) };
};

/** `path` starts after the base path. Throws a `Refusal` with 404 where nothing fits, 405 where only the method does not. */
export const findRoute = (method: string, path: string): Route => {
  const trimmed = path.replace(/^\/|\/$/g, '');
  const fixed = FIXED[`${method} ${trimmed}`];
  if (fixed) return { endpoint: fixed, place: {} };
  if (Object.keys(FIXED).some((key) => key.endsWith(` ${trimmed}`))) throw new Refusal(405, 'method not allowed');
  const route = protocolRoute(trimmed.split('/'));
  if (!route) throw new Refusal(404, 'no such path');
  if (method !== 'GET') throw new Refusal(405, 'method not allowed');
  return route;
};
