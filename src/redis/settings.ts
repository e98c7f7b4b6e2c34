/** How to reach Redis, as the config says it, and what follows from that without a connection. */

import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { settingsIn, type TlsOptions, tlsOptions } from '../connection/settings.ts';
import type { Secret } from '../secret.ts';

interface RedisNode {
  host: string;
  port: number;
}

/** How to reach Redis; exactly one of `url`, `sentinel`, `cluster` and `socketPath` is used, in that order. */
export interface RedisSettings {
  /** `redis://` or, for TLS, `rediss://`, with user, password and database; or the path of a unix socket. */
  url?: Secret;
  /** Sentinels as `host:port`, and the name of the master they watch; what they ask for themselves. */
  sentinel?: SentinelSettings;
  /** Any nodes of the cluster as `host:port`. */
  cluster?: { nodes: readonly string[] };
  /** A unix socket: the embedded server's. */
  socketPath?: string;
  /** Of Redis itself behind Sentinel or in a Cluster; a URL carries its own. */
  username?: string;
  password?: Secret;
  tls?: boolean;
  /** Of Redis behind Sentinel. */
  database?: number;
  /** For every connection with TLS, PEM. */
  ca?: string;
  cert?: string;
  key?: Secret;
  /** http(s) URL, perhaps with user and password; not behind Sentinel, nor for a socket. */
  proxy?: Secret;
}

export interface SentinelSettings {
  name: string;
  nodes: readonly string[];
  username?: string;
  password?: Secret;
  /** Default: as Redis itself. */
  tls?: boolean;
}

/** The settings of one Redis that is addressed directly. */
export type SingleRedis = { url: Secret } | { socketPath: string };

/** Where Redis is, for people: without user and password. */
export const addressOf = ({ url, sentinel, cluster, socketPath }: RedisSettings): string => {
  if (url !== undefined) return urlAddress(url.reveal());
  if (sentinel !== undefined) return `${sentinel.name} behind ${sentinel.nodes.join(', ')}`;
  return cluster?.nodes.join(', ') ?? socketPath ?? 'nowhere';
};

/** A password with an unescaped `/` or `#` ends up in another part of the URL: such a URL is not shown at all. */
const urlAddress = (url: string): string => {
  if (url.startsWith('/')) return url.replace(/\?.*/, '');
  const { hostname = '', port = '', pathname = '' } = url.split('@').length <= 2 ? (URL.parse(url) ?? {}) : {};
  const isWhole = hostname !== '' && /^(\/[^/@]{0,16})?$/.test(pathname);
  return isWhole ? `${hostname}:${port || 6379}${pathname === '/' ? '' : pathname}` : 'the Redis of redis.url';
};

/** `10.0.0.1:6379`, `redis-0.example.com:6379`, `[::1]:6379`. */
export const nodeOf = (text: string, defaultPort: number): RedisNode => {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  return { host: bracketed ?? plain ?? text, port: port === undefined ? defaultPort : Number(port) };
};

export interface KnownTls {
  /** For Redis itself, and for the node that is asked first. Undefined: without TLS. */
  tls: TlsOptions | undefined;
  tlsOfNodes: TlsOptions | undefined;
}

export const tlsOf = ({ url, sentinel, tls = false, ca, cert, key }: RedisSettings): KnownTls => {
  const known = tlsOptions(settingsIn({ ca, cert, key }), { isChosen: true });
  const isTls = url === undefined ? tls : /^rediss:/i.test(url.reveal());
  return { tls: isTls ? known : undefined, tlsOfNodes: (sentinel?.tls ?? tls) ? known : undefined };
};

/** The Sentinel or the Cluster's node that is asked first. None behind a proxy, which says itself what it meets. */
export const firstNode = (
  { sentinel, cluster, proxy }: RedisSettings,
  { tlsOfNodes: tls }: KnownTls,
): Node | undefined => {
  const [first] = (sentinel ?? cluster)?.nodes ?? [];
  return first === undefined || proxy !== undefined
    ? undefined
    : { ...nodeOf(first, sentinel === undefined ? 6379 : 26_379), tls };
};

interface Node extends RedisNode {
  tls?: TlsOptions | undefined;
}

const TRY_EVERY_MS = 5000;
const CONNECT_MS = 3000;
/** A server that dislikes our certificate says so only after the handshake. */
const AFTER_HANDSHAKE_MS = 300;

/** The error that a connection meets; undefined where it stands. */
const faultOf = ({ host, port, tls }: Node): Promise<Error | undefined> =>
  new Promise((resolve) => {
    const socket: Socket = tls === undefined ? connectPlain({ host, port }) : connectSecure({ host, port, ...tls });
    // Nobody waits for this: a program that ends does so at once.
    socket.unref();
    let timer = setTimeout(() => end(undefined), CONNECT_MS).unref();
    const end = (fault: Error | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(fault);
    };
    socket.on('error', end).once(tls === undefined ? 'connect' : 'secureConnect', () => {
      clearTimeout(timer);
      timer = setTimeout(() => end(undefined), AFTER_HANDSHAKE_MS).unref();
    });
  });

/**
 * Why a Sentinel or a Cluster's node cannot be connected to: ioredis says only "Connection is closed". After such an error
 * one connection is tried without it, and what that meets becomes the cause of the errors after, as far as it is known by
 * then. For the client's first listener.
 */
export const createFaultFinder = (node: Node | undefined, now: () => number): ((error: Error) => void) => {
  let found: Error | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (node === undefined || 'code' in error) return;
    if (found !== undefined) error.cause ??= found;
    if (now() - triedAt < TRY_EVERY_MS) return;
    triedAt = now();
    void faultOf(node).then((fault) => {
      found = fault;
    });
  };
};
