/** Real servers that go wrong in a chosen way, a client for them, and how a failure is looked at. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { inspect } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { createSecret } from '../../src/secret.ts';
import { createServiceClient, type ServiceClient, type ServiceOptions } from '../../src/service/client.ts';
import type { Decoded } from '../../src/service/wire.ts';

/** Has what JSON, URLs and HTML would each write in another way. */
export const KEY = 'key/4f+9"<&>Zq\\8';

export const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
};

/** An HTTP server for one test; gives its origin. */
export const serve = async (handler: RequestListener): Promise<string> => {
  const server = createServer(handler);
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return await listen(server);
};

type Changes = Partial<ServiceOptions['service']> & Omit<ServiceOptions, 'service'>;

/** A client that is closed with its test. */
export const clientOf = (baseUrl: string, changes: Changes = {}): ServiceClient => {
  const { now, monotonic, connections, maxBodyBytes, ...service } = changes;
  const client = createServiceClient({
    service: {
      name: 'main',
      baseUrl,
      apiKey: createSecret(KEY),
      timeout: 10_000,
      pageSize: 100,
      arrayParams: 'repeat',
      ...service,
    },
    ...(now ? { now } : {}),
    ...(monotonic ? { monotonic } : {}),
    ...(connections ? { connections } : {}),
    ...(maxBodyBytes ? { maxBodyBytes } : {}),
  });
  onTestFinished(() => client.close());
  return client;
};

export const never = new AbortController().signal;

const JSON_KEY = JSON.stringify(KEY).slice(1, -1);
const FORBIDDEN = [KEY, JSON_KEY, ...[KEY, JSON_KEY].map((key) => key.replaceAll('/', '\\/')), encodeURIComponent(KEY)];

/** Everything a log could print of an error. */
export const everythingOf = (error: Error): string =>
  [error.message, error.stack, inspect(error, { depth: null, showHidden: true }), JSON.stringify(error)].join('\n');

/** The `ServiceError` of a call; fails where there is none, where it is long, and where it holds the key in any spelling. */
export const failureOf = async (call: Promise<unknown>): Promise<ServiceError> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ServiceError)) throw new Error(`no ServiceError but ${inspect(error)}`);
  for (const spelling of FORBIDDEN) expect(everythingOf(error)).not.toContain(spelling);
  expect(error.message.length).toBeLessThanOrEqual(200);
  expect(error.cause).toBeUndefined();
  return error;
};

/** The item of a decoding that went well. */
export const itemOf = <T>(decoded: Decoded<T>): T => {
  if (!decoded.ok) throw new Error(`malformed: ${decoded.problem}`);
  return decoded.item;
};
