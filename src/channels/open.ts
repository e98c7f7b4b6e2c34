/** Opens the channels that the config sets up. */
import { createProxyFor, type ProxyVariables } from '../connection/proxy-variables.ts';
import { createConnections, settingsIn } from '../connection/settings.ts';
import { createGuardedPost, type GuardedPost } from './http.ts';
import { type ChannelConfigs, openChannels } from './registry.ts';

/** All kinds share one guard for addresses from outside; its rules are in `channels.webhook`. */
export const openConfiguredChannels = async (
  config: { channels: ChannelConfigs; proxyVariables?: ProxyVariables },
  now: () => number,
) => {
  const { webhook } = config.channels;
  const { allowHttp = false, allowNetworks = [], denyNetworks } = webhook ?? {};
  const guard = createGuardedPost({ allowHttp, allowNetworks, denyNetworks });
  const proxyFor = createProxyFor(config.proxyVariables);
  const channels = await openChannels(config.channels, { post: guard.post, proxyFor, now });
  const connectionTo = createConnections(settingsIn(webhook ?? {}), { section: 'channels.webhook' }, proxyFor);
  return {
    channels,
    judge: guard.judge,
    /** For what is no channel and has an address from outside: certificates and proxy are those of all webhooks. */
    post: ((request) => guard.post({ connection: connectionTo(request.url), ...request })) satisfies GuardedPost,
    close: async () => {
      await Promise.all(channels.map((channel) => channel.close()));
      await guard.close();
    },
  };
};
