/** The mutes that hold at a moment: those made by hand, and the windows of the config that are open. */
import type { Alert, Destination, Mute } from '../../alert.ts';
import { createMuteOf, firedDetectors, type Muted, type MuteOf } from './match.ts';
import { endOf, type HiddenItem, type Mutes, type StoredMute } from './store.ts';
import { type MuteWindow, muteOfWindow } from './windows.ts';

export interface ActiveMutesDependencies {
  config: { mutes: { windows: readonly MuteWindow[]; never: readonly string[] } };
  mutes: Mutes;
  /** Told of a window that has opened, by whoever noticed it first. */
  onOpened?(mute: Mute): Promise<void>;
  /** Told of deliveries that were muted. */
  onMuted?(destinations: readonly Destination[]): void;
  now(): number;
}

export interface MuteStates {
  /** Those that hold. */
  active: StoredMute[];
  /** Those whose end has still to be told. */
  over: StoredMute[];
  /** Those whose end was told. */
  past: StoredMute[];
}

const WINDOW = /^window-/;

const itemOf = (alert: Alert): HiddenItem => {
  const { protocol, type, itemId, txHash, at } = alert;
  const detectors = alert.followUp ? [] : firedDetectors(alert);
  return { protocol, type, detectors, itemId, ...(txHash === undefined ? {} : { txHash }), at };
};

export const createActiveMutes = ({ config, mutes, onOpened, onMuted, now }: ActiveMutesDependencies) => {
  const { windows, never } = config.mutes;

  /** Changes nothing. A window that left the config is over. */
  const read = async () => {
    const stored = await mutes.list();
    const known = new Set(stored.map(({ id }) => id));
    const open = windows.flatMap((window) => muteOfWindow(window, now()) ?? []);
    const fresh = open.filter(({ id }) => !known.has(id));
    const isOpen = ({ id }: Mute): boolean => !WINDOW.test(id) || open.some((one) => one.id === id);
    const isActive = (mute: StoredMute): boolean => mute.closedAt === undefined && now() < endOf(mute) && isOpen(mute);
    const all = [...stored, ...fresh.map((mute): StoredMute => ({ ...mute, hid: 0 }))];
    const states: MuteStates = {
      active: all.filter(isActive),
      over: all.filter((mute) => !isActive(mute) && mute.toldAt === undefined),
      past: all.filter(({ toldAt }) => toldAt !== undefined),
    };
    return { fresh, states };
  };

  /** The same, and writes down the windows that have opened: what is not known can hide nothing. */
  const note = async (): Promise<MuteStates> => {
    const { fresh, states } = await read();
    for (const mute of fresh) if (await mutes.add(mute)) await onOpened?.(mute);
    return states;
  };

  return {
    states: async (): Promise<MuteStates> => (await read()).states,
    note,
    muteOf: async (): Promise<MuteOf> => createMuteOf((await note()).active, never),
    /**
     * Books deliveries as muted. Gives those that are on their way or delivered already; undefined where one of the mutes
     * has ended meanwhile, so that all has to be judged anew.
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
