/** Connections to Redis through the operator's proxy, for ioredis. */
import { Socket } from 'node:net';
import { AbstractConnector } from 'ioredis';
import type { ConnectionSettings } from '../connection/settings.ts';
import type { Connector } from '../connection/tunnel.ts';
import type { Secret } from '../secret.ts';

/** What ioredis is told of the Redis to reach: one that is addressed directly, or a node of a cluster. */
interface Address {
  host?: string;
  port?: number;
  connectTimeout?: number;
  disconnectTimeout?: number;
  tls?: object;
}

/** A rejection would end an ioredis client for good; after a connection that is closed at once it tries again. */
const closed = (): Socket => new Socket().destroy();

/**
 * The option `Connector` of ioredis. It asks the proxy for a tunnel, and speaks TLS inside it where the client has `tls`.
 * Errors have the codes of `ProxyError`, or those of the TLS handshake.
 */
export const proxiedConnector = (proxy: Secret, settings: ConnectionSettings) =>
  class extends AbstractConnector {
    readonly #address: Address;
    #tunnel: Connector | undefined;

    constructor(options: unknown) {
      const address = options as Address;
      super(address.disconnectTimeout ?? 2000);
      this.#address = address;
    }

    override async connect(): Promise<Socket> {
      this.connecting = true;
      const opened = await this.#open().catch((error: Error) => {
        this.firstError = error;
        return closed();
      });
      // `disconnect` was called meanwhile.
      if (!this.connecting) opened.destroy();
      this.stream = opened;
      return opened;
    }

    override disconnect(): void {
      super.disconnect();
      void this.#tunnel?.close();
      this.#tunnel = undefined;
    }

    async #open(): Promise<Socket> {
      const { host = '127.0.0.1', port = 6379, connectTimeout: timeoutMs = 10_000, tls } = this.#address;
      // Only who has a proxy loads it.
      const { authority, createTunnel } = await import('../connection/tunnel.ts');
      this.#tunnel ??= createTunnel(new URL(proxy.reveal()), settings, { timeoutMs, isChosen: true });
      const { connect } = this.#tunnel;
      const protocol = tls === undefined ? 'http:' : 'https:';
      const target = { hostname: host, host: authority(host, String(port)), protocol, port: String(port) };
      return new Promise((resolve, reject) => {
        connect(target, (error, socket) => (error === null ? resolve(socket) : reject(error)));
      });
    }
  };
