/** Rates, operators' actions and the configuration in words. Pure. */
import type { RateLimit } from '../../channels/options.ts';
import { hideUrlTails, showPath } from '../../config/display.ts';
import type { RecordedAction } from '../../ledger/operator-log.ts';
import type { ActionDetails, ConfigEntry } from '../../ops/page/details.ts';
import type { Secret } from '../../secret.ts';
import { cleanLine, counted, shorten } from '../../text.ts';
import { durationText } from '../../time.ts';
import { whoText } from '../acknowledgement/words.ts';

/** `1/s, 20/min` */
export const rateText = ({ perSecond, perMinute }: RateLimit): string =>
  [
    ...(perSecond === undefined ? [] : [`${perSecond}/s`]),
    ...(perMinute === undefined ? [] : [`${perMinute}/min`]),
  ].join(', ');

/** A newer version may record what this one has no words for: its name says something. */
const doneText = (action: RecordedAction): string => {
  switch (action.action) {
    case 'mute-begun':
      return `muted ${action.what}: ${action.reason}`;
    case 'mute-extended':
      return `extended the mute of ${action.what}`;
    case 'mute-ended':
      return `ended the mute of ${action.what}`;
    case 'destination-approved':
      return `approved ${action.to}, ${counted(action.sent, 'held alert')} sent`;
    case 'destination-revoked':
      return `revoked ${action.to}`;
    case 'destination-dropped':
      return `dropped ${counted(action.dropped, 'held alert')} for ${action.to}`;
    case 'destination-enabled':
      return `enabled ${action.to}`;
    case 'cursor-moved':
      return `moved the cursor of ${action.protocol} (${action.source}) to ${action.movedTo}`;
    case 'dead-retried':
      return `sent ${counted(action.sent, 'dead delivery', 'dead deliveries')} again`;
    case 'dead-dropped':
      return `dropped ${counted(action.dropped, 'dead delivery', 'dead deliveries')}`;
    case 'test-sent':
      return `sent a test to ${action.to}`;
    case 'acknowledged':
      return `${whoText({ by: action.author, userId: action.user })} acknowledged ${counted(action.acknowledged, 'alert')} in ${action.to}`;
    case 'replayed':
      return `replayed ${counted(action.queued, 'delivery', 'deliveries')} since ${action.since}`;
    default:
      return (action as { action: string }).action;
  }
};

export const actionDetails = (action: RecordedAction): ActionDetails => {
  const text = doneText(action);
  if (action.by !== 'page') return { at: action.at, text };
  const user = action.user === undefined ? '' : `, by ${action.user}`;
  return { at: action.at, text: `${text} (on this page${user})` };
};

const isSecret = (value: object): value is Secret => 'reveal' in value;

/** Keys whose numbers are milliseconds. */
const DURATION = /(?:timeout|interval|overlap|lookback|every|after|maxage|maxlength|startfrom)$/i;
const LONGEST_VALUE = 200;
/** So many entries are shown; the file has the others. */
const MOST_ENTRIES = 400;

const scalarText = (key: string, value: unknown): string => {
  if (typeof value === 'number' && DURATION.test(key)) return durationText(value);
  if (value === null || value === undefined) return 'none';
  return hideUrlTails(cleanLine(String(value)));
};

/** What stands in one line: a scalar, a secret, a list of scalars. */
const leafText = (key: string, value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null) return scalarText(key, value);
  if (isSecret(value)) return '[secret]';
  if (Object.keys(value).length === 0) return 'none';
  const isPlainList = Array.isArray(value) && value.every((each) => typeof each !== 'object');
  return isPlainList ? value.map((each) => scalarText(key, each)).join(', ') : undefined;
};

const entriesIn = (value: unknown, path: readonly (string | number)[]): ConfigEntry[] => {
  const key = showPath(path);
  const text = leafText(key, value);
  if (text !== undefined) return [{ key, value: shorten(text, LONGEST_VALUE) }];
  return Object.entries(value ?? {}).flatMap(([name, each]) => entriesIn(each, [...path, name]));
};

/** What is in force, defaults included, by dotted key. */
export const configEntries = (config: object, scrub: (text: string) => string): ConfigEntry[] => {
  const all = entriesIn(config, []).map(({ key, value }) => ({ key: scrub(key), value: scrub(value) }));
  const more = all.length - MOST_ENTRIES;
  return more > 0 ? [...all.slice(0, MOST_ENTRIES), { key: `and ${more} more`, value: 'see the file' }] : all;
};
