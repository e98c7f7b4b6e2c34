/** Opens the channels that the config sets up. */
import { createProxyFor, type ProxyVariables } from '../connection/proxy-variables.ts';
import { createGuardedPost } from './http.ts';
import { type ChannelConfigs, openChannels } from './registry.ts';

/** All kinds share one guard for addresses from outside; its rules are in `channels.webhook`. */
export const openConfiguredChannels = async (
  config: { channels: ChannelConfigs; proxyVariables?: ProxyVariables },
  now: () => number,
) => {
  const { allowHttp = false, allowNetworks = [] } = config.channels.webhook ?? {};
  const guard = createGuardedPost({ allowHttp, allowNetworks });
  const channels = await openChannels(config.channels, {
    post: guard.post,
    proxyFor: createProxyFor(config.proxyVariables),
    now,
  });
  return {
    channels,
    judge: guard.judge,
    /** For what is no channel and has an address from outside. */
    post: guard.post,
    close: async () => {
      await Promise.all(channels.map((channel) => channel.close()));
      await guard.close();
    },
  };
};
