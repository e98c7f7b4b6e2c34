/** `ops.listen` as Node wants it, and why it cannot be had. */
import { UsageError } from '../errors.ts';

export interface ListenAddress {
  /** None is every interface. */
  host?: string;
  port: number;
}

/** `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`, `:9464`. */
export const parseListen = (listen: string): ListenAddress => {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(listen) ?? [];
  const port = Number(digits);
  if (!(port <= 65_535)) throw new UsageError(`ops.listen must be HOST:PORT (got '${listen}')`);
  const host = bracketed ?? plain;
  return host ? { host, port } : { port };
};

const REFUSALS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use by another program',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'the port needs more rights than this program has',
  ENOTFOUND: 'no such host',
};

export const cannotListen = (listen: string, error: NodeJS.ErrnoException): UsageError => {
  const { code = 'unknown error' } = error;
  return new UsageError(`ops.listen: cannot listen on ${listen}: ${REFUSALS[code] ?? code}`, { cause: error });
};
