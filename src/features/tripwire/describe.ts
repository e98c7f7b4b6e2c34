/** A change as people read it: each aspect that differs, old and new, without what may be secret in it. Pure. */

import { channelRows } from '../../channels/rows.ts';
import type { ChannelEntry } from '../../item.ts';
import { cleanLine, shorten } from '../../text.ts';
import { ASPECTS, type Aspect, type Change } from './changes.ts';
import type { WatchedDetector, WatchedSettings } from './settings.ts';

/** One aspect of a change. */
export interface Difference {
  aspect: Aspect;
  /** A row each, those that differ first; empty where there is nothing. */
  old: string[];
  now: string[];
}

/** Rows of one side that are kept; the last one says how many more there are. */
const MOST_ROWS = 20;
const LONGEST_ROW = 200;

const channelTexts = (channels: readonly ChannelEntry[]): string[] =>
  channelRows(channels).map(({ kind, address }) => `${kind} ${address}`);

const triggerTexts = (triggers: WatchedSettings['triggers']): string[] =>
  Object.entries(triggers).map(([severity, { detectionsGroup, actions }]) => {
    const groups = detectionsGroup.map((group) => group.join(' and ')).join(', or ');
    return `${severity}: ${groups || 'no detectors'}; then ${actions.join(', ') || 'nothing'}`;
  });

const detectorText = ({ name, config, external }: WatchedDetector): string =>
  [name || '(no name)', ...(config === undefined ? [] : [config]), ...(external === true ? ['(external)'] : [])].join(
    ' ',
  );

const rowsOf = (aspect: Aspect, settings: WatchedSettings): string[] => {
  if (aspect === 'channels') return channelTexts(settings.channels);
  if (aspect === 'triggers') return triggerTexts(settings.triggers);
  if (aspect === 'detectors') return (settings.detectors ?? []).map(detectorText);
  return settings.tracking === undefined ? [] : [settings.tracking ? 'on' : 'off'];
};

/** Those that the other side lacks come first: they are what a cut must not hide. */
const sideOf = (rows: readonly string[], others: readonly string[]): string[] => {
  const known = new Set(others);
  const sorted = [...rows.filter((row) => !known.has(row)), ...rows.filter((row) => known.has(row))];
  const shown = sorted.slice(0, MOST_ROWS).map((row) => shorten(cleanLine(row), LONGEST_ROW));
  return sorted.length > MOST_ROWS ? [...shown, `and ${sorted.length - MOST_ROWS} more`] : shown;
};

const NOTHING: WatchedSettings = { channels: [], triggers: {} };

/** Of a protocol that is new or vanished: all that is known of it. */
export const differencesOf = (change: Change): Difference[] => {
  const before = change.kind === 'new' ? NOTHING : change.before;
  const after = change.kind === 'vanished' ? NOTHING : change.after;
  const aspects = change.kind === 'changed' ? change.aspects : ASPECTS;
  return aspects.flatMap((aspect) => {
    const [old, now] = [rowsOf(aspect, before), rowsOf(aspect, after)];
    if (old.length + now.length === 0) return [];
    return { aspect, old: sideOf(old, now), now: sideOf(now, old) };
  });
};
