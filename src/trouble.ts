/** What can be wrong with Tocsin itself, as a closed set, and what somebody has to do about each. */
import { clockText } from './time.ts';

/**
 * `service` cannot be read. `silent`: nothing is inspected of a protocol. `channel`: a token or mail server does not work.
 * `destination`: one address takes nothing. `queue`: no job comes through. `loop`: the event loop is blocked. `durability`:
 * Redis may lose what is queued. `dead`: dead letters. `audit`: alerts that were missed. `jobs`: only a newer version can
 * read them. `disk`: that of `dataDir` is nearly full. `clock`: it differs from the service's or from Redis'. `config`: a
 * changed one was refused. `template`: one of the config fails. `heartbeat`: it cannot be sent. `buttons`: presses
 * of a kind do not arrive. `daemon`: none runs.
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
  'template',
  'disk',
  'clock',
  'loop',
  'heartbeat',
  'buttons',
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
  /** What mends just this one, as `nextStepOf` says it. */
  todo?: string;
}

/** `slack does not work since 2026-11-22 10:00:00 UTC: invalid_auth`. */
export const troubleText = ({ what, why, since }: Pick<Trouble, 'what' | 'why' | 'since'>): string =>
  `${what}${since === undefined ? '' : ` since ${clockText(since)}`}${why === undefined ? '' : `: ${why}`}`;

/** One daemon has it and others need not: it is known by its host. */
const OF_ONE_DAEMON: ReadonlySet<TroubleName> = new Set(['config', 'disk', 'clock', 'loop', 'heartbeat']);

export const isOfOneDaemon = ({ name }: Pick<Trouble, 'name'>): boolean => OF_ONE_DAEMON.has(name);

const NEXT_STEPS: Readonly<Record<TroubleName, string>> = {
  daemon: 'start a daemon, and look at the log of the one that ended',
  redis: 'get Redis back: `redis-cli ping` from the machine of the daemon. What it missed is caught up',
  service: 'see whether the service answers and takes the API key; `tocsin check --online` asks it',
  silent: 'ask the people who run the service; if so long a pause is usual, set expectEvery in protocols.overrides',
  channel:
    'fix it under channels (token, password or server); `tocsin check --online` shows whether it works. Waiting alerts are then sent by themselves',
  destination: 'see why it does not answer; `tocsin destinations list` has its error',
  queue:
    'see `/livez` and the log for what stands still, and whether Redis is slow; a restart of the daemon loses nothing',
  durability: 'change the setting of Redis, or move to one that keeps its data; `tocsin check --online` asks it',
  dead: '`tocsin dead list` shows why; `tocsin dead retry --all` sends them again, `tocsin dead drop --all` gives them up',
  audit: '`tocsin audit` names the items, `tocsin trace ID` shows one; look for what Redis or the service lost then',
  jobs: 'start the newer version again',
  config: '`tocsin check` names each mistake with its line; correct the file',
  template: 'correct it under templates in the config; `tocsin preview` shows what it makes',
  disk: 'free space there, or give dataDir a larger disk',
  clock: 'let both machines follow a time server (NTP)',
  loop: 'give the daemon more CPU and memory; see `the event loop was blocked` in its log',
  buttons:
    'see why the messenger refuses; a bot has to belong to Tocsin alone. Until then alerts can be acknowledged in other messages only',
  heartbeat: 'correct watchdog.heartbeatUrl, or see why its server does not answer',
};

/** What to do next: part of a sentence, which begins where `To do: ` ends. */
export const nextStepOf = ({ name, todo }: Pick<Trouble, 'name' | 'todo'>): string => todo ?? NEXT_STEPS[name];

const EFFECTS: Readonly<Record<TroubleName, string>> = {
  daemon: 'No alert is found or sent until one runs; then what was missed is caught up',
  redis: 'No alert is found or sent until it is back; then what was missed is caught up',
  service: 'No alert of what is unread can be found until it is read again; then it is caught up',
  silent: 'If the service has stopped to inspect, no alert can be found',
  channel: 'Alerts for it wait, and are delivered by themselves when it works',
  destination: 'Alerts for it wait, or are kept as dead',
  queue: 'Alerts wait there; none is lost',
  durability: 'Alerts are found and sent, but what is queued may be lost when Redis restarts or is full',
  dead: 'They are kept, and not sent again by themselves',
  audit: 'They were found again by the audit, and come late',
  jobs: 'Their alerts wait for it; none is lost',
  config: 'The daemon goes on with the old config',
  buttons: 'Alerts are found and sent, but nobody can acknowledge them by these buttons',
  template: 'Alerts are sent in our own form instead',
  disk: 'Alerts are found and sent, until the disk is full: then Redis takes no more',
  clock: 'Alerts are found and sent, but their times mislead, and receivers may refuse signed webhooks',
  loop: 'Alerts come late; none is lost',
  heartbeat: "Alerts are found and sent, but the dead man's switch may fire",
};

/** What becomes of alerts meanwhile: a sentence without its full stop. */
export const effectOf = ({ name }: Pick<Trouble, 'name'>): string => EFFECTS[name];

/** By this a trouble is the same trouble. */
export const troubleKey = ({ name, of }: Pick<Trouble, 'name' | 'of'>): string => (of === '' ? name : `${name} ${of}`);
