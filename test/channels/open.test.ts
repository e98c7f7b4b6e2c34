import { expect, onTestFinished, test } from 'vitest';
import { openConfiguredChannels } from '../../src/channels/open.ts';
import { parseConfig } from '../../src/config/load.ts';
import { messageOf } from '../../src/errors.ts';
import { startProxy } from '../support/proxy.ts';

test('what is no channel goes through the proxy of all webhooks, or that of the variables', async () => {
  const proxy = await startProxy();
  onTestFinished(proxy.close);
  proxy.refuse(407, 407);
  const ask = async (own: object, environment: Record<string, string>): Promise<string> => {
    const services = [{ name: 'main', baseUrl: 'https://monitor.example', apiKey: 'key' }];
    const webhook = { allowNetworks: ['beat.example'], ...own };
    const config = parseConfig(JSON.stringify({ services, channels: { webhook } }), 'tocsin.yaml', environment);
    const { post, close } = await openConfiguredChannels(config, Date.now);
    const request = { url: 'https://beat.example/x', headers: {}, body: '', signal: AbortSignal.timeout(10_000) };
    return post(request)
      .then(() => 'answered', messageOf)
      .finally(close);
  };
  expect(await ask({ proxy: proxy.origin }, {})).toContain('channels.webhook.proxy');
  expect(await ask({}, { HTTPS_PROXY: proxy.origin })).toContain('HTTPS_PROXY');
  expect(proxy.asked).toEqual(['beat.example:443', 'beat.example:443']);
});
