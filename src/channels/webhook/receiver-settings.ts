/** How each receiver is reached: its format, its credentials and headers, and connections with its own settings. */
import type { ProxyFor } from '../../connection/proxy-variables.ts';
import { type ConnectionTo, createConnections, settingsIn } from '../../connection/settings.ts';
import { webLabel } from '../address.ts';
import type { ReceiverConfig, WebhookConfig } from './config.ts';
import type { Credentials } from './formats/format.ts';
import type { WebhookFormat } from './formats/names.ts';
import { createReceiverFinder } from './receivers.ts';

export interface ReceiverSettings {
  format: WebhookFormat;
  credentials: Credentials;
  headers: Record<string, string>;
  connectionTo: ConnectionTo;
}

export const SECTION = 'channels.webhook';

/** Without what may be secret in a URL. */
export const shownName = (name: string): string => (name.includes('://') ? webLabel(name) : name);

const mapEntries = <A, B>(entries: Readonly<Record<string, A>>, change: (key: string, value: A) => B) =>
  Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, change(key, value)]));

const headersOf = ({ headers, basicAuth }: ReceiverConfig): Record<string, string> => {
  const own = mapEntries(headers, (_name, value) => value.reveal());
  if (basicAuth === undefined) return own;
  const pair = `${basicAuth.user}:${basicAuth.pass.reveal()}`;
  return { ...own, authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
};

const credentialsOf = ({ routingKey, apiKey }: ReceiverConfig): Credentials => ({
  ...(routingKey === undefined ? {} : { routingKey }),
  ...(apiKey === undefined ? {} : { apiKey }),
});

/** A receiver's own settings count before those of all webhooks; its `ca` is meant instead of the well-known ones. */
export const createSettingsFinder = (
  config: WebhookConfig,
  proxyFor: ProxyFor = () => undefined,
): ((address: string) => ReceiverSettings) => {
  const { proxy, ...tls } = settingsIn(config);
  const usualProxy: ProxyFor = proxy === undefined ? proxyFor : () => ({ url: proxy, key: `${SECTION}.proxy` });
  const connectionTo = createConnections(tls, { section: SECTION }, usualProxy);
  const usual: ReceiverSettings = { format: 'standard', credentials: {}, headers: {}, connectionTo };
  const ownOf = (name: string, receiver: ReceiverConfig): ReceiverSettings => {
    const { ca, ...settings } = settingsIn(receiver);
    const section = `${SECTION}.receivers.${shownName(name)}`;
    const alone = ca === undefined ? {} : { ca, onlyCa: true, ...(tls.ca !== undefined && { proxyCa: tls.ca }) };
    return {
      format: receiver.format,
      credentials: credentialsOf(receiver),
      headers: headersOf(receiver),
      connectionTo: createConnections({ ...tls, ...settings, ...alone }, { section }, usualProxy),
    };
  };
  const find = createReceiverFinder(mapEntries(config.receivers, ownOf));
  return (address) => find(address) ?? usual;
};
