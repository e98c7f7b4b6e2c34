/** What each turn of the schedule does: a listing, or a poll of one stream. */
import { ServiceError } from '../errors.ts';
import type { Admission } from './admission.ts';
import type { Catalog } from './catalog.ts';
import { createListing, isHeld, type ListingDependencies } from './listing.ts';
import type { PollResult, Stream } from './poller.ts';
import { type IntakeSettings, type IntakeTurn, planTurns, type TurnData } from './turns.ts';

export interface IntakeDependencies extends ListingDependencies {
  settings: IntakeSettings;
  catalog: Pick<Catalog, 'refresh' | 'refreshAssets' | 'protocols'>;
  admission: Admission;
  poll(stream: Stream, signal: AbortSignal): Promise<PollResult>;
  /** Makes the schedule equal to these turns. */
  sync(turns: readonly IntakeTurn[]): Promise<void>;
  onPolled(stream: Stream, result: PollResult, durationMs: number): void;
  /** `isDown`: the service as a whole is in trouble, not this stream alone. */
  onPollFailed(stream: Stream, error: unknown, isDown: boolean): void;
  now(): number;
}

/** The service refuses something about what was asked for: with several names, one of them may be at fault. */
const mayBeOneName = (error: unknown): boolean =>
  error instanceof ServiceError && (error.reason === 'missing' || error.reason === 'rejected');

const subjectOf = ({ source, protocols }: Stream): string => JSON.stringify([source, ...protocols]);

const HELD: PollResult = { outcome: 'held', items: 0, alerts: 0, sweep: false };

type PollDependencies = Pick<IntakeDependencies, 'admission' | 'poll' | 'onPolled' | 'onPollFailed' | 'now'>;

/** Gives in how many milliseconds to try again, where that should be before the next turn. */
const createPollTurn = ({ admission, poll, onPolled, onPollFailed, now }: PollDependencies) => {
  const run = async (stream: Stream, signal: AbortSignal): Promise<number | undefined> => {
    const { service } = stream;
    const subject = subjectOf(stream);
    const begun = now();
    const admitted = await admission.admit(service, subject, signal);
    if (!admitted.admitted) {
      onPolled(stream, HELD, 0);
      return admitted.againInMs;
    }
    try {
      const result = await poll(stream, signal);
      if (result.outcome === 'read') admission.answered(service, subject);
      else admission.unasked(service, subject);
      onPolled(stream, result, now() - begun);
    } catch (error) {
      await admission.failed(service, subject, error, signal);
      if (signal.aborted) return undefined;
      if (mayBeOneName(error) && stream.protocols.length > 1) return runHalves(stream, signal);
      if (isHeld(error)) onPolled(stream, HELD, now() - begun);
      else onPollFailed(stream, error, admission.trouble(service)?.kind === 'down');
    }
    return undefined;
  };

  /** One name that the service refuses must not silence the others of its request. */
  const runHalves = async (stream: Stream, signal: AbortSignal): Promise<undefined> => {
    const middle = Math.ceil(stream.protocols.length / 2);
    await run({ ...stream, protocols: stream.protocols.slice(0, middle) }, signal);
    await run({ ...stream, protocols: stream.protocols.slice(middle) }, signal);
  };
  return run;
};

export const createIntake = (dependencies: IntakeDependencies) => {
  const { settings, catalog, sync } = dependencies;
  const listing = createListing(dependencies);
  const runPoll = createPollTurn(dependencies);
  const plan = (): Promise<IntakeTurn[]> => planTurns(settings, catalog);

  /** Lists a service's protocols again, and schedules them. False where it failed or has to wait. */
  const list = async (service: string, signal: AbortSignal): Promise<boolean> => {
    if (!(await listing.list(service, signal))) return false;
    await sync(await plan());
    return true;
  };

  return {
    plan,
    list,
    /** One turn. Gives in how many milliseconds to take it again, where the service could not be asked now. */
    run: async (data: TurnData, signal: AbortSignal): Promise<number | undefined> => {
      if (data.kind === 'poll') return runPoll(data.stream, signal);
      if (await list(data.service, signal)) await listing.listAssets(data.service, signal);
      return undefined;
    },
  };
};
