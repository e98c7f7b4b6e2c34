/** The mutes that hold now, which people added or the windows of the config open, and which deliveries they hide. */
import { type Alert, type Destination, firedDetectors, isAnnouncement, isSample, type Mute } from '../../alert.ts';
import { objectIn, textIn } from '../../channels/content/foreign.ts';
import { severityOf } from '../../channels/content/severity.ts';
import { createGlobs } from '../../globs.ts';
import { cleanLine, shorten } from '../../text.ts';
import { endOf, type HiddenItem, type MuteStore, type StoredMute } from './store.ts';
import { type MuteWindow, muteOfWindow } from './windows.ts';

/** A muted delivery, and the mute that hides it. */
export interface Muted {
  destination: Destination;
  mute: Mute;
}

/**
 * The mute that hides an alert from a destination; of several the one that lasts longest. `wasMuted`: the alert is a
 * follow-up of one that was muted there, so its detectors do not matter.
 */
export type MuteOf = (alert: Alert, destination: Destination, wasMuted?: boolean) => Mute | undefined;

/** Announcements, and what an operator asked for, are never muted. */
const isMutable = (alert: Alert): boolean => !(isAnnouncement(alert) || isSample(alert) || alert.replay);

const byEnd = (mutes: readonly Mute[]): Mute[] => mutes.toSorted((a, b) => a.until.localeCompare(b.until));
const first = (mutes: readonly Mute[]): Mute | undefined => byEnd(mutes)[0];
const last = (mutes: readonly Mute[]): Mute | undefined => byEnd(mutes).at(-1);

const anyOr = (globs: readonly string[]): ((text: string) => boolean) =>
  globs.length === 0 ? () => true : createGlobs(globs);

const compile = (mute: Mute) => {
  const { detectors, destinations } = mute;
  const isProtocol = anyOr(mute.protocols);
  return {
    mute,
    isWhole: detectors.length === 0,
    fits: ({ protocol }: Alert, { id, label }: Destination): boolean =>
      isProtocol(protocol) && (destinations.length === 0 || destinations.includes(id) || destinations.includes(label)),
    hasDetector: createGlobs(detectors),
  };
};

/** `never`: globs; an alert with such a detector is never muted. */
export const createMuteOf = (mutes: readonly Mute[], never: readonly string[]): MuteOf => {
  const compiled = mutes.map(compile);
  const isFloor = createGlobs(never);

  return (alert, destination, wasMuted = false) => {
    if (compiled.length === 0 || !isMutable(alert)) return undefined;
    const fired = firedDetectors(alert);
    if (fired.some(isFloor)) return undefined;
    const near = compiled.filter(({ fits }) => fits(alert, destination));
    const whole = near.filter(({ isWhole }) => isWhole || wasMuted).map(({ mute }) => mute);
    // Every detector that fired has to be muted: a single one that is not makes it news. A follow-up names none.
    const byDetector = alert.followUp
      ? []
      : fired.map((name) => last(near.filter(({ hasDetector }) => hasDetector(name)).map(({ mute }) => mute)));
    const known = byDetector.filter((mute) => mute !== undefined);
    const together = known.length === byDetector.length ? first(known) : undefined;
    return last([...whole, ...(together ? [together] : [])]);
  };
};

interface ActiveMutesDependencies {
  config: { mutes: { windows: readonly MuteWindow[]; never: readonly string[] } };
  mutes: Pick<MuteStore, 'list' | 'add' | 'hide'>;
  /** Called for a window that has opened, in the daemon that noticed it first. */
  onOpened?(mute: Mute): Promise<void>;
  onMuted?(destinations: readonly Destination[]): void;
  now(): number;
}

const WINDOW = /^window-/;

/** Chain ids are numbers of a few digits. */
const LONGEST_CHAIN_ID = 30;

const chainIn = ({ item: { chainId } }: Alert): { chainId?: string } =>
  (typeof chainId === 'string' || typeof chainId === 'number') && String(chainId).length <= LONGEST_CHAIN_ID
    ? { chainId: String(chainId) }
    : {};

/** Of one alert, in a list of many. */
const SAID_LIMIT = 120;

/** Of a text that may be long. */
const firstLine = (text: string): string => cleanLine(text.slice(0, 4 * SAID_LIMIT).split('\n', 1)[0] ?? '');

/** What the detectors that fired say, or a notification in its first line. */
const saidIn = (alert: Alert): string => {
  const { message, detections } = alert.item;
  if (alert.source === 'notifications') return firstLine(textIn(message));
  const fired = alert.followUp ? [] : firedDetectors(alert);
  return fired
    .map((name) => firstLine(textIn(objectIn(objectIn(detections)[name]).message)))
    .filter((said) => said !== '')
    .join('; ');
};

const itemOf = (alert: Alert): HiddenItem => {
  const { protocol, type, itemId, txHash, at } = alert;
  const detectors = alert.followUp ? [] : firedDetectors(alert);
  const { severity } = severityOf(alert);
  const hash = txHash === undefined ? {} : { txHash };
  const said = shorten(saidIn(alert), SAID_LIMIT);
  return {
    protocol,
    type,
    detectors,
    itemId,
    ...hash,
    severity,
    ...(said === '' ? {} : { said }),
    ...chainIn(alert),
    at,
  };
};

export const createActiveMutes = ({ config, mutes, onOpened, onMuted, now }: ActiveMutesDependencies) => {
  const { windows, never } = config.mutes;

  /** Changes nothing. A window that left the config is over. */
  const read = async () => {
    const stored = await mutes.list();
    const known = new Set(stored.map(({ id }) => id));
    const open = windows.flatMap((window) => muteOfWindow(window, now()) ?? []);
    const opened = open.filter(({ id }) => !known.has(id));
    const isOpen = ({ id }: Mute): boolean => !WINDOW.test(id) || open.some((one) => one.id === id);
    // Another daemon opened it, and our clock is behind: it is neither open nor over yet.
    const isPending = ({ id, from, closedAt }: StoredMute): boolean =>
      WINDOW.test(id) && closedAt === undefined && now() < Date.parse(from);
    const isActive = (mute: StoredMute): boolean => mute.closedAt === undefined && now() < endOf(mute) && isOpen(mute);
    const all = [...stored, ...opened.map((mute): StoredMute => ({ ...mute, hid: 0 }))];
    const states = {
      active: all.filter(isActive),
      /** Not reported yet. */
      over: all.filter((mute) => !isActive(mute) && !isPending(mute) && mute.reportedAt === undefined),
      /** Reported. */
      past: all.filter(({ reportedAt }) => reportedAt !== undefined),
    };
    return { opened, states };
  };

  /** The same, and stores the windows that have opened: a mute that is not stored can hide nothing. */
  const refresh = async () => {
    const { opened, states } = await read();
    for (const mute of opened) if (await mutes.add(mute)) await onOpened?.(mute);
    return states;
  };

  return {
    states: async () => (await read()).states,
    refresh,
    /** Decides which alerts to hide. */
    muteOf: async (): Promise<MuteOf> => createMuteOf((await refresh()).active, never),
    /** The same, and changes nothing. */
    peekMuteOf: async (): Promise<MuteOf> => createMuteOf((await read()).states.active, never),
    /**
     * Records deliveries as muted. Gives the destinations where the alert is on its way or delivered already; undefined
     * where one of the mutes has ended meanwhile, so that the alert has to be judged again.
     */
    hide: async (alert: Alert, muted: readonly Muted[]): Promise<Destination[] | undefined> => {
      const others: Destination[] = [];
      for (const [mute, together] of Map.groupBy(muted, (one) => one.mute)) {
        const destinations = together.map(({ destination }) => destination);
        const found = await mutes.hide(mute, alert, itemOf(alert), destinations);
        if (found === undefined) return undefined;
        onMuted?.(found.hid);
        others.push(...found.others);
      }
      return others;
    },
  };
};

export type ActiveMutes = ReturnType<typeof createActiveMutes>;
