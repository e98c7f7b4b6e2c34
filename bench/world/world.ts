/** The world around the daemon, in a process of its own: starts it, gives it orders, takes its reports. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { ChannelKind } from '../../src/alert.ts';
import type { ServiceSettings } from './service.ts';

export interface WorldSettings extends ServiceSettings {
  /** The protocols' channels, in turn. */
  kinds: readonly ChannelKind[];
}

/** `write`: so many new inspections in all, over the protocols in turn. */
export type Order = { kind: 'write'; perSecond: number; count: number } | { kind: 'report' };

/** One alert in one message. Times in milliseconds of the world's clock. */
export interface Arrival {
  /** The inspection's. */
  id: string;
  kind: ChannelKind;
  /** When the message began to arrive. */
  beganAt: number;
  /** From the service's first answer with the inspection until then; NaN where there was none. */
  latencyMs: number;
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

export type WorldMessage = { kind: 'listening'; port: number; smtpPort: number } | Report;

export interface World {
  /** Of the service, the webhooks and the two APIs. */
  url: string;
  smtpPort: number;
  /** Begins to write; the reports tell how far it is. */
  write(order: { perSecond: number; count: number }): void;
  report(): Promise<Report>;
  stop(): Promise<void>;
}

export const startWorld = async (settings: WorldSettings): Promise<World> => {
  const child = fork(new URL('./process.ts', import.meta.url), [JSON.stringify(settings)]);
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
