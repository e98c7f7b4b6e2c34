/** Signed webhooks by Standard Webhooks 1.0.0, through the guard. */
import { type ProxyFor, proxyHost } from '../../connection/proxy-variables.ts';
import { type ConnectionTo, createConnections, settingsIn } from '../../connection/settings.ts';
import { reachProxy } from '../../connection/tunnel.ts';
import { startDeadline } from '../../deadline.ts';
import { DeliveryError, type DeliveryReason } from '../../errors.ts';
import { statusText } from '../../http-status.ts';
import { webLabel } from '../address.ts';
import type { Channel, CreateChannel } from '../channel.ts';
import { type PostResponse, retryAfterMs } from '../http.ts';
import { networkFailure } from '../network.ts';
import type { ReceiverConfig, WebhookConfig } from './config.ts';
import { composeWebhook } from './message.ts';
import { createReceiverFinder } from './receivers.ts';
import { createSecretFinder } from './secrets.ts';
import { signatures, signingKey } from './signature.ts';

/** The receiver, or a server in front of it, is busy or restarting. */
const PASSING = [408, 425, 500, 502, 503, 504, 507, 508, 520, 521, 522, 523, 524, 525, 526, 527, 530];
/** A proxy stopped waiting, but the receiver behind it may have got the message. */
const PASSED_ON = [502, 504, 520, 522, 524];
/** The receiver refuses this body; a smaller one may pass. */
const BODY_REFUSED = [400, 413, 422];
/** Nothing at this address takes webhooks, or not any more. Source: Standard Webhooks 1.0.0 for 410, RFC 9110 for the rest. */
const NO_RECEIVER = [405, 406, 410, 411, 414, 415, 431, 451, 501];
/** The receiver wants no more webhooks at all. Source: Standard Webhooks 1.0.0, "Deliverability and reliability". */
const GONE = 410;
const TOO_MANY = 429;

/**
 * What a status means. Any other status (401, 403 and 404 among them) is `unknown`: the receiver's people may mend it
 * within the hour, and it says nothing about other receivers.
 */
const reasonOf = (status: number): DeliveryReason => {
  if (status === TOO_MANY) return 'rate-limited';
  if (PASSING.includes(status)) return 'unavailable';
  if (BODY_REFUSED.includes(status)) return 'bad-message';
  // A redirect leads past the guard's checks, so the operator has to enter the new address.
  if (NO_RECEIVER.includes(status) || (status >= 300 && status < 400)) return 'destination-dead';
  return 'unknown';
};

const redirectText = ({ status, headers: { location } }: PostResponse, address: string): string => {
  if (status < 300 || status > 399) return '';
  const target = location === undefined ? null : URL.parse(location, address);
  return target === null ? '' : `, a redirect to ${target.host}; redirects are not followed`;
};

const refusalOf = (response: PostResponse, address: string, nowMs: number): DeliveryError => {
  const { status, headers } = response;
  const waitMs = retryAfterMs(headers['retry-after'], nowMs);
  const detail = status === GONE ? ', so it is disabled until an operator enables it' : redirectText(response, address);
  return new DeliveryError(reasonOf(status), `${webLabel(address)} answered ${statusText(status)}${detail}`, {
    code: String(status),
    maybeDelivered: PASSED_ON.includes(status),
    disables: status === GONE,
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  });
};

const mapEntries = <A, B>(entries: Readonly<Record<string, A>>, change: (key: string, value: A) => B) =>
  Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, change(key, value)]));

/** How one receiver is reached: its own headers, and connections with its own settings where it has them. */
interface Manner {
  headers: Record<string, string>;
  connectionTo: ConnectionTo;
}

const SECTION = 'channels.webhook';
const CONNECT_TIMEOUT_MS = 10_000;

/** A receiver's own settings count before those of all webhooks; its `ca` is meant instead of the well-known ones. */
const mannersOf = (config: WebhookConfig, proxyFor: ProxyFor = () => undefined) => {
  const { proxy, ...tls } = settingsIn(config);
  const usualProxy: ProxyFor = proxy === undefined ? proxyFor : () => ({ url: proxy, key: `${SECTION}.proxy` });
  const usual: Manner = { headers: {}, connectionTo: createConnections(tls, { section: SECTION }, usualProxy) };
  const ownOf = (name: string, receiver: ReceiverConfig): Manner => {
    const { ca, ...settings } = settingsIn(receiver);
    const section = `${SECTION}.receivers.${name.includes('://') ? webLabel(name) : name}`;
    const alone = ca === undefined ? {} : { ca, onlyCa: true, ...(tls.ca !== undefined && { proxyCa: tls.ca }) };
    const merged = { ...tls, ...settings, ...alone };
    const headers = mapEntries(receiver.headers, (_header, value) => value.reveal());
    return { headers, connectionTo: createConnections(merged, { section }, usualProxy) };
  };
  const find = createReceiverFinder(mapEntries(config.receivers, ownOf));
  return (address: string): Manner => find(address) ?? usual;
};

const signingText = ({ secret, secrets, deriveSecrets }: WebhookConfig): string => {
  if (secret !== undefined) return `signs every webhook${deriveSecrets ? ', each URL with a secret of its own' : ''}`;
  const count = Object.keys(secrets).length;
  return count === 0
    ? 'sends webhooks unsigned: no secret is configured'
    : `signs for ${count} receivers, sends to all others unsigned: no common secret is configured`;
};

export const createWebhookChannel: CreateChannel<WebhookConfig> = (
  config,
  { post, now, proxyFor },
): Channel<string> => {
  const keysOf = createSecretFinder(config, signingKey);
  const mannerFor = mannersOf(config, proxyFor);
  return {
    kind: 'webhook',
    compose: (parcel, context) => composeWebhook(parcel, context, config),
    async send({ id, body, destination: { address } }, signal) {
      const timestamp = String(Math.floor(now() / 1000));
      const keys = keysOf(address);
      const { headers, connectionTo } = mannerFor(address);
      const deadline = startDeadline(signal, config.timeout);
      const request = {
        url: address,
        headers: {
          'user-agent': 'tocsin',
          ...headers,
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          ...(keys.length === 0 ? {} : { 'webhook-signature': signatures(keys, { id, timestamp, body }) }),
        },
        body,
        signal: deadline.signal,
        connection: connectionTo(address),
      };
      const response = await post(request).finally(deadline.end);
      if (response.status < 200 || response.status > 299) throw refusalOf(response, address, now());
      return {};
    },
    // Receivers have nothing in common but the proxy, and none of them expects a probe.
    verify: async () => {
      const { proxy } = config;
      if (proxy === undefined) return signingText(config);
      const connection = createConnections(settingsIn(config), { section: SECTION })('');
      await reachProxy(connection, Math.min(CONNECT_TIMEOUT_MS, config.timeout)).catch((error: unknown) => {
        throw networkFailure(error, 'the proxy', false, connection.names);
      });
      return `${signingText(config)}; goes through the proxy ${proxyHost(proxy)}`;
    },
    close: async () => {},
  };
};
