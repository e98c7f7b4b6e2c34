/** History over the sandbox's service: the alerts of a period, as the daemon would have found them. */
import { expect, onTestFinished, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { type HistoryProtocol, openHistory } from '../../../src/features/replay/history.ts';
import { read } from '../../config/samples.ts';
import { API_KEY, startService } from '../../sandbox/client.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const setUp = async (options: Parameters<typeof startService>[0] = {}) => {
  const { service, url } = await startService(options);
  const config = read(
    `services: [{ name: main, baseUrl: "${url}", apiKey: "${API_KEY}" }]\nchannels: { webhook: {} }\nprotocols: { exclude: ["Secret *"] }\n`,
  );
  const history = openHistory(config, new AbortController().signal);
  onTestFinished(() => history.close());
  const critical = (protocol: string, minutesAgo: number, assessment = 'critical') =>
    service.insertInspection({ protocol, assessment, createdAt: service.now() - minutesAgo * MINUTE_MS });
  const alertsOf = async (protocols: readonly HistoryProtocol[], since: number, until: number) => {
    const found: Alert[] = [];
    const unread = await history.read(protocols, {
      period: { since, until },
      onAlerts: async (_protocol, alerts) => void found.push(...alerts),
    });
    return { found, unread };
  };
  return { service, history, critical, alertsOf };
};

test('gives what was written in the period, each once and as alerts of the daemon', async () => {
  const { service, history, critical, alertsOf } = await setUp();
  critical('Vault', 180);
  const [, inside] = [critical('Vault', 90, 'ok'), critical('Vault', 90)];
  critical('Vault', 1);
  const now = service.now();
  const { found, unread } = await alertsOf(await history.protocols('Vault'), now - 2 * HOUR_MS, now - HOUR_MS);
  expect(found).toMatchObject([
    { type: 'inspection.critical', protocol: 'Vault', service: 'main', itemId: String(inside._id), replay: false },
  ]);
  expect(unread).toEqual([]);
});

test('names only protocols that the config includes, and says so where there is none', async () => {
  const { history } = await setUp({
    apiKeys: [{ apiKey: API_KEY, protocols: [{ name: 'Vault' }, { name: 'Secret Vault' }] }],
  });
  expect((await history.protocols()).map(({ service, name }) => `${service} ${name}`)).toEqual(['main Vault']);
  await expect(history.protocols('Secret Vault')).rejects.toThrow(
    "no service lists a protocol 'Secret Vault' that the config includes",
  );
});

test('a protocol that the service does not give is named, and the others are read', async () => {
  const { service, history, critical, alertsOf } = await setUp();
  critical('Vault', 5);
  const [vault] = await history.protocols('Vault');
  if (!vault) throw new Error('the sandbox lists no Vault');
  const now = service.now();
  const { found, unread } = await alertsOf([{ ...vault, name: 'Gone' }, vault], now - HOUR_MS, now + 1);
  expect(found.map(({ protocol }) => protocol)).toEqual(['Vault']);
  expect(unread.every(({ protocol, problem }) => protocol === 'Gone' && problem.length > 0)).toBe(true);
});
