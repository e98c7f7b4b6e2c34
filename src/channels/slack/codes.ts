/**
 * Slack's documented error codes. Sources: the errors of `chat.postMessage` at
 * docs.slack.dev/reference/methods/chat.postMessage and in slack-ruby/slack-api-ref, the errors common to all methods;
 * those of `chat.update`, `files.getUploadURLExternal` and `files.completeUploadExternal` in the same places;
 * for incoming webhooks docs.slack.dev/messaging/sending-messages-using-incoming-webhooks and Slack's change log of May 2016.
 */
import type { DeliveryReason } from '../../errors.ts';

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
