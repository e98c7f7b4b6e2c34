/** Who is in which channel. Source: https://docs.slack.dev/reference/methods/conversations.members */
import type { JsonObject } from '../../json.ts';

export interface SlackMembers {
  /** The ids of those who are in a channel, by its id; undefined: everybody. Default: everybody is in every channel. */
  set(channelId: string, users: readonly string[] | undefined): void;
  isIn(channelId: string, user: string): boolean;
  /** Fields of the answer about a channel that exists, or Slack's error. Of everybody nobody is listed but the usual ones. */
  page(channelId: string, fields: JsonObject): { fields: JsonObject } | { error: string };
}

const USUAL = ['U0SANDBOX', 'U0ANN0000'];
const LIMIT = { default: 100, max: 999 };
const CURSOR = /^from:(\d{1,6})$/;

const cursorOf = (from: number): string => Buffer.from(`from:${from}`).toString('base64');

/** Undefined for a cursor that Slack did not give. */
const placeOf = (cursor: string): number | undefined => {
  const [, from] = CURSOR.exec(Buffer.from(cursor, 'base64').toString()) ?? [];
  return from === undefined ? undefined : Number(from);
};

export const createSlackMembers = (): SlackMembers => {
  const known = new Map<string, readonly string[]>();
  return {
    set: (channelId, users) => {
      if (users === undefined) known.delete(channelId);
      else known.set(channelId, users);
    },
    isIn: (channelId, user) => known.get(channelId)?.includes(user) ?? true,
    page: (channelId, { limit = LIMIT.default, cursor = '' }) => {
      const most = Number(limit);
      if (!Number.isInteger(most) || most < 1 || most > LIMIT.max) return { error: 'invalid_limit' };
      const from = cursor === '' ? 0 : placeOf(String(cursor));
      const all = known.get(channelId) ?? USUAL;
      if (from === undefined || from >= Math.max(1, all.length)) return { error: 'invalid_cursor' };
      const next = from + most;
      return {
        fields: {
          members: all.slice(from, next),
          response_metadata: { next_cursor: next < all.length ? cursorOf(next) : '' },
        },
      };
    },
  };
};
