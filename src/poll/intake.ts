/** What has to be asked of the services, how often, and what each turn does. The schedule itself is the queue's. */
import { contentId, type Source } from '../alert.ts';
import { ServiceError } from '../errors.ts';
import type { Catalog, CatalogChange } from './catalog.ts';
import type { PollResult, Stream } from './poller.ts';

/** The work of one turn; travels through Redis, so any daemon can take it. */
export type TurnData = { kind: 'catalog'; service: string } | { kind: 'poll'; stream: Stream };

export interface IntakeTurn {
  id: string;
  everyMs: number;
  data: TurnData;
}

export interface IntakeSettings {
  services: readonly string[];
  sources: readonly Source[];
  /** Milliseconds between two polls of a stream. */
  interval: number;
  /** Milliseconds between two listings of a service's protocols. */
  catalogEvery: number;
}

export interface IntakeDependencies {
  settings: IntakeSettings;
  catalog: Catalog;
  poll(stream: Stream, signal: AbortSignal): Promise<PollResult>;
  /** Makes the schedule equal to these turns. */
  sync(turns: readonly IntakeTurn[]): Promise<void>;
  onPolled(stream: Stream, result: PollResult, durationMs: number): void;
  onPollFailed(stream: Stream, error: unknown, durationMs: number): void;
  onListed(service: string, change: CatalogChange): void;
  onListFailed(service: string, error: unknown): void;
  now(): number;
}

/** Names one notifications request carries: they travel in the URL, and proxies cut long ones. */
const NAMES_PER_REQUEST = 40;
const NAME_BYTES_PER_REQUEST = 3000;

/** Groups names so that each group fits one request; the same names give the same groups. */
export const groupNames = (names: readonly string[]): string[][] => {
  const groups: string[][] = [];
  let bytes = 0;
  for (const name of names.toSorted()) {
    const size = encodeURIComponent(name).length + 20;
    const last = groups.at(-1);
    if (!last || last.length >= NAMES_PER_REQUEST || bytes + size > NAME_BYTES_PER_REQUEST) {
      groups.push([name]);
      bytes = size;
    } else {
      last.push(name);
      bytes += size;
    }
  }
  return groups;
};

/** One stream a protocol for inspections; as few as possible for notifications. */
export const streamsOf = (service: string, protocols: readonly string[], sources: readonly Source[]): Stream[] =>
  sources.flatMap((source) =>
    (source === 'inspections' ? protocols.map((name) => [name]) : groupNames(protocols)).map((group) => ({
      service,
      source,
      protocols: group,
    })),
  );

const pollTurn = (stream: Stream, everyMs: number): IntakeTurn => ({
  id: `poll.${contentId(stream.service, stream.source, ...stream.protocols)}`,
  everyMs,
  data: { kind: 'poll', stream },
});

const isOneNamesFault = (error: unknown): boolean =>
  error instanceof ServiceError && (error.reason === 'missing' || error.reason === 'rejected');

export const createIntake = (dependencies: IntakeDependencies) => {
  const { settings, catalog, poll, sync, now } = dependencies;

  /** Every turn that the present catalog asks for. */
  const plan = async (): Promise<IntakeTurn[]> => {
    const turns = await Promise.all(
      settings.services.map(async (service): Promise<IntakeTurn[]> => {
        const names = [...(await catalog.protocols(service)).keys()];
        return [
          { id: `catalog.${contentId(service)}`, everyMs: settings.catalogEvery, data: { kind: 'catalog', service } },
          ...streamsOf(service, names, settings.sources).map((stream) => pollTurn(stream, settings.interval)),
        ];
      }),
    );
    return turns.flat();
  };

  /** Lists a service's protocols again. False where it failed; the last good catalog stays. */
  const list = async (service: string, signal: AbortSignal): Promise<boolean> => {
    try {
      const change = await catalog.refresh(service, signal);
      dependencies.onListed(service, change);
    } catch (error) {
      dependencies.onListFailed(service, error);
      return false;
    }
    await sync(await plan());
    return true;
  };

  const runPoll = async (stream: Stream, signal: AbortSignal): Promise<void> => {
    const begun = now();
    try {
      dependencies.onPolled(stream, await poll(stream, signal), now() - begun);
    } catch (error) {
      if (signal.aborted) return;
      if (isOneNamesFault(error) && stream.protocols.length > 1) return runHalves(stream, signal);
      dependencies.onPollFailed(stream, error, now() - begun);
    }
  };

  /** One name that the service refuses must not silence the others of its request. */
  const runHalves = async (stream: Stream, signal: AbortSignal): Promise<void> => {
    const middle = Math.ceil(stream.protocols.length / 2);
    await runPoll({ ...stream, protocols: stream.protocols.slice(0, middle) }, signal);
    await runPoll({ ...stream, protocols: stream.protocols.slice(middle) }, signal);
  };

  return {
    plan,
    list,
    run: async (data: TurnData, signal: AbortSignal): Promise<void> => {
      if (data.kind === 'catalog') await list(data.service, signal);
      else await runPoll(data.stream, signal);
    },
  };
};
