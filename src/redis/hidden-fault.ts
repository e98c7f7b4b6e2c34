/**
 * Why a Sentinel or a Cluster's node cannot be connected to. ioredis says only "Connection is closed", whatever the
 * reason is, so after such an error one connection is tried without it, and what that meets becomes the cause of the
 * errors after.
 */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import type { TlsOptions } from '../connection/trust.ts';

export interface Node {
  host: string;
  port: number;
  /** With TLS. */
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

/** Gives errors of the client their cause, as far as one is known by then. For its first listener. */
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
