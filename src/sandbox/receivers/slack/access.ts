/** What a bot's token may do. Source: https://docs.slack.dev/authentication/installing-with-oauth, and each method's page. */
import type { JsonObject } from '../../json.ts';

export interface SlackAccess {
  /** The fields of the Web API's refusal of this call; undefined where the token may make it. */
  refuse(token: string | undefined, method: string): JsonObject | undefined;
  /** What Slack says of them in `x-oauth-scopes`. */
  scopes(): string;
  /** The token is worth nothing until the given function is called. */
  revoke(): () => void;
  /** Leaves the token these scopes only, until the given function is called. */
  limit(scopes: readonly string[]): () => void;
}

const BOT_SCOPES: readonly string[] = ['chat:write', 'files:write'];

/** Methods that are not here need none. */
const NEEDED: Readonly<Record<string, string>> = {
  'chat.postMessage': 'chat:write',
  'chat.update': 'chat:write',
  'chat.postEphemeral': 'chat:write',
  'conversations.info': 'channels:read',
  'conversations.members': 'channels:read',
  'files.getUploadURLExternal': 'files:write',
  'files.completeUploadExternal': 'files:write',
};

export const createSlackAccess = (botToken: string): SlackAccess => {
  let granted = BOT_SCOPES;
  let revoked = false;
  return {
    refuse: (token, method) => {
      if (token === undefined) return { error: 'not_authed' };
      if (token !== botToken) return { error: 'invalid_auth' };
      if (revoked) return { error: 'token_revoked' };
      const needed = NEEDED[method];
      if (needed === undefined || granted.includes(needed)) return undefined;
      return { error: 'missing_scope', needed, provided: granted.join(',') };
    },
    scopes: () => granted.join(','),
    revoke: () => {
      revoked = true;
      return () => {
        revoked = false;
      };
    },
    limit: (scopes) => {
      granted = scopes;
      return () => {
        granted = BOT_SCOPES;
      };
    },
  };
};
