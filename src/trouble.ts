/** What can be wrong with Tocsin itself, as a closed set, and what somebody has to do about each. */

/**
 * `service` cannot be read. `silent`: nothing is inspected of a protocol. `channel`: a token or mail server does not work.
 * `destination`: one address takes nothing. `queue`: no job comes through. `loop`: the event loop is blocked. `durability`:
 * Redis may lose what is queued. `dead`: dead letters. `audit`: alerts that were missed. `jobs`: only a newer version can
 * read them. `disk`: that of `dataDir` is nearly full. `clock`: it differs from the service's or from Redis'. `config`: a
 * changed one was refused. `heartbeat`: it cannot be sent. `daemon`: none runs.
 */
export const TROUBLES = [
  'daemon',
  'redis',
  'service',
  'silent',
  'channel',
  'destination',
  'queue',
  'durability',
  'dead',
  'audit',
  'jobs',
  'config',
  'disk',
  'clock',
  'loop',
  'heartbeat',
] as const;
export type TroubleName = (typeof TROUBLES)[number];

export interface Trouble {
  name: TroubleName;
  /** Distinguishes troubles of one name: a service, a channel kind. Empty where there is one only. */
  of: string;
  /** The beginning of a sentence, without secrets and without a full stop. */
  what: string;
  /** Its end: the error in words. */
  why?: string;
  /** ISO 8601; absent where nobody knows. */
  since?: string;
}

/** `slack does not work since 2026-11-22T10:00:00.000Z: invalid_auth`. */
export const troubleText = ({ what, why, since }: Pick<Trouble, 'what' | 'why' | 'since'>): string =>
  `${what}${since === undefined ? '' : ` since ${since}`}${why === undefined ? '' : `: ${why}`}`;

/** One daemon has it and others need not: it is known by its host. */
const OF_ONE_DAEMON: ReadonlySet<TroubleName> = new Set(['config', 'disk', 'clock', 'loop', 'heartbeat']);

export const isOfOneDaemon = ({ name }: Pick<Trouble, 'name'>): boolean => OF_ONE_DAEMON.has(name);

const NEXT_STEPS: Readonly<Record<TroubleName, string>> = {
  daemon: 'start a daemon, and look at the log of the one that ended',
  redis: 'get Redis back: `redis-cli ping` from the machine of the daemon. What it missed is caught up',
  service: 'see whether the service answers and takes the API key; `tocsin check --online` asks it',
  silent: 'ask whoever runs the service; if so long a pause is usual, set expectEvery in protocols.overrides',
  channel:
    'fix it under channels (token, password or server); `tocsin check --online` shows whether it works. Waiting alerts are then sent by themselves',
  destination: 'see why it does not answer; `tocsin destinations list` has its error',
  queue:
    'see `/livez` and the log for what stands still, and whether Redis is slow; a restart of the daemon loses nothing',
  durability: 'change the setting of Redis, or move to one that keeps its data; `tocsin check --online` asks it',
  dead: '`tocsin dead list` shows why; `tocsin dead retry` sends them again, `tocsin dead drop` gives them up',
  audit: '`tocsin audit` names the items, `tocsin trace ID` shows one; look for what Redis or the service lost then',
  jobs: 'start the newer version again',
  config: '`tocsin check` names each mistake with its line; correct the file. The daemon goes on with the old one',
  disk: 'free space there, or give dataDir a larger disk',
  clock: 'let both machines follow a time server (NTP)',
  loop: 'give the daemon more CPU and memory; see `the event loop was blocked` in its log',
  heartbeat: 'correct watchdog.heartbeatUrl, or see why its server does not answer',
};

/** What to do next: part of a sentence, which begins where `To do: ` ends. */
export const nextStepOf = ({ name }: Pick<Trouble, 'name'>): string => NEXT_STEPS[name];

/** By this a trouble is the same trouble. */
export const troubleKey = ({ name, of }: Pick<Trouble, 'name' | 'of'>): string => (of === '' ? name : `${name} ${of}`);
