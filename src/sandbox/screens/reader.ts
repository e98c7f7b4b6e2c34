/** How a message is read: its body as JSON, and times as the apps show them, by the reader's clock. */
import { isObject, type JsonObject, type JsonValue } from '../json.ts';

export const textIn = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

const ENTITIES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39' };

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&${ENTITIES[sign]};`);

export const unescapeHtml = (text: string): string =>
  Object.entries(ENTITIES).reduceRight((left, [sign, name]) => left.replaceAll(`&${name};`, sign), text);

export const objectsIn = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** What is left of a body when it is sent. */
export const bodyAsJson = (body: unknown): JsonObject => {
  const value = JSON.parse(JSON.stringify(body)) as JsonValue;
  return isObject(value) ? value : {};
};

export interface Reader {
  /** Epoch milliseconds. */
  now: number;
  /** IANA name. */
  timeZone: string;
}

const part = (at: number, timeZone: string, options: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat('en-US', { timeZone, ...options }).format(at);

const dayOf = (at: number, { timeZone }: Reader): string =>
  part(at, timeZone, { year: 'numeric', month: '2-digit', day: '2-digit' });

const DAY_MS = 86_400_000;

const pretty = (at: number, reader: Reader, otherwise: string): string => {
  if (dayOf(at, reader) === dayOf(reader.now, reader)) return 'today';
  return dayOf(at, reader) === dayOf(reader.now - DAY_MS, reader) ? 'yesterday' : otherwise;
};

const agoText = (at: number, { now }: Pick<Reader, 'now'>): string => {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 60) return `${seconds} seconds ago`;
  return seconds < 3600 ? `${Math.round(seconds / 60)} minutes ago` : `${Math.round(seconds / 3600)} hours ago`;
};

export const timeOf = (at: number, { timeZone }: Reader, seconds: boolean): string =>
  part(at, timeZone, { hour: 'numeric', minute: '2-digit', ...(seconds && { second: '2-digit' }) });

const DATES: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  date: { month: 'long', day: 'numeric' },
  date_short: { month: 'short', day: 'numeric', year: 'numeric' },
  date_long: { weekday: 'long', month: 'long', day: 'numeric', year: 'numeric' },
  date_long_full: { month: 'long', day: 'numeric', year: 'numeric' },
};

const tokenText = (token: string, at: number, reader: Reader): string | undefined => {
  const { timeZone } = reader;
  if (token === 'time' || token === 'time_secs') return timeOf(at, reader, token === 'time_secs');
  if (token === 'ago') return agoText(at, reader);
  if (token === 'date_num') return new Date(at).toISOString().slice(0, 10);
  if (token === 'date_slash') return dayOf(at, reader);
  const plain = token.replace(/_pretty$/, '');
  const options = DATES[plain === 'day_divider' ? 'date' : plain];
  const date = options && part(at, timeZone, options);
  return date === undefined || plain === token ? date : pretty(at, reader, date);
};

/** Slack's `{date_short_pretty} {time_secs}`; undefined for a format that Slack does not know. */
export const slackDate = (seconds: number, format: string, reader: Reader): string | undefined => {
  const shown = format.replace(/\{(\w+)\}/g, (token, name: string) => tokenText(name, seconds * 1000, reader) ?? token);
  return shown.includes('{') ? undefined : shown;
};

/** Telegram's `wDT`; an empty format shows the text. */
export const telegramDate = (seconds: number, format: string, text: string, reader: Reader): string => {
  const at = seconds * 1000;
  if (format === '') return text;
  if (/^r$/i.test(format)) return agoText(at, reader);
  const day = /w/i.test(format) ? [part(at, reader.timeZone, { weekday: 'long' })] : [];
  const dates = /d/i.test(format)
    ? [part(at, reader.timeZone, format.includes('D') ? (DATES.date_long_full ?? {}) : { dateStyle: 'short' })]
    : [];
  const times = /t/i.test(format) ? [timeOf(at, reader, format.includes('T'))] : [];
  return [...day, ...dates, ...times].join(', ');
};
