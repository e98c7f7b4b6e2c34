import { createGuardedPost } from '../../src/channels/http.ts';
import { webhookConfig } from '../../src/channels/webhook/config.ts';
import { webhook } from '../../src/channels/webhook/module.ts';
import { createWebhookChannel } from '../../src/channels/webhook/transport.ts';
import { destinationOf } from '../support/alerts.ts';
import { type Answer, startHttpReceiver } from '../support/http-receiver.ts';
import type { Contestant } from './contestant.ts';

const KEY = Buffer.alloc(32, 'signing-key').toString('base64');
const PATHS = ['/in/q7Xw-secret-path?key=k3y', '/in/other-secret-path'] as const;
/** Half an hour after the clock below. */
const HTTP_DATE = 'Fri, 20 Nov 2026 10:30:00 GMT';
const NOW = Date.parse('2026-11-20T10:00:00.000Z');

const answer = (status: number, headers: Record<string, string> = {}): Answer => ({ status, headers, body: 'no' });

export const webhookContestant: Contestant<Answer> = {
  kind: 'webhook',
  forPeople: false,
  addressesOf: webhook.addressesOf,
  labelOf: webhook.labelOf,
  badEntries: [
    { name: 'webhook', url: 'not a url' },
    { name: 'webhook', url: 'ftp://files.example/x' },
    { name: 'webhook', url: 'javascript:alert(1)' },
    { name: 'webhook', contacts: ['ops@example.com', 'https://ok.example/hook'] },
    { name: 'webhook', contacts: ['file:///etc/passwd\r\n'] },
  ],
  async open({ timeoutMs }) {
    const receiver = await startHttpReceiver();
    const guard = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1'] });
    const config = { ...webhookConfig.parse({ secret: `whsec_${KEY}` }), timeout: timeoutMs };
    const channel = createWebhookChannel(config, { post: guard.post, now: () => NOW });
    const [first, second] = PATHS.map((path) => destinationOf('webhook', `${receiver.origin}${path}`));
    if (first === undefined || second === undefined) throw new Error('no destinations');
    return {
      channel: {
        ...channel,
        close: async () => {
          await channel.close();
          await guard.close();
        },
      },
      destinations: [first, second],
      secrets: [KEY, ...PATHS, 'secret-path', 'k3y'],
      script: receiver.script,
      arrivals: () => receiver.arrived.length,
      accepted: () => receiver.accepted.map(({ body }) => ({ text: body, active: [] })),
      stopProvider: receiver.close,
    };
  },
  refusals: [
    { says: '503', step: answer(503), reason: 'unavailable', code: '503', maybeDelivered: false },
    {
      says: '503 with a wait',
      step: answer(503, { 'retry-after': '120' }),
      reason: 'unavailable',
      retryAfterMs: 120_000,
    },
    { says: '504', step: answer(504), reason: 'unavailable', code: '504', maybeDelivered: true },
    { says: '429 with seconds', step: answer(429, { 'retry-after': '7' }), reason: 'rate-limited', retryAfterMs: 7000 },
    {
      says: '429 with a date',
      step: answer(429, { 'retry-after': HTTP_DATE }),
      reason: 'rate-limited',
      retryAfterMs: 1_800_000,
    },
    {
      says: '429 with a day',
      step: answer(429, { 'retry-after': '86400' }),
      reason: 'rate-limited',
      retryAfterMs: 3_600_000,
    },
    { says: '429 alone', step: answer(429), reason: 'rate-limited', code: '429' },
    { says: '413', step: answer(413), reason: 'bad-message', code: '413' },
    { says: '410', step: answer(410), reason: 'destination-dead', code: '410' },
    {
      says: '302',
      step: answer(302, { location: 'https://elsewhere.example/in/q7Xw-secret-path?key=k3y' }),
      reason: 'destination-dead',
      code: '302',
    },
    { says: '401', step: answer(401), reason: 'unknown', code: '401' },
    { says: '404', step: answer(404), reason: 'unknown', code: '404' },
    { says: 'a status nobody knows', step: answer(799), reason: 'unknown', code: '799' },
  ],
};
