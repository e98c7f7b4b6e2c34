/**
 * Socket Mode as an app sees it: an address that is good for one connection, envelopes that have to be acknowledged within
 * three seconds, and an end now and then. Source: https://docs.slack.dev/apis/events-api/using-socket-mode
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { isObject, type JsonObject, type JsonValue, parseJson } from '../../json.ts';
import { acceptWebSocket, type WebSocketPeer } from './web-socket.ts';

export const APP_ID = 'A0SANDBOX';

export interface SlackSockets {
  /** Path of a connection, good once and for half a minute. */
  open(): string;
  /** Answers a request to upgrade. */
  upgrade(request: IncomingMessage, socket: Duplex): void;
  /** Connections that are open. */
  count(): number;
  /** Connections that were ever opened. */
  opened(): number;
  /** Sends an envelope over one of the connections; resolves when it is acknowledged. Rejects without one, or without an answer. */
  send(type: string, payload: JsonObject): Promise<void>;
  /** Ends every connection: `refresh_requested` and `link_disabled` are said before, `crash` is not. */
  disconnect(reason: 'refresh_requested' | 'link_disabled' | 'crash'): void;
  stop(): void;
}

const ACKNOWLEDGED_WITHIN_MS = 3000;
const TICKET_MS = 30_000;
const CONNECTIONS_MAX = 10;

export const createSlackSockets = (now: () => number): SlackSockets => {
  const tickets = new Map<string, number>();
  const peers = new Set<WebSocketPeer>();
  const waiting = new Map<string, () => void>();
  let opened = 0;

  const onText = (text: string): void => {
    const answer = parseJson(text);
    const id = isObject(answer) && typeof answer.envelope_id === 'string' ? answer.envelope_id : '';
    waiting.get(id)?.();
    waiting.delete(id);
  };

  const say = (peer: WebSocketPeer, message: { [key: string]: JsonValue }): void => peer.send(JSON.stringify(message));

  const isGood = (url: string): boolean => {
    const ticket = new URL(url, 'http://sandbox').searchParams.get('ticket') ?? '';
    const until = tickets.get(ticket) ?? 0;
    tickets.delete(ticket);
    return url.startsWith('/link/') && now() < until && peers.size < CONNECTIONS_MAX;
  };

  return {
    open: () => {
      const ticket = randomUUID();
      tickets.set(ticket, now() + TICKET_MS);
      return `/link/?ticket=${ticket}&app_id=${APP_ID}`;
    },
    upgrade: (request, socket) => {
      if (!isGood(request.url ?? '')) {
        socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
        return;
      }
      const peer = acceptWebSocket(request, socket, { onText, onClose: () => void (peer && peers.delete(peer)) });
      if (!peer) return;
      peers.add(peer);
      opened += 1;
      const debug_info = { host: 'applink-sandbox', approximate_connection_time: 18_060 };
      say(peer, { type: 'hello', num_connections: peers.size, debug_info, connection_info: { app_id: APP_ID } });
    },
    count: () => peers.size,
    opened: () => opened,
    send: async (type, payload) => {
      const [peer] = [...peers].toSorted(() => Math.random() - 0.5);
      if (!peer) throw new Error('no app is connected');
      const envelope = randomUUID();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const late = setTimeout(() => reject(new Error('nobody acknowledged the envelope')), ACKNOWLEDGED_WITHIN_MS);
      waiting.set(envelope, resolve);
      say(peer, { envelope_id: envelope, type, payload, accepts_response_payload: false });
      await promise.finally(() => clearTimeout(late));
    },
    disconnect: (reason) => {
      for (const peer of peers) {
        if (reason === 'crash') peer.destroy();
        else {
          say(peer, { type: 'disconnect', reason, debug_info: { host: 'applink-sandbox' } });
          peer.close(1000);
        }
      }
    },
    stop: () => {
      for (const peer of peers) peer.destroy();
      waiting.clear();
    },
  };
};
