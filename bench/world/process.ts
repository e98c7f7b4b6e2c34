/** The world's own process: the service and the receivers, so that one clock has both ends. Ends with its parent. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelKind } from '../../src/alert.ts';
import type { ChannelEntry } from '../../src/item.ts';
import { createReceivers } from './receivers.ts';
import { createService } from './service.ts';
import { createTally } from './tally.ts';
import type { Order, WorldMessage, WorldSettings } from './world.ts';

const settings = JSON.parse(process.argv[2] ?? '') as WorldSettings;
/** Epoch milliseconds with their fractions, and never set back. */
const now = (): number => performance.timeOrigin + performance.now();
const portOf = (server: Pick<Server, 'address'>): number => (server.address() as AddressInfo).port;
const tell = (message: WorldMessage): void => {
  process.send?.(message);
};

const channelOf = (name: ChannelKind, n: number): ChannelEntry => {
  switch (name) {
    case 'webhook':
      return { name, url: `http://127.0.0.1:${portOf(server)}/hooks/${n}` };
    case 'slack':
      return { name, contacts: [`C0BENCH${String(n).padStart(4, '0')}`] };
    case 'telegram':
      return { name, contacts: [String(100_000 + n)] };
    case 'email':
      return { name, contacts: [`oncall-${n}@example.com`] };
  }
};

/** Each protocol has destinations of its own: of every kind, or of one, the kinds in turn. */
const channelsOf = (n: number): ChannelEntry[] => {
  const { kinds, each } = settings;
  const own = each === 'all' ? kinds : [kinds[n % kinds.length] ?? 'webhook'];
  return own.map((name) => channelOf(name, n));
};

const service = createService(settings, channelsOf, now);
const tally = createTally(service);
const receivers = createReceivers(settings, { onMessage: tally.note, now });
const server = createServer((request, response) => {
  if (request.method === 'POST') void receivers.take(request, response).catch(() => response.destroy());
  else service.answer(request.url ?? '', response);
});

/** Evenly over time and over the protocols. */
const write = async ({ perSecond, count }: Extract<Order, { kind: 'write' }>): Promise<void> => {
  const begunAt = now();
  for (let n = 0; n < count; n += 1) {
    await sleep(Math.max(0, begunAt + (n * 1000) / perSecond - now()));
    service.write(n % settings.protocols);
  }
};

process.on('message', (order: Order) => {
  switch (order.kind) {
    case 'write':
      return void write(order);
    case 'store':
      return service.store(order);
    case 'answer':
      return receivers.answer(order.how);
    case 'reset':
      return tally.reset();
    case 'tally':
      return tell({ kind: 'tally', told: service.told(), ...tally.read() });
    case 'report':
      return tell({ kind: 'report', written: service.written(), ...service.asked(), arrivals: tally.take() });
  }
});
process.on('disconnect', () => process.exit(0));

server.listen(0, '127.0.0.1');
receivers.smtp.listen(0, '127.0.0.1');
await Promise.all([once(server, 'listening'), once(receivers.smtp.server, 'listening')]);
tell({ kind: 'listening', port: portOf(server), smtpPort: portOf(receivers.smtp.server) });
