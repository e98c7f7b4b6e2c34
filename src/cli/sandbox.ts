/** `tocsin sandbox`: the fake world alone, for a daemon that is started by hand or in another container. */

import { UsageError } from '../errors.ts';
import { cannotListen } from '../ops/listener.ts';
import type { ReceiverPorts } from '../sandbox/receivers/receivers.ts';
import { CRITICAL, createSandbox, type SandboxAddresses } from '../sandbox/sandbox.ts';
import { type Action, answer, EXIT, untilAborted } from './context.ts';

/** What config/demo.yaml asks for, filled in with a sandbox's addresses. */
export const sandboxEnvironment = ({ service, slack, telegram, smtp, webhook }: SandboxAddresses) => ({
  TOCSIN_SANDBOX_SERVICE: service.url,
  TOCSIN_SANDBOX_KEY: service.apiKey,
  TOCSIN_SANDBOX_SMTP_HOST: smtp.host,
  TOCSIN_SANDBOX_SMTP_PORT: String(smtp.port),
  TOCSIN_SANDBOX_TELEGRAM: telegram.apiRoot,
  TOCSIN_SANDBOX_TELEGRAM_TOKEN: telegram.botToken,
  TOCSIN_SANDBOX_SLACK: slack.apiUrl,
  TOCSIN_SANDBOX_SLACK_TOKEN: slack.botToken,
  WEBHOOK_SECRET: webhook.secret,
});

interface SandboxOptions {
  host: string;
  publicHost?: string;
  port: string;
  seed?: string;
  quiet?: boolean;
}

const TRAFFIC_EVERY_MS = 1000;
const LAST_PORT = 65_535;
/** Behind the port of the service. */
const PORTS = { slack: 1, telegram: 2, smtp: 3, webhook: 4 } satisfies Record<keyof ReceiverPorts, number>;
const MOST = Math.max(...Object.values(PORTS));

const portsFrom = (text: string) => {
  const first = Number(text);
  if (!/^\d+$/.test(text) || first < 0 || first + MOST > LAST_PORT) {
    throw new UsageError(`--port must be a whole number up to ${LAST_PORT - MOST} (got '${text}')`);
  }
  if (first === 0) return {};
  return { service: first, ...Object.fromEntries(Object.entries(PORTS).map(([name, next]) => [name, first + next])) };
};

const cannotStart = (error: NodeJS.ErrnoException & { address?: string; port?: number }): never => {
  throw error.syscall === 'listen' ? cannotListen('--port', `${error.address}:${error.port}`, error) : error;
};

const ready = ({ service }: SandboxAddresses): string =>
  `The sandbox runs until Ctrl-C. Export these variables in another terminal, and TOCSIN_DATA_DIR, a directory for the\nqueue. Then add --config config/demo.yaml to other commands. For a critical now: curl -X POST ${new URL(CRITICAL, service.url)}\n`;

export const sandbox: Action<SandboxOptions> = async (options, context) => {
  const { host, publicHost, seed } = options;
  const world = createSandbox({
    host,
    ports: portsFrom(options.port),
    ...(publicHost === undefined ? {} : { publicHost }),
    ...(seed === undefined ? {} : { seed }),
  });
  try {
    const addresses = await world.start().catch(cannotStart);
    const environment = sandboxEnvironment(addresses);
    const lines = Object.entries(environment).map(([name, value]) => `${name}=${value}\n`);
    answer(context, options, { addresses, environment }, () => lines.join(''));
    if (options.quiet !== true) world.startTraffic({ everyMs: TRAFFIC_EVERY_MS });
    if (options.json !== true) context.warn(ready(addresses));
    await untilAborted(context.signal);
    return EXIT.done;
  } finally {
    await world.stop();
  }
};
