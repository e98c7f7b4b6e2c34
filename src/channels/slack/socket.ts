/**
 * Socket Mode: presses come over a WebSocket that we open, so no port of ours is open for Slack.
 * Source: https://docs.slack.dev/apis/events-api/using-socket-mode
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ping, WebSocket } from 'undici';
import type { ConnectionSettings } from '../../connection/settings.ts';
import { createAgent } from '../../connection/tunnel.ts';
import { DeliveryError } from '../../errors.ts';
import { jsonObjectIn, objectIn, textIn } from '../content/foreign.ts';
import { networkFailure } from '../failures.ts';

interface SocketSettings {
  /** Of `apps.connections.open`. */
  url: string;
  connection: ConnectionSettings;
  /** Each envelope of Slack, once. */
  onEnvelope(type: string, payload: unknown): void;
  /** Slack sends from now on; the id of the app that the connection belongs to, where it says so. */
  onHello(appId: string | undefined): void;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** From the address to `hello`. */
const HELLO_MS = 20_000;
const PING_EVERY_MS = 30_000;
/** A connection that stays silent for so many pings is closed. */
const MOST_SILENT = 2;
/** An envelope holds the pressed message, which has at most a few dozen kilobytes. */
const LARGEST_BYTES = 1024 * 1024;

/** The only place where undici reports control frames. */
const SIGNS_OF_LIFE = ['undici:websocket:pong', 'undici:websocket:ping'] as const;

const failure = (message: string, code: string): DeliveryError => new DeliveryError('unavailable', message, { code });

const switchedOff = (code: string): DeliveryError =>
  new DeliveryError('sender-misconfigured', 'Slack says that Socket Mode is off for this app', { code });

/** Closes a connection on which nothing comes any more: that of a host that is gone looks like an idle one. */
const watchSilence = (socket: WebSocket, onSilent: () => void): (() => void) => {
  let silent = 0;
  const heard = (message: unknown): void => {
    if ((message as { websocket?: unknown }).websocket === socket) silent = 0;
  };
  for (const name of SIGNS_OF_LIFE) subscribe(name, heard);
  const timer = setInterval(() => {
    if (silent >= MOST_SILENT) return onSilent();
    silent += 1;
    ping(socket);
  }, PING_EVERY_MS);
  return () => {
    clearInterval(timer);
    for (const name of SIGNS_OF_LIFE) unsubscribe(name, heard);
  };
};

/** Resolves when Slack asks to connect again, or `signal` aborts. Throws a `DeliveryError` where the connection breaks. */
export const runSocket = async (
  { url, connection, onEnvelope, onHello }: SocketSettings,
  signal: AbortSignal,
): Promise<void> => {
  const { host } = new URL(url);
  const limits = { webSocket: { maxPayloadSize: LARGEST_BYTES } };
  const { agent, close } = createAgent(connection, CONNECT_TIMEOUT_MS, limits);
  const end = Promise.withResolvers<void>();
  const socket = new WebSocket(url, { dispatcher: agent });
  const stop = (): void => end.resolve();
  const hello = setTimeout(() => end.reject(failure(`${host} did not say hello`, 'no-hello')), HELLO_MS);

  /** A warning comes seconds before the end. */
  const onDisconnect = (reason: unknown): void => {
    if (reason === 'link_disabled') end.reject(switchedOff(reason));
    else if (reason !== 'warning') end.resolve();
  };
  const take = ({ type, envelope_id: id, payload, reason, connection_info: info }: Record<string, unknown>): void => {
    // At once: Slack waits three seconds, and then calls the press failed.
    if (typeof id === 'string') socket.send(JSON.stringify({ envelope_id: id }));
    if (type === 'hello') {
      clearTimeout(hello);
      onHello(textIn(objectIn(info).app_id) || undefined);
    } else if (type === 'disconnect') onDisconnect(reason);
    else if (typeof type === 'string' && typeof id === 'string') onEnvelope(type, payload);
  };

  socket.addEventListener('message', ({ data }) => take(jsonObjectIn(String(data))));
  socket.addEventListener('error', ({ error }) => end.reject(networkFailure(error, host, undefined, connection.names)));
  socket.addEventListener('close', ({ code }) => end.reject(failure(`${host} closed the connection`, `ws-${code}`)));
  const unwatch = watchSilence(socket, () => end.reject(failure(`${host} is silent`, 'silent')));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    await end.promise;
  } finally {
    clearTimeout(hello);
    signal.removeEventListener('abort', stop);
    unwatch();
    socket.close();
    await close();
  }
};
