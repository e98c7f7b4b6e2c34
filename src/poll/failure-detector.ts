/**
 * Which subjects (a stream, the listing, a protocol) fail, which of them hang, and whether the service as a whole is in
 * trouble. The only place that judges the reasons of a `ServiceError`.
 */
import { ServiceError, type ServiceReason } from '../errors.ts';

export interface Trouble {
  /** `down`: it does not answer. `refused`: it refuses the key itself. */
  kind: 'down' | 'refused';
  since: number;
}

/**
 * What a failure says of the service. `answered`: it is there, the trouble is the subject's own. `suspect`: it may be
 * down, if more subjects say so. `down`: it is in trouble as a whole.
 */
type Meaning = 'answered' | 'suspect' | 'down' | 'nothing';
type Meanings = Readonly<Record<ServiceReason, Meaning>>;

/** A refused key says nothing here: it may be about one protocol only, and the key check asks. */
const FOR_POLLS: Meanings = {
  missing: 'answered',
  rejected: 'answered',
  failed: 'suspect',
  unreachable: 'suspect',
  unreadable: 'suspect',
  limited: 'down',
  unauthorized: 'nothing',
  held: 'nothing',
  aborted: 'nothing',
};

/** Subjects that must fail in a row, each of which had worked before: fewer may be their own trouble. */
const POLLS_DOWN = 3;

const ofPoll = ({ reason, retryAfterMs }: ServiceError): Meaning =>
  retryAfterMs === undefined ? FOR_POLLS[reason] : 'nothing';

const NOT_ASKED: readonly ServiceReason[] = ['aborted', 'held'];

/** For polls, which ask for the same subjects all the time. A wait that the service names is obeyed and does not count. */
export const createFailureDetector = (monotonic: () => number) => {
  let trouble: Trouble | undefined;
  const failing = new Set<string>();
  const hanging = new Set<string>();
  /** Those that began to fail since the last answer. */
  const suspects = new Set<string>();
  const askedAt = new Map<string, number>();
  let answeredAt = Number.NEGATIVE_INFINITY;
  let silentSince = Number.POSITIVE_INFINITY;

  /** A slow failure may have begun long before others were answered: it says nothing of the service. */
  const isOutdated = (subject: string): boolean => (askedAt.get(subject) ?? Number.POSITIVE_INFINITY) <= answeredAt;

  const worked = (subject: string): void => {
    // What failed while the service was away did not hang by itself.
    if (trouble !== undefined) hanging.clear();
    trouble = undefined;
    failing.delete(subject);
    hanging.delete(subject);
    askedAt.delete(subject);
    suspects.clear();
    answeredAt = monotonic();
    silentSince = Number.POSITIVE_INFINITY;
  };

  const suspect = (subject: string): void => {
    if (!isOutdated(subject)) {
      silentSince = Math.min(silentSince, monotonic());
      if (!failing.has(subject)) suspects.add(subject);
    }
    failing.add(subject);
    askedAt.delete(subject);
  };

  return {
    asked: (subject: string): void => void askedAt.set(subject, monotonic()),
    /** An answer came: the service is not in trouble. */
    worked,
    failed: (subject: string, error: unknown): void => {
      if (!(error instanceof ServiceError)) return;
      if (error.reason === 'unreachable') hanging.add(subject);
      else if (!NOT_ASKED.includes(error.reason)) hanging.delete(subject);
      const meaning = ofPoll(error);
      if (meaning === 'answered') worked(subject);
      if (meaning === 'suspect' || meaning === 'down') suspect(subject);
      if (meaning === 'down' || suspects.size >= POLLS_DOWN) trouble ??= { kind: 'down', since: monotonic() };
    },
    /** The key itself is refused. Gives whether that is news. */
    refused: (): boolean => {
      const isNews = trouble?.kind !== 'refused';
      if (isNews) trouble = { kind: 'refused', since: monotonic() };
      return isNews;
    },
    /** Of the service as a whole; the same object as long as the trouble lasts. */
    trouble: (): Trouble | undefined => trouble,
    /** Since when something fails here, or the key is refused, and nothing was answered; Infinity: it answers. */
    silentSince: (): number => Math.min(silentSince, trouble?.since ?? Number.POSITIVE_INFINITY),
    /** It had no usable answer last time. */
    isFailing: (subject: string): boolean => failing.has(subject),
    /** It had no answer at all last time, so it may hang again. */
    isHanging: (subject: string): boolean => hanging.has(subject),
  };
};

export type FailureDetector = ReturnType<typeof createFailureDetector>;

/** A walk asks once for each protocol and can ask again later, so it gives up where a poll would find out more. */
const FOR_WALKS: Meanings = { ...FOR_POLLS, unauthorized: 'down', held: 'down', unreadable: 'nothing' };

/** Protocols that must fail in a row. */
const WALKS_DOWN = 5;

/** For a walk that asks the service once for each of many protocols. */
export const createWalkDetector = () => {
  const suspects = new Set<string>();
  let isDown = false;
  const worked = (): void => {
    suspects.clear();
    isDown = false;
  };
  return {
    worked,
    failed: (protocol: string, error: unknown): void => {
      const meaning = error instanceof ServiceError ? FOR_WALKS[error.reason] : 'nothing';
      if (meaning === 'answered') worked();
      if (meaning === 'suspect') suspects.add(protocol);
      isDown ||= meaning === 'down' || suspects.size >= WALKS_DOWN;
    },
    /** The service is in trouble: ask it no more in this walk. */
    isDown: (): boolean => isDown,
  };
};

export type WalkDetector = ReturnType<typeof createWalkDetector>;
