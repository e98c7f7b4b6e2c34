/**
 * What Slack's codes mean to people, and what mends each. The meanings are Slack's, from the same places as `codes.ts`; the
 * words are ours.
 */
import type { Explanation } from '../../errors.ts';

const channel = (is: string, todo: string): Explanation => ({ is, todo });
const slack = (is: string, todo: string): Explanation => ({ who: 'Slack', is, todo });

const INVITE = 'invite the bot in the channel (/invite), or correct the channel id, at the service or in the config';
const UNARCHIVE = 'unarchive the channel, or list another one, at the service or in the config';
const ASK_ADMIN = 'ask an admin of the Slack workspace to let the bot post there, or list another channel';
const NEW_HOOK =
  'make a new incoming webhook in Slack, and write its URL where the old one is, at the service or in the config';
const TOKEN = 'write a bot token that works into channels.slack.botToken';
const REINSTALL = 'install the Slack app again, and write its bot token into channels.slack.botToken';
const ADMIT = 'ask an admin of the Slack workspace to admit the app';

const ARCHIVED = channel('is archived', UNARCHIVE);
const NO_HOOK = channel('is an incoming webhook that was removed or disabled', NEW_HOOK);

export const NO_TOKEN: Explanation = {
  who: 'the config',
  is: 'has no bot token for Slack channels',
  todo: TOKEN,
};

const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  is_archived: ARCHIVED,
  channel_is_archived: ARCHIVED,
  channel_not_found: channel('does not exist, or is private and the bot is not in it', INVITE),
  not_in_channel: channel('does not have the bot as a member', INVITE),
  restricted_action: channel('is closed to the bot by a setting of the workspace', ASK_ADMIN),
  restricted_action_read_only_channel: channel('is read-only', ASK_ADMIN),
  restricted_action_thread_only_channel: channel('takes only replies in threads', ASK_ADMIN),
  ekm_access_denied: channel('is closed: admins have suspended posting', ASK_ADMIN),
  action_prohibited: channel('is closed to this incoming webhook by a setting of the workspace', ASK_ADMIN),
  posting_to_general_channel_denied: channel('takes messages of admins only', ASK_ADMIN),
  messages_tab_disabled: channel(
    'is a direct message, and the app has its messages tab off',
    'turn on the Messages Tab under App Home in the settings of the Slack app',
  ),
  team_not_found: channel('is in a workspace that Slack does not find', NEW_HOOK),
  no_team: channel('is in a workspace that Slack does not find', NEW_HOOK),
  team_disabled: channel('is in a workspace that is not active any more', NEW_HOOK),
  invalid_token: NO_HOOK,
  no_service: NO_HOOK,
  no_service_id: NO_HOOK,
  no_active_hooks: NO_HOOK,

  not_authed: slack('got no bot token from us', TOKEN),
  invalid_auth: slack('does not take our bot token, or not from this IP address', TOKEN),
  account_inactive: slack('has deactivated our bot, or its workspace', REINSTALL),
  token_revoked: slack('has revoked our bot token', REINSTALL),
  token_expired: slack('says that our bot token has expired', REINSTALL),
  missing_scope: slack(
    'gives our bot token too few scopes',
    'give the Slack app the scopes chat:write and files:write, and install it again',
  ),
  not_allowed_token_type: slack(
    'does not take a token of this type',
    'write a bot token (xoxb-...) into channels.slack.botToken',
  ),
  no_permission: slack('does not let our bot token post', INVITE),
  access_denied: slack('does not let our bot token post', ADMIT),
  accesslimited: slack('does not let us in from this network', ADMIT),
  app_access_restricted: slack('does not let our app in', ADMIT),
  team_access_not_granted: slack('does not let our bot token into this workspace', ADMIT),
  two_factor_setup_required: slack(
    'wants two-factor authentication to be set up first',
    'set it up for the account that installed the Slack app',
  ),
};

/** Undefined for a code that says nothing about the channel or the token. */
export const explain = (code: string): Explanation | undefined =>
  Object.hasOwn(EXPLANATIONS, code) ? EXPLANATIONS[code] : undefined;

/** Of an incoming webhook, whose key is its own: what would blame the bot token blames the webhook. */
export const explainHook = (code: string): Explanation | undefined => {
  const explanation = explain(code);
  return explanation?.who === undefined ? explanation : NO_HOOK;
};
