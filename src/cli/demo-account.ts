/** The demo's account of what happens at both ends: what the service produced, what arrived where, and how long it took. */
import type { ProducedEvent, ReceivedEvent, SandboxEvent } from '../sandbox/events.ts';
import type { SandboxAddresses } from '../sandbox/sandbox.ts';
import { cleanLine, shorten, shortenMiddle } from '../text.ts';
import { clock } from '../time.ts';
import type { CommandContext } from './context.ts';
import { createDemoSums } from './demo-sums.ts';

export interface Account {
  opening(addresses: SandboxAddresses, opsUrl: string): void;
  tell(event: SandboxEvent): void;
  closing(): void;
}

const KINDS = ['email', 'telegram', 'slack', 'webhook'] as const;
const COLOURS = { dim: '2', red: '31', green: '32', yellow: '33' } as const;

const timeOfDay = (at: number): string => clock(at, 'milliseconds').slice(11);
const short = (hash: string): string => shortenMiddle(hash, { head: 10, tail: 6 });

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

export const createAccount = ({ write, isTty }: Pick<CommandContext, 'write' | 'isTty'>): Account => {
  const latencies = new Map<string, number[]>(KINDS.map((kind) => [kind, []]));
  const sums = createDemoSums(KINDS);
  let inspections = 0;
  let begun = 0;
  let complete = false;

  const paint = (colour: keyof typeof COLOURS, text: string): string =>
    isTty ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;
  const line = (at: number, who: string, text: string): void => write(`${timeOfDay(at)}  ${who.padEnd(9)} ${text}\n`);

  const tellProduced = (event: ProducedEvent): void => {
    inspections += event.source === 'inspections' ? 1 : 0;
    if (event.source === 'inspections' && event.assessment !== 'critical') return;
    sums.produced(event);
    const what = event.source === 'notifications' ? 'notification' : 'critical';
    const subject =
      event.message === undefined ? short(event.txHash ?? event.id) : shorten(cleanLine(event.message), 60);
    line(event.at, 'service', `${paint('red', what.padEnd(12))} ${shorten(cleanLine(event.protocol), 30)}: ${subject}`);
  };

  const tellReceived = (event: ReceivedEvent): void => {
    const origin = sums.received(event);
    const latencyMs = origin && Math.max(0, event.at - origin.at);
    if (latencyMs !== undefined) latencies.get(event.kind)?.push(latencyMs);
    const took = latencyMs === undefined ? '' : `after ${(latencyMs / 1000).toFixed(1)} s`;
    const subject = origin?.txHash ?? event.txHashes[0];
    const about = subject === undefined ? '' : ` ${short(subject)}`;
    line(
      event.at,
      event.kind,
      `${paint('green', 'delivered')}    ${shorten(event.destination, 44)}${about} ${paint('dim', took)}`,
    );
    if (complete || [...latencies.values()].some((each) => each.length === 0)) return;
    complete = true;
    line(
      event.at,
      'demo',
      `delivered on all four channel kinds, ${((event.at - begun) / 1000).toFixed(1)} s after the start`,
    );
  };

  return {
    opening: ({ service, webhook }, opsUrl) => {
      begun = Date.now();
      write(
        [
          'Tocsin demo: a fake monitoring service and fake receivers of every kind, a private Redis, and the real daemon between.',
          `  status page   ${opsUrl}/`,
          `  metrics       ${opsUrl}/metrics   health ${opsUrl}/livez ${opsUrl}/readyz`,
          `  service       ${service.url}   webhooks end at ${webhook.url}`,
          '  Only criticals and stored notifications are shown; a notification of a critical is told with it. Ctrl-C ends it.',
          '',
          '',
        ].join('\n'),
      );
    },
    tell: (event) => {
      if (event.type === 'produced') tellProduced(event);
      else tellReceived(event);
    },
    closing: () => {
      const { alerts, delivered, withInspection } = sums.sums();
      const along = withInspection === 0 ? '' : `, ${withInspection} of them notifications told with their inspection`;
      write(`\n${inspections} inspections produced. `);
      write(`${alerts} alerts: ${delivered} delivered on every kind${along}; ${alerts - delivered} waiting.\n`);
      for (const kind of KINDS) {
        const sorted = (latencies.get(kind) ?? []).toSorted((a, b) => a - b);
        const half = (quantile(sorted, 0.5) / 1000).toFixed(1);
        const most = (quantile(sorted, 0.99) / 1000).toFixed(1);
        write(
          `  ${kind.padEnd(9)} ${String(sorted.length).padStart(5)} messages, latency p50 ${half} s, p99 ${most} s\n`,
        );
      }
    },
  };
};
