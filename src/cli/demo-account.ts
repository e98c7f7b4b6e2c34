/** The demo's account of what happens at both ends: what the service produced, what arrived where, and how long it took. */
import type { ProducedEvent, ReceivedEvent, SandboxEvent } from '../sandbox/events.ts';
import type { SandboxAddresses } from '../sandbox/sandbox.ts';
import { cleanLine, counted, shorten, shortenMiddle } from '../text.ts';
import { clock } from '../time.ts';
import type { CommandContext } from './context.ts';
import { isOnStage, sceneOf } from './demo-scenes.ts';
import { createDemoSums } from './demo-sums.ts';
import { indented } from './table.ts';

export interface Account {
  opening(addresses: SandboxAddresses, opsUrl: string): void;
  print(event: SandboxEvent): void;
  /** A sentence about what happens next. */
  tell(text: string): void;
  closing(): void;
}

const KINDS = ['email', 'telegram', 'slack', 'webhook'] as const;
const COLOURS = { dim: '2', red: '31', green: '32', yellow: '33' } as const;

const timeOfDay = (at: number): string => clock(at, 'milliseconds').slice(11);
const short = (hash: string): string => shortenMiddle(hash, { head: 10, tail: 6 });

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const WHOLE_LINES = 20;

/** Lines of a message, made safe to show. */
const wholeText = (text: string): string[] => {
  const lines = indented(text).map((line) => line.trim());
  return lines.length <= WHOLE_LINES ? lines : [...lines.slice(0, WHOLE_LINES), '...'];
};

type Paint = (colour: keyof typeof COLOURS, text: string) => string;

const openingText = ({ service, webhook }: SandboxAddresses, opsUrl: string): string =>
  [
    `  status page   ${opsUrl}/`,
    `  metrics       ${opsUrl}/metrics   health ${opsUrl}/livez ${opsUrl}/readyz`,
    `  service       ${service.url}   webhooks end at ${webhook.url}`,
    '  Lines of `service` say what the service found: critical inspections, and notifications that it stores. The others',
    '  say what arrived where. A notification about an inspection that was sent is not sent as well. Some names and texts',
    '  are odd on purpose: they are text from outside, and must not break a message.',
    '',
    '',
  ].join('\n');

const producedText = ({ source, txHash, id, message, protocol }: ProducedEvent, paint: Paint): string => {
  const what = source === 'notifications' ? 'notification' : 'critical';
  const subject = message === undefined ? short(txHash ?? id) : shorten(cleanLine(message), 60);
  return `${paint('red', what.padEnd(12))} ${shorten(cleanLine(protocol), 30)}: ${subject}`;
};

/** `origin`: the event that it delivers, where that is known. */
const receivedText = (event: ReceivedEvent, origin: ProducedEvent | undefined, paint: Paint): string => {
  const took = origin === undefined ? '' : `after ${seconds(latencyOf(event, origin))}`;
  const subject = origin?.txHash ?? event.txHashes[0];
  const about = subject === undefined ? '' : ` ${short(subject)}`;
  return `${paint('green', 'delivered')}    ${shorten(cleanLine(event.destination), 44)}${about} ${paint('dim', took)}`;
};

const latencyOf = (event: ReceivedEvent, origin: ProducedEvent): number => Math.max(0, event.at - origin.at);

const latencyText = (kind: string, latencies: readonly number[]): string => {
  const sorted = latencies.toSorted((a, b) => a - b);
  const [half, most] = [quantile(sorted, 0.5), quantile(sorted, 0.99)].map(seconds);
  return `  ${kind.padEnd(9)} ${String(sorted.length).padStart(5)} messages, latency p50 ${half}, p99 ${most}\n`;
};

export const createAccount = ({ isTty, raw: { write } }: Pick<CommandContext, 'isTty' | 'raw'>): Account => {
  const latencies = new Map<string, number[]>(KINDS.map((kind) => [kind, []]));
  const sums = createDemoSums(KINDS);
  let inspections = 0;
  let begun = 0;
  let complete = false;
  /** Kinds of messages that were shown in full. */
  const shown = new Set<string>();

  const paint: Paint = (colour, text) => (isTty ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text);
  const line = (at: number, who: string, text: string): void => write(`${timeOfDay(at)}  ${who.padEnd(9)} ${text}\n`);

  /** The first of its kind is shown as people get it. */
  const showWhole = (event: ReceivedEvent, what: string): void => {
    if (shown.has(what)) return;
    shown.add(what);
    line(event.at, 'demo', `this is ${what}, as ${event.kind} has it:`);
    for (const each of wholeText(event.text)) write(`            ${paint('dim', '|')} ${each}\n`);
  };

  const tellStage = (event: SandboxEvent): void => {
    if (event.type === 'produced') {
      if (event.assessment === 'critical') line(event.at, 'service', producedText(event, paint));
      return;
    }
    const scene = sceneOf(event);
    const [hash] = event.txHashes;
    const [title = ''] = event.text.split('\n');
    const one = hash === undefined ? ` ${shorten(cleanLine(title), 70)}` : ` ${short(hash)}`;
    const about = event.txHashes.length > 1 ? '' : one;
    line(event.at, event.kind, `${paint('yellow', scene.padEnd(12))} ${event.destination}${about}`);
    if (event.txHashes.length > 1) showWhole(event, 'a digest');
    else if (scene === 'announced') showWhole(event, "an announcement of Tocsin's own");
    else if (scene === 'fallback') showWhole(event, 'an alert that went to the fallback');
  };

  const tellProduced = (event: ProducedEvent): void => {
    inspections += event.source === 'inspections' ? 1 : 0;
    if (event.source === 'inspections' && event.assessment !== 'critical') return;
    sums.produced(event);
    line(event.at, 'service', producedText(event, paint));
  };

  const tellReceived = (event: ReceivedEvent): void => {
    const origin = sums.received(event);
    if (origin) latencies.get(event.kind)?.push(latencyOf(event, origin));
    line(event.at, event.kind, receivedText(event, origin, paint));
    if (event.kind === 'telegram' && origin?.source === 'inspections') showWhole(event, 'a whole message');
    if (complete || [...latencies.values()].some((each) => each.length === 0)) return;
    complete = true;
    line(event.at, 'demo', `delivered on all four channel kinds, ${seconds(event.at - begun)} after the start`);
  };

  return {
    opening: (addresses, opsUrl) => {
      begun = Date.now();
      write(openingText(addresses, opsUrl));
    },
    print: (event) => {
      if (isOnStage(event)) tellStage(event);
      else if (event.type === 'produced') tellProduced(event);
      else tellReceived(event);
    },
    tell: (text) => line(Date.now(), 'demo', paint('yellow', text)),
    closing: () => {
      const { alerts, delivered, withInspection } = sums.sums();
      const along =
        withInspection === 0
          ? ''
          : `, ${counted(withInspection, 'of them a notification', 'of them notifications')} that an inspection's alert covers`;
      write(`\n${counted(inspections, 'inspection')} produced. `);
      write(
        `${counted(alerts, 'alert')}: ${delivered} delivered on every kind${along}; ${alerts - delivered} waiting.\n`,
      );
      for (const kind of KINDS) write(latencyText(kind, latencies.get(kind) ?? []));
    },
  };
};
