/** What has to be asked of the services, how often, and what each turn does. The schedule itself is the queue's. */
import { contentId, type Source } from '../alert.ts';
import { ServiceError } from '../errors.ts';
import type { Admission } from './admission.ts';
import type { Catalog, CatalogChange } from './catalog.ts';
import type { PollResult, Stream } from './poller.ts';
import { streamsOf } from './streams.ts';

/** The work of one turn; travels through Redis, so any daemon can take it. */
export type TurnData = { kind: 'catalog'; service: string } | { kind: 'poll'; stream: Stream };

export interface IntakeTurn {
  id: string;
  everyMs: number;
  /** When in its `everyMs` it comes, in milliseconds. */
  offsetMs?: number;
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
  admission: Admission;
  poll(stream: Stream, signal: AbortSignal): Promise<PollResult>;
  /** Makes the schedule equal to these turns. */
  sync(turns: readonly IntakeTurn[]): Promise<void>;
  onPolled(stream: Stream, result: PollResult, durationMs: number): void;
  /** `isDown`: it is the service that is in trouble, not this stream alone. */
  onPollFailed(stream: Stream, error: unknown, isDown: boolean): void;
  onListed(service: string, change: CatalogChange): void;
  onListFailed(service: string, error: unknown): void;
  onAssetsListed(service: string): void;
  onAssetsFailed(service: string, error: unknown): void;
  now(): number;
}

/** Over so many milliseconds the polls of one interval are spread; two for each where that is more. */
const SPREAD_MS = 2000;
const APART_MS = 2;

/**
 * Polls that all came at once would wait for each other, and what they find with them. Notifications first: what they name
 * is then in the poll of inspections that follows.
 */
const pollTurns = (streams: readonly Stream[], everyMs: number): IntakeTurn[] => {
  const spreadMs = Math.min(everyMs - 1, Math.max(SPREAD_MS, APART_MS * streams.length));
  return streams.map((stream) => {
    const key = contentId(stream.service, stream.source, ...stream.protocols);
    const place = stream.source === 'notifications' ? 0 : Number.parseInt(key.slice(0, 8), 16) % spreadMs;
    return { id: `poll.${key}`, everyMs, offsetMs: 1 + place, data: { kind: 'poll', stream } };
  });
};

const isOneNamesFault = (error: unknown): boolean =>
  error instanceof ServiceError && (error.reason === 'missing' || error.reason === 'rejected');

const isHeld = (error: unknown): boolean => error instanceof ServiceError && error.reason === 'held';

const subjectOf = ({ source, protocols }: Stream): string => JSON.stringify([source, ...protocols]);
const LISTING = 'listing';

const HELD: PollResult = { outcome: 'held', items: 0, alerts: 0, sweep: false };

export const createIntake = (dependencies: IntakeDependencies) => {
  const { settings, catalog, admission, poll, sync, now } = dependencies;

  /** Every turn that the present catalog asks for. */
  const plan = async (): Promise<IntakeTurn[]> => {
    const turns = await Promise.all(
      settings.services.map(async (service): Promise<IntakeTurn[]> => {
        const names = [...(await catalog.protocols(service)).keys()];
        return [
          { id: `catalog.${contentId(service)}`, everyMs: settings.catalogEvery, data: { kind: 'catalog', service } },
          ...pollTurns(streamsOf(service, names, settings.sources), settings.interval),
        ];
      }),
    );
    return turns.flat();
  };

  /** Lists a service's protocols again. False where it failed or has to wait; the last good catalog stays. */
  const list = async (service: string, signal: AbortSignal): Promise<boolean> => {
    if (!(await admission.admit(service, LISTING, signal)).admitted) return false;
    try {
      const change = await catalog.refresh(service, signal);
      admission.answered(service, LISTING);
      dependencies.onListed(service, change);
    } catch (error) {
      await admission.failed(service, LISTING, error, signal);
      if (!isHeld(error)) dependencies.onListFailed(service, error);
      return false;
    }
    await sync(await plan());
    return true;
  };

  /** Nothing but context depends on assets: a failure is said, and the last ones stay. */
  const listAssets = (service: string, signal: AbortSignal): Promise<void> =>
    catalog.refreshAssets(service, signal).then(
      () => dependencies.onAssetsListed(service),
      (error: unknown) => {
        if (!signal.aborted && !isHeld(error)) dependencies.onAssetsFailed(service, error);
      },
    );

  /** Gives in how many milliseconds to try again, where that should be before the next turn. */
  const runPoll = async (stream: Stream, signal: AbortSignal): Promise<number | undefined> => {
    const { service } = stream;
    const subject = subjectOf(stream);
    const begun = now();
    const pass = await admission.admit(service, subject, signal);
    if (!pass.admitted) {
      dependencies.onPolled(stream, HELD, 0);
      return pass.againInMs;
    }
    try {
      const result = await poll(stream, signal);
      if (result.outcome === 'read') admission.answered(service, subject);
      else admission.unasked(service, subject);
      dependencies.onPolled(stream, result, now() - begun);
    } catch (error) {
      await admission.failed(service, subject, error, signal);
      if (signal.aborted) return undefined;
      if (isOneNamesFault(error) && stream.protocols.length > 1) return runHalves(stream, signal);
      if (isHeld(error)) dependencies.onPolled(stream, HELD, now() - begun);
      else dependencies.onPollFailed(stream, error, admission.trouble(service)?.kind === 'down');
    }
    return undefined;
  };

  /** One name that the service refuses must not silence the others of its request. */
  const runHalves = async (stream: Stream, signal: AbortSignal): Promise<undefined> => {
    const middle = Math.ceil(stream.protocols.length / 2);
    await runPoll({ ...stream, protocols: stream.protocols.slice(0, middle) }, signal);
    await runPoll({ ...stream, protocols: stream.protocols.slice(middle) }, signal);
  };

  return {
    plan,
    list,
    /** One turn. Gives in how many milliseconds to take it again, where the service could not be asked now. */
    run: async (data: TurnData, signal: AbortSignal): Promise<number | undefined> => {
      if (data.kind === 'poll') return runPoll(data.stream, signal);
      if (await list(data.service, signal)) await listAssets(data.service, signal);
      return undefined;
    },
  };
};
