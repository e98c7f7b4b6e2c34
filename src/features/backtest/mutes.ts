/** What the windows of the config would have kept back of history. */
import type { Alert, Destination } from '../../alert.ts';
import type { Config } from '../../config/schema.ts';
import { createMuteOf, type MuteOf } from '../mutes/match.ts';
import { muteOfWindow } from '../mutes/windows.ts';

export interface MuteLoad {
  reason: string;
  /** Alerts that it would have kept from a destination or more. */
  alerts: number;
}

export const createMuteForecast = ({ mutes: { windows, never } }: Pick<Config, 'mutes'>) => {
  const loads: MuteLoad[] = windows.map(({ reason }) => ({ reason, alerts: 0 }));
  // Alerts come by date, mostly: what held for one holds for the next.
  let known: { open: string; muteOf: MuteOf; loadOf: ReadonlyMap<string, MuteLoad | undefined> } | undefined;

  const at = (moment: number) => {
    const mutes = windows.map((window) => muteOfWindow(window, moment));
    const open = mutes.map((mute) => mute?.id).join(' ');
    if (known?.open === open) return known;
    const held = mutes.filter((mute) => mute !== undefined);
    const loadOf = new Map(mutes.map((mute, index) => [mute?.id ?? '', loads[index]]));
    known = { open, muteOf: createMuteOf(held, never), loadOf };
    return known;
  };

  return {
    /** Those of its destinations that an alert would have reached at once. */
    pass: (alert: Alert, destinations: readonly Destination[]): Destination[] => {
      const { muteOf, loadOf } = at(Date.parse(alert.at));
      const mutes = destinations.map((destination) => muteOf(alert, destination)?.id);
      for (const id of new Set(mutes.filter((mute) => mute !== undefined))) {
        const load = loadOf.get(id);
        if (load) load.alerts += 1;
      }
      return destinations.filter((_, index) => mutes[index] === undefined);
    },
    /** Windows that would have kept something back. */
    loads: (): MuteLoad[] => loads.filter(({ alerts }) => alerts > 0),
  };
};
