/** The demo's account of what happens at both ends: what the service produced, what arrived where, and how long it took. */
import type { ProducedEvent, ReceivedEvent, SandboxEvent } from '../sandbox/events.ts';
import type { SandboxAddresses } from '../sandbox/sandbox.ts';
import type { CommandContext } from './context.ts';

export interface Account {
  opening(addresses: SandboxAddresses, opsUrl: string): void;
  tell(event: SandboxEvent): void;
  closing(): void;
}

const KINDS = ['email', 'telegram', 'slack', 'webhook'] as const;
const COLOURS = { dim: '2', red: '31', green: '32', yellow: '33' } as const;
/** Items are remembered until they are surely delivered; a demo may run for days. */
const REMEMBERED = 2000;

const clock = (at: number): string => new Date(at).toISOString().slice(11, 23);
const short = (hash: string): string => `${hash.slice(0, 10)}…${hash.slice(-6)}`;
const plain = (text: string): string =>
  text
    .replace(/\p{C}+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
const clip = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`);

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

export const createAccount = ({ write, isTty }: Pick<CommandContext, 'write' | 'isTty'>): Account => {
  const produced = new Map<string, ProducedEvent>();
  const latencies = new Map<string, number[]>(KINDS.map((kind) => [kind, []]));
  const counts = { inspections: 0, alerts: 0 };
  let begun = 0;
  let complete = false;

  const paint = (colour: keyof typeof COLOURS, text: string): string =>
    isTty ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;
  const line = (at: number, who: string, text: string): void => write(`${clock(at)}  ${who.padEnd(9)} ${text}\n`);

  const remember = (event: ProducedEvent): void => {
    for (const key of [event.txHash, event.id]) if (key !== undefined && !produced.has(key)) produced.set(key, event);
    for (const key of produced.keys()) {
      if (produced.size <= REMEMBERED) break;
      produced.delete(key);
    }
  };

  const tellProduced = (event: ProducedEvent): void => {
    counts.inspections += event.source === 'inspections' ? 1 : 0;
    if (event.source === 'inspections' && event.assessment !== 'critical') return;
    counts.alerts += 1;
    remember(event);
    const what = event.source === 'notifications' ? 'notification' : 'critical';
    const subject = event.message === undefined ? short(event.txHash ?? event.id) : clip(plain(event.message), 60);
    line(event.at, 'service', `${paint('red', what.padEnd(12))} ${clip(plain(event.protocol), 30)}: ${subject}`);
  };

  const originOf = ({ ids, txHashes, text }: ReceivedEvent): ProducedEvent | undefined => {
    const byMessage = [...produced.values()].find(({ message }) => message !== undefined && text.includes(message));
    const key = [...ids, ...txHashes].find((candidate) => produced.has(candidate));
    return byMessage ?? (key === undefined ? undefined : produced.get(key));
  };

  const tellReceived = (event: ReceivedEvent): void => {
    const origin = originOf(event);
    const latencyMs = origin && Math.max(0, event.at - origin.at);
    if (latencyMs !== undefined) latencies.get(event.kind)?.push(latencyMs);
    const took = latencyMs === undefined ? '' : `after ${(latencyMs / 1000).toFixed(1)} s`;
    const subject = origin?.txHash ?? event.txHashes[0];
    const about = subject === undefined ? '' : ` ${short(subject)}`;
    line(
      event.at,
      event.kind,
      `${paint('green', 'delivered')}    ${clip(event.destination, 44)}${about} ${paint('dim', took)}`,
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
          '  Only criticals and stored notifications are shown. Ctrl-C ends it.',
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
      write(
        `\n${counts.inspections} inspections produced, ${counts.alerts} of them or of the notifications to be told.\n`,
      );
      for (const kind of KINDS) {
        const sorted = (latencies.get(kind) ?? []).toSorted((a, b) => a - b);
        const half = (quantile(sorted, 0.5) / 1000).toFixed(1);
        const most = (quantile(sorted, 0.99) / 1000).toFixed(1);
        write(
          `  ${kind.padEnd(9)} ${String(sorted.length).padStart(5)} delivered, latency p50 ${half} s, p99 ${most} s\n`,
        );
      }
    },
  };
};
