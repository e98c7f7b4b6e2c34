/** What people read where a protocol's settings were changed at the service. Pure. */
import { channelRows, placeOf } from '../../channels/registry.ts';
import type { ChannelEntry } from '../../item.ts';
import { cleanLine, counted, firstFew, namesText, nameText, quotedName, serviceText, shorten } from '../../text.ts';
import { historyOf, TO_DO } from '../announcements/announce.ts';
import type { Change } from './changes.ts';
import { STAYED_MS } from './unannounced.ts';
import { ASPECTS, type Aspect, type WatchedDetector, type WatchedSettings } from './watched.ts';

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

/** A row of channels, as people read it: `Slack channel C024BE91L`. */
const channelRow = (row: string): string => {
  const [kind = '', ...address] = row.split(' ');
  return placeOf({ kind, label: address.join(' ') });
};

const triggerTexts = (triggers: WatchedSettings['triggers']): string[] =>
  Object.entries(triggers).map(([severity, { detectionsGroup, actions }]) => {
    const groups = detectionsGroup.map((group) => group.join(' and ')).join(', or ');
    return `${severity}: ${groups || 'no detectors'}; then ${actions.join(', ') || 'nothing'}`;
  });

const detectorText = ({ name, config, external }: WatchedDetector): string =>
  [name || '(no name)', config ?? [], external === true ? '(external)' : []].flat().join(' ');

const rowsOf = (aspect: Aspect, settings: WatchedSettings): string[] => {
  if (aspect === 'channels') return channelTexts(settings.channels);
  if (aspect === 'triggers') return triggerTexts(settings.triggers);
  if (aspect === 'detectors') return (settings.detectors ?? []).map(detectorText);
  if (aspect !== 'tracking') return settings[aspect] ?? [];
  return settings.tracking === undefined ? [] : [settings.tracking ? 'on' : 'off'];
};

/** Those that the other side lacks come first: they are what a cut must not hide. */
const sideOf = (rows: readonly string[], others: readonly string[]): string[] => {
  const known = new Set(others);
  const sorted = [...rows.filter((row) => !known.has(row)), ...rows.filter((row) => known.has(row))];
  return firstFew(sorted, MOST_ROWS).map((row) => shorten(cleanLine(row), LONGEST_ROW));
};

const NOTHING: WatchedSettings = { channels: [], triggers: {} };

/** Of a protocol that is new or vanished: all that is known of it. */
export const differencesOf = (change: Change): Difference[] => {
  const before = change.before ?? NOTHING;
  const after = change.kind === 'vanished' ? NOTHING : change.after;
  const aspects = change.kind === 'changed' ? change.aspects : ASPECTS;
  return aspects.flatMap((aspect) => {
    const [old, now] = [rowsOf(aspect, before), rowsOf(aspect, after)];
    if (old.length + now.length === 0) return [];
    return { aspect, old: sideOf(old, now), now: sideOf(now, old) };
  });
};

/** A change, as people read it. */
export interface ChangeWords {
  protocol: string;
  kind: Change['kind'];
  /** New, but it was listed before. */
  isBack?: boolean;
  differences: readonly Difference[];
  /** It is listed, but cannot be read any more. */
  isUnreadable?: boolean;
  /** Its last person's channel was removed. */
  isCritical: boolean;
  /** Somebody who read it does so no more. */
  losesReader?: boolean;
  /** Epoch milliseconds: when it was seen first; absent: it was there from the first. */
  since?: number | undefined;
  /** It was changed so often within the hour that its next changes are not announced. */
  comesAndGoes?: boolean;
  /** Several changes in sum, of which the last ones were not announced. */
  hasStayed?: boolean;
}

/** A message describes at most this many protocols, and names as many of the others. */
const DESCRIBED = 5;
const LONGEST_SIDE = 600;

/** `A, B and C`. */
const wordsText = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/** What could pass for more than one row, or for a sentence of ours. */
const SENTENCE = /[.,;:!?“”"]\s/;

const rowText = (row: string): string => (SENTENCE.test(row) ? quotedName(row) : row);

const sideText = (rows: readonly string[], aspect: Aspect): string => {
  const shown = aspect === 'channels' ? rows.map(channelRow) : rows;
  return shorten(shown.map(rowText).join('; ') || (aspect === 'tracking' ? 'not listed' : 'none'), LONGEST_SIDE);
};

const aspectText = (aspect: Aspect): string => (aspect === 'privileged' ? 'privileged methods' : aspect);

const aspectsText = ({ differences }: ChangeWords): string =>
  wordsText(differences.map(({ aspect }) => aspectText(aspect)));

const whatHappened = (change: ChangeWords): string => {
  if (change.isCritical) return 'has no channel to people any more';
  if (change.kind === 'new') return change.isBack ? 'is listed again' : 'is new';
  if (change.kind === 'changed') return `has other ${aspectsText(change)}`;
  return `${change.isUnreadable ? 'cannot be read in the list' : 'is not listed'} any more, so nothing of it is watched`;
};

const sideLines = ({ kind, isBack, differences }: ChangeWords): string[] =>
  differences.flatMap(({ aspect, old, now }) => [
    ...(kind === 'new' && !isBack ? [] : [`${aspectText(aspect)} before: ${sideText(old, aspect)}`]),
    ...(kind === 'vanished' ? [] : [`${aspectText(aspect)} now: ${sideText(now, aspect)}`]),
  ]);

const headline = (service: string, all: readonly ChangeWords[]): string => {
  const [first] = all;
  const at = `at ${serviceText(service)}`;
  const mark = all.some(({ isCritical }) => isCritical) ? 'Critical: ' : '';
  if (first === undefined || all.length > 1) {
    const names = all.map(({ protocol }) => protocol);
    return `${mark}${counted(all.length, 'protocol')} were changed ${at}: ${namesText(names, DESCRIBED)}.`;
  }
  if (first.isCritical)
    return `${mark}No person gets alerts of ${nameText(first.protocol)} any more: its channels ${at} were changed.`;
  return `The protocol ${nameText(first.protocol)} ${whatHappened(first)} ${at}.`;
};

const remedyOf = (all: readonly ChangeWords[]): string => {
  if (all.some(({ kind }) => kind === 'changed'))
    return 'set its channels again with `tocsin protocols replace-channels`';
  return all.some(({ kind }) => kind === 'vanished') ? 'see who removed it' : 'see who created it';
};

const advice = (all: readonly ChangeWords[]): string =>
  `${TO_DO}ask your team who did this. If nobody did, somebody else has access to the monitoring service: change the API key there, and ${remedyOf(all)}. For earlier changes, run: ${historyOf(all)}`;

/** What becomes of the alerts of a protocol that nobody reads any more. */
const WHO_HEARS = 'Its alerts reach people only by the fallback now, where there is one.';

const STAYED = `stayed so for ${STAYED_MS / 60_000} minutes`;

/** Of those that came and went. */
const stayed = (all: readonly ChangeWords[]): string[] => {
  if (!all.some(({ hasStayed }) => hasStayed)) return [];
  const who = all.length === 1 ? 'It has' : 'They have';
  return [`${who} ${STAYED}. Before, changes came too often to be announced each.`];
};

/** For those that come and go. */
const restOfHour = (all: readonly ChangeWords[]): string[] => {
  const names = all.filter(({ comesAndGoes }) => comesAndGoes).map(({ protocol }) => protocol);
  if (names.length === 0) return [];
  const who = namesText(names, DESCRIBED);
  const rest = 'For the rest of the hour such changes are only in the log and the history';
  return [`Changed again and again: ${who}. ${rest}; what has ${STAYED} is announced then.`];
};

/** Each may take all alerts away. */
const TAKES_ALERTS: readonly Aspect[] = ['triggers', 'tracking'];

/** What matters less comes later: many small changes, or new protocols, must not hide the one that takes alerts away. */
const weightOf = ({ isCritical, losesReader, kind, isBack, differences }: ChangeWords): number => {
  if (isCritical || losesReader || kind === 'vanished') return 0;
  if (kind === 'changed' && differences.some(({ aspect }) => TAKES_ALERTS.includes(aspect))) return 0;
  if (kind === 'new') return isBack ? 1 : ASPECTS.length + 2;
  return 1 + Math.min(ASPECTS.length, ...differences.map(({ aspect }) => ASPECTS.indexOf(aspect)));
};

/** Of those that matter as much the oldest comes first: what somebody has made for this is younger. */
export const worstFirst = <T extends ChangeWords>(changes: readonly T[]): T[] =>
  changes.toSorted(
    (a, b) =>
      weightOf(a) - weightOf(b) ||
      (a.since ?? 0) - (b.since ?? 0) ||
      Number(b.isCritical || b.losesReader === true) - Number(a.isCritical || a.losesReader === true),
  );

export const changesText = (service: string, changes: readonly ChangeWords[]): string => {
  const all = worstFirst(changes);
  const described = all.slice(0, DESCRIBED);
  const lines = described.flatMap((change) => {
    if (all.length === 1) return sideLines(change);
    const head = `Protocol ${nameText(change.protocol)} ${whatHappened(change)}:`;
    return [head, ...sideLines(change).map((line) => `- ${line}`)];
  });
  const rest = all.length - described.length;
  const more = rest > 0 ? [`${counted(rest, 'other protocol')} changed, too: \`${historyOf(all)}\` shows each.`] : [];
  return [
    headline(service, all),
    ...lines,
    ...(all.some(({ isCritical }) => isCritical) ? [WHO_HEARS] : []),
    ...more,
    ...stayed(all),
    ...restOfHour(all),
    advice(all),
  ].join('\n');
};
