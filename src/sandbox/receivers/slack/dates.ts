/**
 * Dates that Slack shows by the reader's clock.
 * Source: https://docs.slack.dev/messaging/formatting-message-text#date-formatting and
 * https://docs.slack.dev/reference/block-kit/block-elements/date-element
 */
import type { JsonValue } from '../../json.ts';
import { problem } from './check.ts';

const TOKENS = [
  ...['date_num', 'date', 'date_short', 'date_long', 'date_pretty', 'date_short_pretty', 'date_long_pretty'],
  ...['date_slash', 'date_long_full', 'day_divider_pretty', 'time', 'time_secs', 'ago'],
];

/** An unknown token makes Slack show the fallback: our mistake, though Slack takes the message. */
export const checkDateFormat = (format: JsonValue | undefined, pointer: string): string[] => {
  const used = [...String(format).matchAll(/\{([^{}]*)\}/g)].map(([, token = '']) => token);
  if (used.length === 0) return [problem('a date format needs a token', pointer)];
  return used
    .filter((token) => !TOKENS.includes(token))
    .map((token) => problem(`unknown date token {${token}}`, pointer));
};

/** `<!date^SECONDS^FORMAT|FALLBACK>`, with `^URL` behind the format where it is a link. */
export const DATE = /<!date\^(\d{1,12})\^([^^|<>]+)(?:\^(https?:[^|<>]+))?\|([^<>]+)>/g;

/** Of a text in Slack's markup. */
export const checkDates = (text: string, pointer: string): string[] => {
  const formats = [...text.matchAll(DATE)].flatMap(([, , format]) => checkDateFormat(format, pointer));
  const isBroken = text.replace(DATE, '').includes('<!date');
  return [...formats, ...(isBroken ? [problem('invalid date', pointer)] : [])];
};
