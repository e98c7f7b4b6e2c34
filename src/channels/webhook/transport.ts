/** Webhooks in the format of each receiver, signed by Standard Webhooks 1.0.0, through the guard. */
import { proxyHost } from '../../connection/proxy-variables.ts';
import { createConnections, settingsIn } from '../../connection/settings.ts';
import { reachProxy } from '../../connection/tunnel.ts';
import { DeliveryError } from '../../errors.ts';
import { listText } from '../../text.ts';
import type { Channel, ChannelDependencies, CreateChannel, Message, Receipt } from '../channel.ts';
import { networkFailure } from '../failures.ts';
import type { WebhookConfig } from './config.ts';
import type { WebhookBody, WebhookRequest } from './formats/format.ts';
import { formatOf } from './formats/registry.ts';
import {
  createNamedSecretFinder,
  createSecretFinder,
  createSettingsFinder,
  type ReceiverSettings,
  SECTION,
  shownName,
} from './receiver-settings.ts';
import { signatures, signingKey } from './signature.ts';
import { refusalOf } from './verdicts.ts';

const CONNECT_TIMEOUT_MS = 10_000;

const signingText = ({ secret, secrets, deriveSecrets }: WebhookConfig): string => {
  if (secret !== undefined) return `signs every webhook${deriveSecrets ? ', each URL with a secret of its own' : ''}`;
  const count = Object.keys(secrets).length;
  return count === 0
    ? 'sends webhooks unsigned: no secret is configured'
    : `signs for ${count} receivers, sends to all others unsigned: no common secret is configured`;
};

/** Receivers that get another format than `standard`, with it. */
const formatsText = ({ receivers }: WebhookConfig): string => {
  const others = Object.entries(receivers).filter(([, { format }]) => format !== 'standard');
  const named = listText(others.map(([name, { format }]) => `${shownName(name)} as ${format}`));
  return others.length === 0 ? '' : `; sends to ${named}`;
};

/** An id that can be a part of a path. */
const IN_PATH = /^\w+$/;

const createRequests = (
  config: WebhookConfig,
  settingsFor: (address: string) => ReceiverSettings,
  { post, now }: Pick<ChannelDependencies, 'post' | 'now'>,
) => {
  const keysOf = createSecretFinder(config, signingKey);
  const namedKeysOf = createNamedSecretFinder(config, signingKey);

  const request = async (
    { id, destination: { address } }: Message<WebhookBody>,
    part: WebhookRequest,
    signal: AbortSignal,
  ): Promise<Receipt> => {
    const { format, headers, credentials, connectionTo } = settingsFor(address);
    const module = formatOf(format);
    const completed = module.complete?.(part, { address, credentials }) ?? {};
    const { url = address, text = part.text, headers: own = {} } = completed;
    const keys = module.isSigned ? keysOf(address) : namedKeysOf(address);
    const timestamp = String(Math.floor(now() / 1000));
    const response = await post({
      url,
      ...(part.method !== undefined && { method: part.method }),
      headers: {
        'user-agent': 'tocsin',
        ...headers,
        'content-type': module.contentType,
        ...own,
        ...((keys.length > 0 || module.isSigned) && { 'webhook-id': id, 'webhook-timestamp': timestamp }),
        ...(keys.length > 0 && { 'webhook-signature': signatures(keys, { id, timestamp, body: text }) }),
      },
      body: text,
      signal,
      connection: connectionTo(address),
    });
    if (response.status < 200 || response.status > 299) {
      throw refusalOf(response, { ...module, address, isSigned: keys.length > 0, nowMs: now() });
    }
    const providerId = module.idIn?.(response);
    if (providerId === undefined) return {};
    const canBeAmended = module.amending !== undefined && IN_PATH.test(providerId);
    return { providerId, ...(canBeAmended ? { handle: providerId } : {}) };
  };

  return {
    /** One request; where the message has more, the receipt says which is next. */
    send: async (message: Message<WebhookBody>, signal: AbortSignal): Promise<Receipt> => {
      const index = Number(message.progress ?? 0);
      const part = message.body[index];
      if (part === undefined) return { isUnsent: true };
      const receipt = await request(message, part, signal);
      return { ...receipt, ...(index + 1 < message.body.length ? { progress: String(index + 1) } : {}) };
    },
    amend: async (handle: string, message: Message<WebhookBody>, signal: AbortSignal): Promise<Receipt> => {
      const { amending } = formatOf(settingsFor(message.destination.address).format);
      const [part, ...others] = message.body;
      if (amending === undefined || part === undefined || others.length > 0)
        throw new DeliveryError('bad-message', 'the receiver cannot change a message', { code: 'not_amended' });
      return request(message, amending(part, handle), signal);
    },
  };
};

export const createWebhookChannel: CreateChannel<WebhookConfig> = (
  config,
  { post, now, proxyFor },
): Channel<WebhookBody> => {
  const settingsFor = createSettingsFinder(config, proxyFor);
  return {
    kind: 'webhook',
    compose: (parcel, context) =>
      formatOf(settingsFor(parcel.destination.address).format).compose(parcel, context, config),
    readerAt: (address) => formatOf(settingsFor(address).format).reader ?? 'programs',
    givesHandle: (address) => formatOf(settingsFor(address).format).amending !== undefined,
    ...createRequests(config, settingsFor, { post, now }),
    // Receivers have nothing in common but the proxy, and none of them expects a probe.
    verify: async () => {
      const { proxy } = config;
      const text = `${signingText(config)}${formatsText(config)}`;
      if (proxy === undefined) return text;
      const connection = createConnections(settingsIn(config), { section: SECTION })('');
      await reachProxy(connection, Math.min(CONNECT_TIMEOUT_MS, config.timeout)).catch((error: unknown) => {
        throw networkFailure(error, 'the proxy', false, connection.names);
      });
      return `${text}; goes through the proxy ${proxyHost(proxy)}`;
    },
    close: async () => {},
  };
};
