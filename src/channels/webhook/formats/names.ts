/** The formats in which a receiver may get webhooks; `channels.webhook.receivers.X.format` chooses one. */
export const WEBHOOK_FORMATS = [
  'standard',
  'cloudevents',
  'pagerduty',
  'opsgenie',
  'alertmanager',
  'discord',
  'teams',
] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];
