/** An SMTP server whose connections can be cut one by one and are all gone after `close`. */
import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import type { Opened } from '../../lifecycle.ts';

export interface OpenedSmtp extends Opened {
  /** Ends the client's connection with a TCP reset. */
  reset(session: SMTPServerSession): void;
}

/** How long clients may still talk after `close`. */
const CLOSE_TIMEOUT_MS = 1;

export const openSmtpServer = (options: SMTPServerOptions, port: number, host: string): Promise<OpenedSmtp> =>
  new Promise((resolve, reject) => {
    const server = new SMTPServer({
      ...options,
      logger: false,
      disableReverseLookup: true,
      closeTimeout: CLOSE_TIMEOUT_MS,
    });
    const sockets = new Set<Socket>();
    server.server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    const reset = ({ remotePort }: SMTPServerSession): void => {
      for (const socket of sockets) if (socket.remotePort === remotePort) socket.resetAndDestroy();
    };
    const close = (): Promise<void> =>
      new Promise((closed) => {
        server.close(() => closed());
      });
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      // A client that goes away in the middle is an everyday thing here.
      server.on('error', () => undefined);
      const address = server.server.address();
      resolve({ port: typeof address === 'object' && address ? address.port : port, close, reset });
    });
  });
