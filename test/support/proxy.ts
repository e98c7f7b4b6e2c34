/** A forward proxy of a test's own: opens tunnels (CONNECT) to loopback, whatever host is asked for. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface TestProxy {
  /** `http://127.0.0.1:PORT`, with a certificate `https:` */
  origin: string;
  /** `host:port` of every tunnel asked for, also the refused. */
  asked: string[];
  /** `proxy-authorization` of each of them; empty where none was given. */
  credentials: string[];
  /** What the next requests for a tunnel are answered with, instead of a tunnel; the answer repeats their credentials. */
  refuse(...statuses: number[]): void;
  close(): Promise<void>;
}

/** With a certificate it speaks TLS itself. `port`: of one that was closed; default a free one. */
export const startProxy = async (certificate?: { key: string; cert: string }, port = 0): Promise<TestProxy> => {
  const asked: string[] = [];
  const credentials: string[] = [];
  const refusals: number[] = [];
  const sockets = new Set<Socket>();

  const tunnel = ({ url = '', headers }: IncomingMessage, client: Socket, head: Buffer): void => {
    sockets.add(client);
    client.on('error', () => {});
    asked.push(url);
    credentials.push(headers['proxy-authorization'] ?? '');
    const status = refusals.shift();
    if (status !== undefined) {
      const said = credentials.at(-1);
      return void client.end(`HTTP/1.1 ${status} No ${said}\r\nx-echo: ${said}\r\ncontent-length: 2\r\n\r\nno`);
    }
    const target = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.write(head);
      client.pipe(target).pipe(client);
    });
    sockets.add(target);
    target.on('error', () => client.destroy());
  };

  const refuseAll: RequestListener = (_request, response) => void response.writeHead(405).end();
  const server = certificate === undefined ? createServer(refuseAll) : createTlsServer(certificate, refuseAll);
  server.on('connect', tunnel).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  return {
    origin: `http${certificate === undefined ? '' : 's'}://127.0.0.1:${own}`,
    asked,
    credentials,
    refuse: (...statuses) => void refusals.push(...statuses),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of sockets) socket.destroy();
      }),
  };
};
