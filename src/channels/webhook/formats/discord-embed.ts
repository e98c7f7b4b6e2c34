/** What Discord takes in one message. Source: https://docs.discord.com/developers/resources/message#embed-object-embed-limits */
import type { Tone } from '../../content/severity.ts';
import type { WebhookBody, WebhookRequest } from './format.ts';

export const LIMITS = { title: 256, description: 4096, all: 6000, content: 2000 };

export interface Embed {
  title?: string;
  description: string;
  color: number;
}

const COLORS: Record<Tone, number> = {
  critical: 0xd92d20,
  suspicious: 0xe67e22,
  calm: 0x2e9e5b,
  news: 0x3478f6,
  trouble: 0xd9a400,
  test: 0x7d8590,
};

export const colorOf = (tone: Tone): number => COLORS[tone];

/** `SUPPRESS_NOTIFICATIONS`: it appears without a sound. */
const SILENT = 4096;

const flagsOf = (isQuiet: boolean): { flags?: number } => (isQuiet ? { flags: SILENT } : {});

/** Nobody is mentioned, whatever a text says. */
const ALLOWED_MENTIONS = { parse: [] };

export const sizeOf = (embeds: readonly Embed[]): number =>
  embeds.reduce((sum, { title = '', description }) => sum + title.length + description.length, 0);

/** `isQuiet`: without a sound; `isBare`: after a refusal, with nothing that it can do without. */
export interface EmbedOptions {
  isQuiet?: boolean;
  isBare?: boolean;
}

export const embedRequest = (
  embeds: readonly Embed[],
  { isQuiet = false, isBare = false }: EmbedOptions = {},
): WebhookRequest => ({
  text: JSON.stringify({
    embeds: embeds
      .filter(({ title = '', description }) => title !== '' || description !== '')
      .map(({ color, ...embed }) => (isBare ? embed : { ...embed, color })),
    allowed_mentions: ALLOWED_MENTIONS,
    ...(isBare ? {} : flagsOf(isQuiet)),
  }),
});

export const textBody = (content: string): WebhookBody => ({
  format: 'discord',
  requests: [{ text: JSON.stringify({ content, allowed_mentions: ALLOWED_MENTIONS }) }],
});
