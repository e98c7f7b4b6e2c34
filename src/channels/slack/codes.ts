/**
 * Slack's documented error codes: what each means for a delivery and to people, and what mends it. Sources: the errors of
 * `chat.postMessage` at docs.slack.dev/reference/methods/chat.postMessage and in slack-ruby/slack-api-ref, the errors common
 * to all methods; those of `chat.update`, `files.getUploadURLExternal` and `files.completeUploadExternal` in the same places;
 * for incoming webhooks docs.slack.dev/messaging/sending-messages-using-incoming-webhooks and Slack's change log of May 2016.
 * The meanings are Slack's, the words are ours.
 */
import type { Explanation } from '../../errors.ts';
import { allOf } from '../../net.ts';
import { dead, misconfigured, type Verdict } from '../failures.ts';

interface CodeMeaning extends Verdict {
  /** The thread is the reason: the same message may pass outside it. */
  isOfThread?: true;
}

const MINUTE_MS = 60_000;

const refused = (is: string, todo: string): CodeMeaning => misconfigured('Slack', is, todo);

const same = (meaning: CodeMeaning, codes: string): Record<string, CodeMeaning> =>
  allOf(codes.trim().split(/\s+/), meaning);

const BAD_MESSAGE: CodeMeaning = { reason: 'bad-message' };

const INVITE =
  'invite the bot in the channel (/invite), or correct the channel id, at the monitoring service or in the config of Tocsin';
const UNARCHIVE = 'unarchive the channel, or list another one, at the monitoring service or in the config of Tocsin';
const ASK_ADMIN = 'ask an admin of the Slack workspace to let the bot post there, or list another channel';
const NEW_HOOK =
  'make a new incoming webhook in Slack, and write its URL where the old one is, at the monitoring service or in the config of Tocsin';
const TOKEN = 'write a bot token that works into channels.slack.botToken';
const REINSTALL = 'install the Slack app again, and write its bot token into channels.slack.botToken';
const ADMIT = 'ask an admin of the Slack workspace to admit the app';

export const NO_TOKEN: Explanation = { who: 'the config', is: 'has no bot token for Slack channels', todo: TOKEN };
const NO_HOOK = dead('is an incoming webhook that was removed or disabled', NEW_HOOK);

/** Any other code is `unknown`: only a documented one may end a delivery. */
export const SLACK_CODES: Readonly<Record<string, CodeMeaning>> = {
  ...same({ reason: 'unavailable' }, 'service_unavailable rollup_error update_failed streaming_state_conflict'),
  // "It's possible some aspect of the operation succeeded before the error was raised."
  ...same({ reason: 'unavailable', maybeDelivered: true }, 'internal_error fatal_error request_timeout'),
  // Slack names no wait for these: a migration takes minutes, a workspace's quota hours.
  ...same({ reason: 'unavailable', retryAfterMs: 5 * MINUTE_MS }, 'team_added_to_org external_channel_migrating'),
  org_login_required: { reason: 'unavailable', retryAfterMs: 15 * MINUTE_MS },

  ...same({ reason: 'rate-limited' }, 'ratelimited rate_limited'),
  message_limit_exceeded: { reason: 'rate-limited', retryAfterMs: 60 * MINUTE_MS },

  ...same(dead('is archived', UNARCHIVE), 'is_archived channel_is_archived'),
  channel_not_found: dead('does not exist, or is private and the bot is not in it', INVITE),
  not_in_channel: dead('does not have the bot as a member', INVITE),
  restricted_action: dead('is closed to the bot by a setting of the workspace', ASK_ADMIN),
  restricted_action_read_only_channel: dead('is read-only', ASK_ADMIN),
  restricted_action_thread_only_channel: dead('takes only replies in threads', ASK_ADMIN),
  ekm_access_denied: dead('is closed: admins have suspended posting', ASK_ADMIN),
  action_prohibited: dead('is closed to this incoming webhook by a setting of the workspace', ASK_ADMIN),
  posting_to_general_channel_denied: dead('takes messages of admins only', ASK_ADMIN),
  messages_tab_disabled: dead(
    'is a direct message, and the app has its messages tab off',
    'turn on the Messages Tab under App Home in the settings of the Slack app',
  ),
  ...same(dead('is in a workspace that Slack does not find', NEW_HOOK), 'team_not_found no_team'),
  team_disabled: dead('is in a workspace that is not active any more', NEW_HOOK),
  ...same(NO_HOOK, 'invalid_token no_service no_service_id no_active_hooks'),

  not_authed: refused('got no bot token from Tocsin', TOKEN),
  invalid_auth: refused('does not take the bot token of Tocsin, or not from this IP address', TOKEN),
  account_inactive: refused('has deactivated the bot of Tocsin, or its workspace', REINSTALL),
  token_revoked: refused('has revoked the bot token of Tocsin', REINSTALL),
  token_expired: refused('says that the bot token of Tocsin has expired', REINSTALL),
  missing_scope: refused(
    'gives the bot token of Tocsin too few scopes',
    'give the Slack app the scopes chat:write and files:write, and install it again',
  ),
  not_allowed_token_type: refused(
    'does not take a token of this type',
    'write a bot token (xoxb-...) into channels.slack.botToken',
  ),
  no_permission: refused('does not let the bot token of Tocsin post', INVITE),
  access_denied: refused('does not let the bot token of Tocsin post', ADMIT),
  accesslimited: refused('does not let Tocsin in from this network', ADMIT),
  app_access_restricted: refused('does not let the app of Tocsin in', ADMIT),
  team_access_not_granted: refused('does not let the bot token of Tocsin into this workspace', ADMIT),
  two_factor_setup_required: refused(
    'wants two-factor authentication to be set up first',
    'set it up for the account that installed the Slack app',
  ),
  // Faults of our program, which nobody can mend by a setting.
  ...same(
    { reason: 'sender-misconfigured' },
    `enterprise_is_restricted send_on_behalf_not_allowed as_user_not_supported is_bot metadata_must_be_sent_from_app
    method_deprecated deprecated_endpoint unknown_method`,
  ),

  // This body is refused: a plainer one may pass.
  ...same(
    BAD_MESSAGE,
    `invalid_blocks invalid_blocks_format msg_blocks_too_long msg_too_long no_text too_many_attachments
    attachment_payload_limit_exceeded too_many_contact_cards metadata_too_large invalid_metadata_format
    invalid_metadata_schema markdown_text_conflict invalid_arguments invalid_arg_name invalid_array_arg invalid_charset
    invalid_form_data invalid_post_type missing_post_type missing_file_data invalid_payload user_not_found
    invalid_attachments slack_connect_canvas_sharing_blocked slack_connect_file_link_sharing_blocked
    slack_connect_lists_sharing_blocked`,
  ),
  // The last two are documented by slackapi/bolt-js#2307 and jenkinsci/slack-plugin#584 only.
  ...same(
    { ...BAD_MESSAGE, isOfThread: true },
    `cannot_reply_to_message restricted_action_thread_locked restricted_action_non_threadable_channel thread_not_found
    invalid_thread_ts`,
  ),
  // The earlier message can no longer be changed: a new one may pass.
  ...same(
    BAD_MESSAGE,
    `message_not_found cant_update_message edit_window_closed is_inactive block_mismatch cant_broadcast_message
    no_dual_broadcast_content_update`,
  ),
  // The file is refused: a message without one may pass.
  ...same(
    BAD_MESSAGE,
    `missing_argument storage_limit_reached file_uploads_disabled file_upload_size_restricted snippet_too_large
    unknown_snippet_type unknown_subtype alt_txt_too_large file_not_found file_update_failed invalid_channel
    posting_to_channel_denied channels_limit_exceeded`,
  ),
};

/** Undefined for a code that nobody documented. */
export const meaningOf = (code: string | undefined): CodeMeaning | undefined =>
  code !== undefined && Object.hasOwn(SLACK_CODES, code) ? SLACK_CODES[code] : undefined;

/** Of an incoming webhook, whose key is its own: what would blame the bot token blames the webhook. */
export const hookMeaningOf = (code: string | undefined): CodeMeaning | undefined => {
  const meaning = meaningOf(code);
  if (meaning?.reason !== 'sender-misconfigured') return meaning;
  return meaning.explanation === undefined ? { reason: 'destination-dead' } : NO_HOOK;
};

/** With these the token is worthless, so a message without a file would fail too. */
export const WORTHLESS_TOKEN: readonly string[] =
  'not_authed invalid_auth account_inactive token_revoked token_expired no_token'.split(' ');
