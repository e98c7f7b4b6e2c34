/** The world of the bench `fair` behaves as its plays need it, and a play goes all the way. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { playLargeItem } from '../../bench/rows/fair/large-item.ts';
import { neighboursOf } from '../../bench/rows/fair/neighbours.ts';
import { overridesOf } from '../../bench/stage/crowd.ts';
import { createReceivers } from '../../bench/world/receivers.ts';

const startReceivers = async () => {
  const seen: string[] = [];
  const receivers = createReceivers({}, { onMessage: (kind) => seen.push(kind), now: Date.now });
  const server = createServer((request, response) => void receivers.take(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post = (path: string, signal?: AbortSignal) =>
    fetch(`${url}${path}`, { method: 'POST', body: '{}', ...(signal && { signal }) });
  return { receivers, seen, post };
};

test('one webhook is gone and one hangs, while others answer', async () => {
  const { seen, post } = await startReceivers();
  expect((await post('/hooks/1')).status).toBe(200);
  expect((await post('/hooks/gone/1')).status).toBe(410);
  expect(seen).toEqual(['webhook']);
  const giveUp = new AbortController();
  const hanging = post('/hooks/hanging/1', giveUp.signal);
  await expect.poll(() => seen).toEqual(['webhook', 'webhook']);
  giveUp.abort();
  await expect(hanging).rejects.toThrow('abort');
});

test('a flooded bot is told when to come again; webhooks are not', async () => {
  const { receivers, seen, post } = await startReceivers();
  receivers.answer('flooded');
  const refused = await post('/bot1:x/sendMessage');
  expect([refused.status, await refused.json()]).toEqual([
    429,
    expect.objectContaining({ parameters: { retry_after: expect.any(Number) } }),
  ]);
  expect((await post('/hooks/1')).status).toBe(200);
  receivers.answer('ok');
  expect((await post('/bot1:x/sendDocument')).status).toBe(200);
  expect(seen).toEqual(['webhook', 'telegram']);
});

test('crowds are channels of their protocols, and those with one number are one destination', () => {
  const crowds = [
    [
      { kind: 'webhook', count: 2, from: 0, manner: 'hanging' },
      { kind: 'email', count: 1, from: 7 },
    ],
    [{ kind: 'email', count: 1, from: 7 }],
  ] as const;
  const mail = { name: 'email', contacts: ['oncall-7@example.com'] };
  expect(overridesOf(crowds, 'http://x')).toEqual({
    'Protocol 0': {
      channels: [{ name: 'webhook', contacts: ['http://x/hooks/hanging/0', 'http://x/hooks/hanging/1'] }, mail],
    },
    'Protocol 1': { channels: [mail] },
  });
});

test('a quick neighbour has a tenth of the destinations', () => {
  const sizes = (quick: boolean) => neighboursOf(quick).map(({ busy }) => Math.max(...busy.map(({ count }) => count)));
  expect(sizes(false)).toEqual([500, 3000, 5000, 1, 200]);
  expect(sizes(true)).toEqual([50, 300, 500, 1, 30]);
});

test('a play goes all the way', async () => {
  const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
  const rows = await playLargeItem({ program, quick: true, repeat: 1, alerts: 1, minutes: 1, say: () => {} });
  expect(rows.map(({ key, measured }) => [key, measured])).toEqual([
    ['large-item-restarts', 0],
    ['large-item-received', 10],
  ]);
});
