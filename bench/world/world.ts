/** The world around the daemon, in a process of its own: starts it, gives it orders, takes its reports. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ChannelKind } from '../../src/alert.ts';
import type { Answering, ReceiverSettings } from './receivers.ts';
import type { ServiceSettings, StoreOrder } from './service.ts';

export interface WorldSettings extends ServiceSettings, ReceiverSettings {
  kinds: readonly ChannelKind[];
  /** Whether each protocol has a channel of every kind, or of one, the kinds in turn. */
  each: 'all' | 'one';
}

/**
 * `write`: so many new inspections in all, over the protocols in turn. `store`: at once. `answer`: how receivers
 * answer from now on. `reset`: the sums start again.
 */
export type Order =
  | { kind: 'write'; perSecond: number; count: number }
  | ({ kind: 'store' } & StoreOrder)
  | { kind: 'answer'; how: Answering }
  | { kind: 'reset' | 'tally' | 'report' };

/** One alert in one message. Times in milliseconds of the world's clock. */
export interface Arrival {
  /** The inspection's. */
  id: string;
  kind: ChannelKind;
  /** When the message began to arrive. */
  beganAt: number;
  /** From the service's first answer with the inspection until then; NaN where there was none. */
  latencyMs: number;
  /** From when the service got the inspection; NaN where it never had it. */
  ageMs: number;
}

/** Sums since they last started. Times are zero where nothing arrived. */
export interface Tally {
  /** Alerts by channel kind, each counted once. */
  arrived: number;
  messages: number;
  /** The first of their inspections that the service gave; NaN where it never had one. */
  firstToldAt: number;
  firstAt: number;
  lastAt: number;
}

/** All since the last report, but `written`, which counts from the start. */
export interface Report {
  kind: 'report';
  written: number;
  requests: number;
  /** By protocol: when it was polled. */
  polls: number[][];
  arrivals: Arrival[];
}

/** `told`: inspections that the service has given so far. */
export type TallyReport = { kind: 'tally'; told: number } & Tally;

export type WorldMessage = { kind: 'listening'; port: number; smtpPort: number } | TallyReport | Report;

export interface World {
  /** Of the service, the webhooks and the two APIs. */
  url: string;
  smtpPort: number;
  /** Begins to write; the reports tell how far it is. */
  write(order: { perSecond: number; count: number }): void;
  store(order: StoreOrder): void;
  answer(how: Answering): void;
  reset(): void;
  tally(): Promise<TallyReport>;
  report(): Promise<Report>;
  stop(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('./process.ts', import.meta.url));

/** `prefix`: a program that starts it, such as taskset, with its arguments. */
export const startWorld = async (settings: WorldSettings, prefix: readonly string[] = []): Promise<World> => {
  const [program = '', ...args] = [...prefix, process.execPath, PROGRAM, JSON.stringify(settings)];
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  const next = async <Kind extends WorldMessage['kind']>(kind: Kind) => {
    const [message] = (await Promise.race([once(child, 'message'), ended.then(() => [undefined])])) as (
      | WorldMessage
      | undefined
    )[];
    if (message?.kind !== kind) throw new Error(`the world's process told no '${kind}'`);
    return message as Extract<WorldMessage, { kind: Kind }>;
  };
  const order = (given: Order): boolean => child.send(given);

  const { port, smtpPort } = await next('listening');
  return {
    url: `http://127.0.0.1:${port}`,
    smtpPort,
    write: (given) => order({ kind: 'write', ...given }),
    store: (given) => order({ kind: 'store', ...given }),
    answer: (how) => order({ kind: 'answer', how }),
    reset: () => order({ kind: 'reset' }),
    tally: async () => {
      order({ kind: 'tally' });
      return next('tally');
    },
    report: async () => {
      order({ kind: 'report' });
      return next('report');
    },
    stop: async () => {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
};
