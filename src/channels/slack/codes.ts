/**
 * Slack's documented error codes. Sources: the errors of `chat.postMessage` at
 * docs.slack.dev/reference/methods/chat.postMessage and in slack-ruby/slack-api-ref, the errors common to all methods;
 * those of `chat.update`, `files.getUploadURLExternal` and `files.completeUploadExternal` in the same places;
 * for incoming webhooks docs.slack.dev/messaging/sending-messages-using-incoming-webhooks and Slack's change log of May 2016.
 */
import type { DeliveryReason, Explanation } from '../../errors.ts';

const MINUTE_MS = 60_000;

/** Slack names no wait for these: a migration takes minutes, a workspace's quota hours. */
export const OWN_WAITS_MS: Readonly<Record<string, number>> = {
  team_added_to_org: 5 * MINUTE_MS,
  org_login_required: 15 * MINUTE_MS,
  external_channel_migrating: 5 * MINUTE_MS,
  message_limit_exceeded: 60 * MINUTE_MS,
};

/** "It's possible some aspect of the operation succeeded before the error was raised." */
export const MAYBE_DELIVERED: readonly string[] = ['fatal_error', 'internal_error', 'request_timeout'];

/** Any other code is `unknown`: only a documented one may end a delivery. */
export const SLACK_CODES: Readonly<Record<string, DeliveryReason>> = {
  // Slack itself has a problem.
  internal_error: 'unavailable',
  fatal_error: 'unavailable',
  service_unavailable: 'unavailable',
  request_timeout: 'unavailable',
  team_added_to_org: 'unavailable',
  org_login_required: 'unavailable',
  rollup_error: 'unavailable',
  update_failed: 'unavailable',
  external_channel_migrating: 'unavailable',
  streaming_state_conflict: 'unavailable',

  // Too many messages for this channel or the workspace.
  ratelimited: 'rate-limited',
  rate_limited: 'rate-limited',
  message_limit_exceeded: 'rate-limited',

  // This channel or incoming webhook accepts nothing from us.
  channel_not_found: 'destination-dead',
  channel_is_archived: 'destination-dead',
  is_archived: 'destination-dead',
  not_in_channel: 'destination-dead',
  restricted_action: 'destination-dead',
  restricted_action_read_only_channel: 'destination-dead',
  restricted_action_thread_only_channel: 'destination-dead',
  messages_tab_disabled: 'destination-dead',
  ekm_access_denied: 'destination-dead',
  team_not_found: 'destination-dead',
  slack_connect_canvas_sharing_blocked: 'bad-message',
  slack_connect_file_link_sharing_blocked: 'bad-message',
  slack_connect_lists_sharing_blocked: 'bad-message',
  action_prohibited: 'destination-dead',
  posting_to_general_channel_denied: 'destination-dead',
  invalid_token: 'destination-dead',
  no_service: 'destination-dead',
  no_service_id: 'destination-dead',
  no_active_hooks: 'destination-dead',
  no_team: 'destination-dead',
  team_disabled: 'destination-dead',

  // Our token is at fault, so all its channels wait.
  not_authed: 'sender-misconfigured',
  invalid_auth: 'sender-misconfigured',
  account_inactive: 'sender-misconfigured',
  token_revoked: 'sender-misconfigured',
  token_expired: 'sender-misconfigured',
  missing_scope: 'sender-misconfigured',
  not_allowed_token_type: 'sender-misconfigured',
  no_permission: 'sender-misconfigured',
  access_denied: 'sender-misconfigured',
  accesslimited: 'sender-misconfigured',
  app_access_restricted: 'sender-misconfigured',
  two_factor_setup_required: 'sender-misconfigured',
  enterprise_is_restricted: 'sender-misconfigured',
  send_on_behalf_not_allowed: 'sender-misconfigured',
  as_user_not_supported: 'sender-misconfigured',
  is_bot: 'sender-misconfigured',
  metadata_must_be_sent_from_app: 'sender-misconfigured',
  method_deprecated: 'sender-misconfigured',
  deprecated_endpoint: 'sender-misconfigured',
  unknown_method: 'sender-misconfigured',
  team_access_not_granted: 'sender-misconfigured',

  // This body is refused: a plainer one may pass.
  invalid_blocks: 'bad-message',
  invalid_blocks_format: 'bad-message',
  msg_blocks_too_long: 'bad-message',
  msg_too_long: 'bad-message',
  no_text: 'bad-message',
  too_many_attachments: 'bad-message',
  attachment_payload_limit_exceeded: 'bad-message',
  too_many_contact_cards: 'bad-message',
  metadata_too_large: 'bad-message',
  invalid_metadata_format: 'bad-message',
  invalid_metadata_schema: 'bad-message',
  markdown_text_conflict: 'bad-message',
  invalid_arguments: 'bad-message',
  invalid_arg_name: 'bad-message',
  invalid_array_arg: 'bad-message',
  invalid_charset: 'bad-message',
  invalid_form_data: 'bad-message',
  invalid_post_type: 'bad-message',
  missing_post_type: 'bad-message',
  missing_file_data: 'bad-message',
  invalid_payload: 'bad-message',
  user_not_found: 'bad-message',
  invalid_attachments: 'bad-message',

  // This thread is closed to us: the same message may pass outside it. The last two are documented by slackapi/bolt-js#2307 and
  // jenkinsci/slack-plugin#584 only.
  cannot_reply_to_message: 'bad-message',
  restricted_action_thread_locked: 'bad-message',
  restricted_action_non_threadable_channel: 'bad-message',
  thread_not_found: 'bad-message',
  invalid_thread_ts: 'bad-message',

  // The earlier message can no longer be changed: a new one may pass.
  message_not_found: 'bad-message',
  cant_update_message: 'bad-message',
  edit_window_closed: 'bad-message',
  is_inactive: 'bad-message',
  block_mismatch: 'bad-message',
  cant_broadcast_message: 'bad-message',
  no_dual_broadcast_content_update: 'bad-message',

  // The file is refused: a message without one may pass.
  missing_argument: 'bad-message',
  storage_limit_reached: 'bad-message',
  file_uploads_disabled: 'bad-message',
  file_upload_size_restricted: 'bad-message',
  snippet_too_large: 'bad-message',
  unknown_snippet_type: 'bad-message',
  unknown_subtype: 'bad-message',
  alt_txt_too_large: 'bad-message',
  file_not_found: 'bad-message',
  file_update_failed: 'bad-message',
  invalid_channel: 'bad-message',
  posting_to_channel_denied: 'bad-message',
  channels_limit_exceeded: 'bad-message',
};

/** Of these the thread is the reason. */
export const THREAD_REFUSALS: readonly string[] = [
  'cannot_reply_to_message',
  'restricted_action_thread_locked',
  'restricted_action_non_threadable_channel',
  'thread_not_found',
  'invalid_thread_ts',
];

/** With these the token is worthless, so a message without a file would fail too. */
export const WORTHLESS_TOKEN: readonly string[] = [
  'not_authed',
  'invalid_auth',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'no_token',
];

// What Slack's codes mean to people, and what mends each. The meanings are Slack's, from the same places as `codes.ts`; the
// words are ours.

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
