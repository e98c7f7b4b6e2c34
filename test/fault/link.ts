/** A TCP connection's way through the suite: passes bytes on, or lets them disappear as a broken network does. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Link {
  port: number;
  /** Bytes of all connections, present and new, disappear both ways; nothing is closed, so neither end notices. */
  swallow(): void;
  /** New connections pass. Those that lost bytes stay open and silent for ever. */
  heal(): void;
  /** Takes no connections until `accept`, and ends the present ones. */
  refuse(): void;
  accept(): Promise<void>;
  /** Ends the present connections. */
  cut(): void;
  close(): Promise<void>;
}

const silence = (socket: Socket): void => {
  socket.unpipe();
  socket.resume();
};

/** `target`: asked for each connection, as a server may come back on another port. */
export const openLink = async (target: () => number): Promise<Link> => {
  const pairs = new Set<readonly Socket[]>();
  const silenced = new WeakSet<Socket>();
  let isSwallowing = false;

  const mute = (pair: readonly Socket[]): void => {
    for (const socket of pair) {
      silenced.add(socket);
      silence(socket);
    }
  };
  const pair = (sockets: readonly Socket[]): void => {
    pairs.add(sockets);
    for (const socket of sockets) {
      socket.setNoDelay(true).on('error', () => {});
      socket.once('close', () => {
        // The other end of a silent connection never hears of it.
        if (silenced.has(socket)) return;
        pairs.delete(sockets);
        for (const other of sockets) other.destroy();
      });
    }
  };

  const cut = (): void => {
    for (const sockets of pairs) for (const socket of sockets) socket.destroy();
  };

  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (isSwallowing) {
      pair([client]);
      return mute([client]);
    }
    const upstream = connect({ port: target(), host: '127.0.0.1', allowHalfOpen: true });
    pair([client, upstream]);
    client.pipe(upstream);
    upstream.pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    port,
    refuse: () => {
      server.close();
      cut();
    },
    accept: async () => {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
    swallow: () => {
      isSwallowing = true;
      for (const each of pairs) mute(each);
    },
    heal: () => {
      isSwallowing = false;
    },
    cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
};
