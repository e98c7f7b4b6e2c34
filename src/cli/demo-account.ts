/** The demo's account of what happens at both ends: what the service produced, what arrived where, and how long it took. */

import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNEL_KINDS } from '../alert.ts';
import { createBoundedMap } from '../bounded-map.ts';
import type { ProducedEvent, ReceivedEvent, SandboxEvent } from '../sandbox/events.ts';
import type { ReceiverKind } from '../sandbox/receivers/received.ts';
import type { Sandbox, SandboxAddresses } from '../sandbox/sandbox.ts';
import { cleanLine, counted, shorten, shortenMiddle } from '../text.ts';
import { clock } from '../time.ts';
import type { CommandContext } from './context.ts';
import { indented } from './table.ts';

interface Entry {
  event: ProducedEvent;
  kinds: Set<string>;
  /** A message of its own has arrived. */
  isOwn: boolean;
}

/** Alerts are remembered until they are surely delivered; a demo may run for days. */
const REMEMBERED = 2000;

/** Letters that distinguish a text: channels escape, clean and shorten what they show. */
const LETTERS = 60;
const lettersOf = (text: string): string => text.normalize('NFKC').replace(/[^\p{L}\p{N}]+/gu, '');

/** What a message says, as far as a notification can be found in it. */
const saidBy = ({ kind, text }: ReceivedEvent): string => {
  if (kind !== 'webhook') return lettersOf(text);
  const { data } = JSON.parse(text) as { data?: { notification?: { message?: string } } };
  return lettersOf(data?.notification?.message ?? '');
};

/** Which of the alerts that the service produced have arrived on every kind of channel. Asks only the receivers. */
export const createDemoSums = (kinds: readonly string[]) => {
  const entries = createBoundedMap<string, Entry>(REMEMBERED);
  /** `withInspection`: notifications that came with the inspection of their transaction, and not by themselves. */
  const sums = { alerts: 0, delivered: 0, withInspection: 0 };

  const remembered = (): Entry[] => Array.from(entries.entries(), ([, entry]) => entry);

  const isComplete = (entry: Entry): boolean => kinds.every((kind) => entry.kinds.has(kind));
  const isAlong = (entry: Entry): boolean =>
    entry.event.source === 'notifications' && !entry.isOwn && isComplete(entry);

  const count = (entry: Entry, kind: string, isOwn: boolean): void => {
    const before = { delivered: isComplete(entry), withInspection: isAlong(entry) };
    entry.kinds.add(kind);
    entry.isOwn ||= isOwn;
    sums.delivered += Number(isComplete(entry)) - Number(before.delivered);
    sums.withInspection += Number(isAlong(entry)) - Number(before.withInspection);
  };

  /** The notification that a message quotes. Those with the same text are delivered one after the other. */
  const quotedIn = (event: ReceivedEvent): Entry | undefined => {
    const said = saidBy(event);
    const quoted = remembered().filter(({ event: { message = '', txHash } }) => {
      const letters = lettersOf(message).slice(0, LETTERS);
      const isThere = txHash === undefined || event.txHashes.includes(txHash);
      return letters !== '' && isThere && said.includes(letters);
    });
    return quoted.find(({ kinds: arrived }) => !arrived.has(event.kind)) ?? quoted.find(({ isOwn }) => !isOwn);
  };

  const namedIn = ({ ids, txHashes }: ReceivedEvent): Entry[] =>
    remembered().filter(
      ({ event: { id, txHash } }) => ids.includes(id) || (txHash !== undefined && txHashes.includes(txHash)),
    );

  return {
    produced: (event: ProducedEvent): void => {
      sums.alerts += 1;
      entries.set(event.id, { event, kinds: new Set(), isOwn: false });
    },
    /** Gives what the message is about; undefined where nothing that is remembered fits. */
    received: (event: ReceivedEvent): ProducedEvent | undefined => {
      const quoted = quotedIn(event);
      const named = namedIn(event);
      if (quoted) count(quoted, event.kind, true);
      for (const entry of named) count(entry, event.kind, false);
      return (quoted ?? named[0])?.event;
    },
    sums: () => ({ ...sums }),
  };
};

/** The protocol of what a demo shows besides its traffic: a storm, and a channel that breaks and is mended. */
export const STAGE = 'Demo Stage';
const CHANNEL = 'C0DEMOSTAGE';
/** Where alerts go that nobody has accepted. */
export const FALLBACK = 'oncall@example.com';
export const FALLBACK_AFTER_MS = 5000;

const STORM = 12;
/** After the start of the traffic. */
const SCENES_MS = { storm: 6000, breaks: 15_000, mends: 25_000 };
/** Other answers than these leave the channel in use: it is tried again. */
const OUT_OF_ORDER = { kind: 'answer', status: 503 } as const;

/** Before the daemon starts, so that it knows the protocol from its first listing. */
export const addStage = ({ service }: Sandbox, apiKey: string): void => {
  service.addProtocol(apiKey, { name: STAGE, channels: [{ name: 'slack', contacts: [CHANNEL] }] });
};

/** Whether an event belongs to the scenes, and not to the traffic that is counted. */
export const isOnStage = (event: SandboxEvent): boolean =>
  event.type === 'produced' ? event.protocol === STAGE : [CHANNEL, FALLBACK].includes(event.destination);

/** Resolves when all were played, or at the end. `tell` gets a sentence for each. */
export const playScenes = async (
  { service, receivers }: Sandbox,
  tell: (text: string) => void,
  signal: AbortSignal,
  times = SCENES_MS,
): Promise<void> => {
  const begun = performance.now();
  const wait = (atMs: number): Promise<void> =>
    sleep(Math.max(0, begun + atMs - performance.now()), undefined, { signal });
  const critical = (): void => void service.insertInspection({ protocol: STAGE, assessment: 'critical' });
  try {
    await wait(times.storm);
    tell(`a storm: ${STORM} criticals at once in '${STAGE}'. People get one digest that names each of them`);
    for (let count = 0; count < STORM; count += 1) critical();
    await wait(times.breaks);
    const mend = receivers.slack.script.always(OUT_OF_ORDER, { destination: CHANNEL });
    tell(`Slack channel ${CHANNEL} breaks: it answers 503. The next alert for it goes to the fallback, ${FALLBACK}`);
    critical();
    await wait(times.mends);
    mend();
    tell(`Slack channel ${CHANNEL} is mended: what waited for it is delivered, late but once`);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};

/** What a message on the stage is, for its line. */
export const sceneOf = ({ destination, txHashes }: ReceivedEvent): string => {
  if (destination === FALLBACK) return txHashes.length === 0 ? 'announced' : 'fallback';
  return txHashes.length > 1 ? `a digest of ${txHashes.length}` : 'delivered';
};

/** A kind without a receiver in the sandbox does not compile. */
const KINDS = CHANNEL_KINDS satisfies readonly ReceiverKind[];
const COLOURS = { dim: '2', red: '31', green: '32', yellow: '33' } as const;

const timeOfDay = (at: number): string => clock(at, 'milliseconds').slice(11);
const short = (hash: string): string => shortenMiddle(hash, { head: 10, tail: 6 });

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const WHOLE_LINES = 20;

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

export const createAccount = ({ isTty, raw: { write } }: Pick<CommandContext, 'isTty' | 'raw'>) => {
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
    line(event.at, 'demo', `delivered on every channel kind, ${seconds(event.at - begun)} after the start`);
  };

  return {
    opening: (addresses: SandboxAddresses, opsUrl: string): void => {
      begun = Date.now();
      write(openingText(addresses, opsUrl));
    },
    print: (event: SandboxEvent): void => {
      if (isOnStage(event)) tellStage(event);
      else if (event.type === 'produced') tellProduced(event);
      else tellReceived(event);
    },
    tell: (text: string): void => line(Date.now(), 'demo', paint('yellow', text)),
    closing: (): void => {
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
