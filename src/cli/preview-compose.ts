/** Composes what `tocsin preview` shows, as a channel would: with storm, buttons and templates. */
import type { ChannelKind, Format, Parcel } from '../alert.ts';
import type { ComposeContext } from '../channels/channel.ts';
import { createPresentation } from '../channels/content/presentation.ts';
import { createTemplates } from '../channels/content/template.ts';
import { withAcknowledgeLink } from '../channels/email/acknowledge.ts';
import { composeEmail } from '../channels/email/message.ts';
import { slackButtons } from '../channels/slack/buttons.ts';
import { composeSlack } from '../channels/slack/message.ts';
import { telegramButtons } from '../channels/telegram/buttons.ts';
import { composeTelegram } from '../channels/telegram/message.ts';
import type { WebhookFormat } from '../channels/webhook/formats/names.ts';
import { formatOf } from '../channels/webhook/formats/registry.ts';
import type { Config } from '../config/schema.ts';
import { destinationId } from '../identity.ts';
import { atOnce } from '../slices.ts';
import type { CommandContext } from './context.ts';
import type { Previewed } from './preview-alerts.ts';

export interface Composed {
  kind: ChannelKind;
  /** What the channel would send: one for each message. */
  bodies: unknown[];
}

export interface PreviewSettings {
  kind: ChannelKind;
  format: Format;
  webhookFormat: WebhookFormat;
  /** ISO 8601. */
  sentAt: string;
}

const ADDRESSES: Readonly<Record<ChannelKind, string>> = {
  email: 'you@example.com',
  telegram: '-1001234567890',
  slack: 'C024BE91L',
  webhook: 'https://hooks.example.com/tocsin',
};

const ACKNOWLEDGE_URL = 'https://tocsin.example.com/acknowledge/sample';

type Bodies = (parcel: Parcel, context: ComposeContext, previewed: Previewed, format: WebhookFormat) => unknown[];

const COMPOSERS: Readonly<Record<ChannelKind, Bodies>> = {
  email: (parcel, context, { annotation }) =>
    atOnce(composeEmail(parcel, context)).map(({ body }) =>
      // Who acknowledged it is nowhere in a mail, which cannot be changed.
      annotation === undefined || annotation.note !== undefined ? body : withAcknowledgeLink(body, ACKNOWLEDGE_URL),
    ),
  telegram: (parcel, context, { annotation }) =>
    atOnce(composeTelegram(parcel, context)).map(({ body }) =>
      annotation === undefined ? body : telegramButtons.put(body, annotation),
    ),
  slack: (parcel, context, { annotation }) =>
    atOnce(composeSlack(parcel, context, true)).map(({ body }) =>
      annotation === undefined ? body : slackButtons.put(body, annotation),
    ),
  webhook: (parcel, context, _previewed, format) =>
    atOnce(formatOf(format).compose(parcel, context, { batch: parcel.alerts.length })).flatMap(({ body }) =>
      body.requests.map(({ text }) => JSON.parse(text) as unknown),
    ),
};

/** `config`: whose names, links and templates word it; without one, the defaults do. */
export const composePreview = (
  previewed: Previewed,
  { kind, format, webhookFormat, sentAt }: PreviewSettings,
  config: Config | undefined,
  { warn }: CommandContext,
): Composed => {
  const templates = createTemplates(config?.templates ?? [], {
    kind,
    onFailed: (index, why) => warn(`tocsin: templates.${index} fails for ${kind}: ${why}\n`),
  });
  const address = ADDRESSES[kind];
  const destination = { id: destinationId(kind, address), kind, address, label: address };
  const { alerts, storm } = previewed;
  const presentation = createPresentation(config, templates);
  const context = { format, sentAt, presentation, ...(storm === undefined ? {} : { storm }) };
  return { kind, bodies: COMPOSERS[kind]({ destination, alerts: [...alerts] }, context, previewed, webhookFormat) };
};
