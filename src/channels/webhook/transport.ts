/** Signed webhooks by Standard Webhooks 1.0.0, through the guard. */
import { createHmac } from 'node:crypto';
import type { ChannelEntry } from '../../alert.ts';
import { DeliveryError, type DeliveryReason } from '../../errors.ts';
import type { Secret } from '../../secret.ts';
import { quoteContact, webAddress, webLabel } from '../address.ts';
import type { Addresses, Channel, ChannelDependencies, ChannelModule } from '../channel.ts';
import { type PostResponse, retryAfterMs } from '../http.ts';
import type { WebhookConfig } from './config.ts';
import { composeWebhook } from './message.ts';

/** The receiver or something before it is busy or restarting. */
const PASSING = [408, 425, 500, 502, 503, 504, 507, 508, 520, 521, 522, 523, 524, 525, 526, 527, 530];
/** A proxy gave up waiting, so the receiver behind it may have got the message all the same. */
const PASSED_ON = [502, 504, 520, 522, 524];
/** The receiver understood and does not want this body; a smaller one may pass. */
const BODY_REFUSED = [400, 413, 422];
/** Nothing that takes webhooks lives there, or not any more. Source: Standard Webhooks 1.0.0 for 410, RFC 9110 for the rest. */
const NO_RECEIVER = [405, 406, 410, 411, 414, 415, 431, 451, 501];
const TOO_MANY = 429;

/**
 * What a status means. What is in no list (401, 403 and 404 among them) may be mended by the receiver's people within
 * the hour, and says nothing about other receivers: `unknown` tries it with care, and only here.
 */
const reasonOf = (status: number): DeliveryReason => {
  if (status === TOO_MANY) return 'rate-limited';
  if (PASSING.includes(status)) return 'retry';
  if (BODY_REFUSED.includes(status)) return 'bad-message';
  // A redirect would lead past everything that the guard has checked; the operator has to enter the new address.
  if (NO_RECEIVER.includes(status) || (status >= 300 && status < 400)) return 'destination-dead';
  return 'unknown';
};

const redirectText = (location: string | undefined, address: string): string => {
  const target = location === undefined ? null : URL.parse(location, address);
  return target === null ? '' : `, a redirect to ${target.host}; redirects are not followed`;
};

const refusalOf = ({ status, headers }: PostResponse, address: string, nowMs: number): DeliveryError => {
  const waitMs = retryAfterMs(headers['retry-after'], nowMs);
  const detail = status >= 300 && status < 400 ? redirectText(headers.location, address) : '';
  return new DeliveryError(reasonOf(status), `${webLabel(address)} answered ${status}${detail}`, {
    code: String(status),
    maybeDelivered: PASSED_ON.includes(status),
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  });
};

/** Source: Standard Webhooks 1.0.0, "Verifying": HMAC-SHA256 of `id.timestamp.body` with the decoded secret. */
const signature = (secret: Secret, id: string, timestamp: string, body: string): string => {
  const key = Buffer.from(secret.reveal().replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
};

/** The secret of one address: entered for its URL, else for its host with or without port, else the common one. */
const secretFinder = ({ secret, secrets }: WebhookConfig): ((address: string) => Secret | undefined) => {
  const byName = new Map(
    Object.entries(secrets).map(([name, value]) => [webAddress(name) ?? name.toLowerCase(), value]),
  );
  return (address) => {
    const url = URL.parse(address);
    return byName.get(address) ?? byName.get(url?.host ?? '') ?? byName.get(url?.hostname ?? '') ?? secret;
  };
};

const signingText = ({ secret, secrets }: WebhookConfig): string => {
  if (secret !== undefined) return 'signs every webhook';
  const count = Object.keys(secrets).length;
  return count === 0
    ? 'sends webhooks unsigned: no secret is configured'
    : `signs for ${count} receivers, sends to all others unsigned: no common secret is configured`;
};

const create = (config: WebhookConfig, { post, now }: ChannelDependencies): Channel<string> => {
  const secretOf = secretFinder(config);
  return {
    kind: 'webhook',
    compose: composeWebhook,
    async send({ id, body, destination: { address } }, signal) {
      const timestamp = String(Math.floor(now() / 1000));
      const secret = secretOf(address);
      const response = await post({
        url: address,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'tocsin',
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          ...(secret === undefined ? {} : { 'webhook-signature': signature(secret, id, timestamp, body) }),
        },
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(config.timeout)]),
      });
      if (response.status < 200 || response.status > 299) throw refusalOf(response, address, now());
      return {};
    },
    // There is nobody to ask: each receiver is its own, and a probe would be a webhook that nobody expects.
    verify: async () => signingText(config),
    close: async () => {},
  };
};

const addressesOf = ({ contacts = [], url }: ChannelEntry): Addresses => {
  const named = [...(url === undefined ? [] : [url]), ...contacts].filter((text) => text.trim() !== '');
  if (named.length === 0) return { addresses: [], problems: ['the webhook entry has nothing to send to'] };
  const problems = named
    .filter((text) => webAddress(text) === undefined)
    .map((text) => `the webhook address ${quoteContact(text)} is no http or https URL`);
  return { addresses: [...new Set(named.map(webAddress).filter((address) => address !== undefined))], problems };
};

/** Webhooks, one signed JSON for each alert. */
export const webhook: ChannelModule<WebhookConfig> = { kind: 'webhook', addressesOf, labelOf: webLabel, create };
