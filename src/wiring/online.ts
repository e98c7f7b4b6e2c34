/** `check --online`: asks everything the config names whether it answers, without starting or sending anything. */
import type { Config } from '../config/schema.ts';
import { messageOf } from '../errors.ts';
import { checkRedis } from '../queue/check.ts';
import { openConfiguredChannels } from './channels.ts';
import { openServices } from './poll.ts';
import { openNamedRedis } from './redis.ts';

export interface OnlineFinding {
  /** `service NAME`, `redis` or `channel KIND`. */
  subject: string;
  ok: boolean;
  detail: string;
}

const TIMEOUT_MS = 15_000;

const ask = async (subject: string, question: (signal: AbortSignal) => Promise<string>, signal: AbortSignal) => {
  try {
    const detail = await question(AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
    return { subject, ok: true, detail };
  } catch (error) {
    return { subject, ok: false, detail: messageOf(error) };
  }
};

const askServices = async (config: Config, signal: AbortSignal): Promise<OnlineFinding[]> => {
  const services = [...openServices(config, Date.now)];
  const findings = await Promise.all(
    services.map(([name, { client }]) =>
      ask(
        `service ${name}`,
        async (each) => {
          const { items } = await client.listProtocols({ pageSize: 1, hideAssets: true }, each);
          return items.length === 0 ? 'answers, but lists no protocol' : 'answers and lists protocols';
        },
        signal,
      ),
    ),
  );
  await Promise.all(services.map(([, { client }]) => client.close()));
  return findings;
};

const askRedis = async (config: Config): Promise<OnlineFinding[]> => {
  const opened = openNamedRedis(config, 'check', () => {});
  if (!opened) return [];
  const findings = await checkRedis(opened.redis);
  await opened.close();
  if (findings.length === 0) return [{ subject: 'redis', ok: true, detail: 'answers and keeps what it is given' }];
  return findings.map(({ message }) => ({ subject: 'redis', ok: false, detail: message }));
};

const askChannels = async (config: Config, signal: AbortSignal): Promise<OnlineFinding[]> => {
  const { channels, close } = openConfiguredChannels(config, Date.now);
  const findings = await Promise.all(
    channels.map((channel) => ask(`channel ${channel.kind}`, (each) => channel.verify(each), signal)),
  );
  await close();
  return findings;
};

export const askEverything = async (config: Config, signal: AbortSignal): Promise<OnlineFinding[]> =>
  (await Promise.all([askServices(config, signal), askRedis(config), askChannels(config, signal)])).flat();
