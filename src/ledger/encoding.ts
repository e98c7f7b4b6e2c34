/**
 * How the ledger writes an alert and its deliveries: short, because they are kept for weeks. A delivery is a letter for
 * its state and a list in JSON, an alert `~` and a list. A text that begins otherwise is of another version, and is refused.
 * Pure.
 */
import { type Alert, isAnnouncement, SOURCES } from '../alert.ts';
import { createBoundedMap, getOrCreate } from '../bounded-map.ts';
import { iso } from '../time.ts';
import type { AlertRecord, Attempt, DeliveryRecord, DeliveryState } from './record.ts';

const LETTERS = { waiting: 'w', delivered: 'd', muted: 'm', dead: 'x' } as const;
const STATES: Readonly<Record<string, DeliveryState>> = { w: 'waiting', d: 'delivered', m: 'muted', x: 'dead' };
const OUTCOMES = { delivered: 'd', retrying: 'r', dead: 'x' } as const;
const OUTCOME_OF: Readonly<Record<string, Attempt['outcome']>> = { d: 'delivered', r: 'retrying', x: 'dead' };

/** Lua: whether a delivery is in this state. */
export const IS_STATE = `
local letters = { waiting = '${LETTERS.waiting}', delivered = '${LETTERS.delivered}', muted = '${LETTERS.muted}', dead = '${LETTERS.dead}' }
local function isState(text, state) return string.sub(text, 1, 1) == letters[state] end`;

/** Epoch milliseconds where that says the same, else the text. */
type Time = number | string;

/** The texts of times that were asked for last: those of one page, or of one moment, are mostly the same. */
const times = createBoundedMap<string, Time>(1000);

const timeOf = (at: string): Time =>
  getOrCreate(times, at, () => {
    const ms = Date.parse(at);
    // 0 means something else.
    return Number.isNaN(ms) || ms === 0 || iso(ms) !== at ? at : ms;
  });

const textOf = (at: Time): string => (typeof at === 'number' ? iso(at) : at);

type AttemptRest = Omit<Attempt, 'at' | 'outcome' | 'durationMs'>;
/** The time is 0 for that of the record. */
type WrittenAttempt = [at: Time, outcome: string, durationMs: number, rest?: AttemptRest];
/** A number: the only attempt, which delivered it, took so many milliseconds. */
type WrittenAttempts = number | WrittenAttempt[];

interface RecordRest {
  a?: DeliveryRecord['acts'] | undefined;
  w?: string | undefined;
  b?: string | undefined;
  k?: string | undefined;
}
/** What stands before and after the provider's id in it; a text where it does not have that. */
type WrittenHandle = [before: string, after: string] | string;
/** Null for what there is none of, where more follows. */
type WrittenRecord = [
  label: string,
  at: Time,
  attempts?: WrittenAttempts,
  providerId?: string | null,
  handle?: WrittenHandle | null,
  rest?: RecordRest,
];

const isEmpty = (object: object): boolean => Object.values(object).every((value) => value === undefined);

/** In JSON, without the last entries that say nothing. */
const listText = (entries: readonly unknown[]): string => {
  const last = entries.findLastIndex((entry) =>
    typeof entry !== 'object' || entry === null ? entry !== undefined : !isEmpty(entry),
  );
  return JSON.stringify(entries.slice(0, last + 1));
};

/** The kind that a destination's id names. */
const kindOf = (id: string): string => id.slice(0, Math.max(0, id.lastIndexOf('-'))) || id;

const writtenAttempt = ({ at, outcome, durationMs, ...rest }: Attempt, last: string): WrittenAttempt => {
  const head: [Time, string, number] = [at === last ? 0 : timeOf(at), OUTCOMES[outcome], durationMs];
  return isEmpty(rest) ? head : [...head, rest];
};

/** Most deliveries: the first attempt delivered it, and the provider's id is the record's. */
const isPlain = ({ state, at, attempts: [only, ...others], providerId }: DeliveryRecord): boolean => {
  if (only === undefined || others.length > 0 || state !== 'delivered' || only.at !== at) return false;
  const { at: _at, outcome, durationMs: _durationMs, providerId: id, ...rest } = only;
  return outcome === 'delivered' && id === providerId && isEmpty(rest);
};

const writtenAttempts = (record: DeliveryRecord): WrittenAttempts =>
  isPlain(record) && record.attempts[0]
    ? record.attempts[0].durationMs
    : record.attempts.map((attempt) => writtenAttempt(attempt, record.at));

const attemptOf = ([at, outcome, durationMs, rest]: WrittenAttempt, last: string): Attempt => ({
  at: at === 0 ? last : textOf(at),
  outcome: OUTCOME_OF[outcome] ?? 'retrying',
  durationMs,
  ...rest,
});

const attemptsOf = (written: WrittenAttempts, last: string, providerId: string | undefined): Attempt[] =>
  typeof written === 'number'
    ? [{ at: last, outcome: 'delivered', durationMs: written, ...(providerId === undefined ? {} : { providerId }) }]
    : written.map((attempt) => attemptOf(attempt, last));

/** A provider's id that is shorter is written twice: saying where it stands would take as much. */
const LEAST_ID = 8;

/** Most handles have the provider's id in them, and a mail's is long. */
const writtenHandle = (handle: string | undefined, id: string | undefined): WrittenHandle | undefined => {
  const start = id === undefined || id.length < LEAST_ID ? -1 : (handle?.indexOf(id) ?? -1);
  if (handle === undefined || id === undefined || start < 0) return handle;
  return [handle.slice(0, start), handle.slice(start + id.length)];
};

const handleOf = (written: WrittenHandle | null, id: string | null): string | null =>
  Array.isArray(written) ? written.join(id ?? '') : written;

export const encodeRecord = (record: DeliveryRecord): string => {
  const { state, destination, at, providerId, handle, acts, with: covering, by } = record;
  const kind = destination.kind === kindOf(destination.id) ? undefined : destination.kind;
  const rest: RecordRest = { a: acts, w: covering, b: by, k: kind };
  const ids = [providerId, writtenHandle(handle, providerId)];
  return LETTERS[state] + listText([destination.label, timeOf(at), writtenAttempts(record), ...ids, rest]);
};

export const stateOf = (text: string): DeliveryState => {
  const state = STATES[text.slice(0, 1)];
  if (state === undefined) throw new Error(`a delivery of another version: ${text.slice(0, 20)}`);
  return state;
};

/** `id`: the destination's. */
export const parseRecord = (id: string, text: string): DeliveryRecord => {
  const state = stateOf(text);
  const [label, time, attempts = [], p = null, h = null, { a, w, b, k } = {}] = JSON.parse(
    text.slice(1),
  ) as WrittenRecord;
  const at = textOf(time);
  const handle = handleOf(h, p);
  return {
    state,
    destination: { id, kind: k ?? kindOf(id), label },
    at,
    ...(p === null ? {} : { providerId: p }),
    ...(handle === null ? {} : { handle }),
    attempts: attemptsOf(attempts, at, p ?? undefined),
    ...(a === undefined ? {} : { acts: a }),
    ...(w === undefined ? {} : { with: w }),
    ...(b === undefined ? {} : { by: b }),
  };
};

type Summary = AlertRecord['alert'];
/** Null for what there is none of, where more follows. */
type WrittenSummary = [
  /** Its place in `SOURCES`. */
  source: number,
  service: string,
  protocol: string,
  type: string,
  itemId: string,
  at: Time,
  /** Milliseconds after `at` where both are numbers. */
  readAt: Time,
  /** The bytes of a common one in base64url; another one as it is, in a list. */
  txHash?: string | [string] | null | undefined,
  followUp?: Alert['followUp'] | null,
  message?: string | undefined,
];

const COMMON_HASH = /^0x[0-9a-f]{64}$/;

const writtenHash = (hash: string): string | [string] =>
  COMMON_HASH.test(hash) ? Buffer.from(hash.slice(2), 'hex').toString('base64url') : [hash];

const hashOf = (written: string | [string]): string =>
  typeof written === 'string' ? `0x${Buffer.from(written, 'base64url').toString('hex')}` : written[0];

const SUMMARY = '~';

/** Of an announcement, its text. */
const messageOf = (alert: Summary | Alert): string | undefined => {
  if (!('item' in alert)) return alert.message;
  const { message } = alert.item;
  return isAnnouncement(alert) && typeof message === 'string' ? message : undefined;
};

export const encodeSummary = (alert: Summary | Alert): string => {
  const { source, service, protocol, type, itemId, at, readAt, txHash, followUp } = alert;
  const [from, read] = [timeOf(at), timeOf(readAt)];
  const later = typeof from === 'number' && typeof read === 'number' ? read - from : read;
  const about = [SOURCES.indexOf(source), service, protocol, type, itemId, from, later] as const;
  const hash = txHash === undefined ? undefined : writtenHash(txHash);
  return SUMMARY + listText([...about, hash, followUp, messageOf(alert)] satisfies WrittenSummary);
};

/** `id`: the alert's. */
export const parseSummary = (id: string, text: string): Summary => {
  if (!text.startsWith(SUMMARY)) throw new Error(`an alert of another version: ${text.slice(0, 20)}`);
  const written = JSON.parse(text.slice(1)) as WrittenSummary;
  const [source, service, protocol, type, itemId, at, readAt, txHash = null, followUp = null, message] = written;
  return {
    id,
    source: SOURCES[source] ?? 'inspections',
    service,
    protocol,
    type,
    itemId,
    at: textOf(at),
    readAt: textOf(typeof at === 'number' && typeof readAt === 'number' ? at + readAt : readAt),
    ...(txHash === null ? {} : { txHash: hashOf(txHash) }),
    ...(followUp === null ? {} : { followUp }),
    ...(message === undefined ? {} : { message }),
  };
};
