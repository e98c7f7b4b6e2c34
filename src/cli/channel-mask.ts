/** The service's channels as JSON for scripts, without what may be secret in them. */
import type { JsonObject, JsonValue } from '../alert.ts';
import { labelNow, webAddress, webLabel } from '../channels/address.ts';
import { hideUrlTails } from '../config/display.ts';
import { createScrubber } from '../secret.ts';
import type { CommandContext } from './context.ts';

const scrub = createScrubber([]);

/** Where the service has channels, in a listing as in settings. */
const CHANNELS_KEY = 'notificationChannels';

/** `https://hooks.example.com (3f1c)`: a web address keeps its scheme and host, and what distinguishes it from others. */
const maskText = (text: string): string => {
  const address = webAddress(text);
  return address === undefined ? scrub(hideUrlTails(text)) : `${new URL(address).protocol}//${webLabel(address)}`;
};

/** Whether a text is what became of a web address, now or in an earlier version. */
export const isMasked = (text: string): boolean => /^https?:\/\/[^/]+ \([0-9a-f]{4}\)$/.test(labelNow(text.trim()));

const mapTexts = (value: JsonValue, change: (text: string) => string): JsonValue => {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapTexts(each, change)]));
};

const mapChannels = (value: JsonValue, change: (text: string) => string): JsonValue => {
  if (Array.isArray(value)) return value.map((each) => mapChannels(each, change));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [
    key,
    key === CHANNELS_KEY ? mapTexts(each, change) : mapChannels(each, change),
  ]);
  return Object.fromEntries(entries);
};

export interface ChannelMask {
  apply(raw: JsonObject): JsonObject;
  /** Says on standard error that something was masked, if it was. */
  tell(): void;
}

export const createChannelMask = (showSecrets: boolean, { warn }: Pick<CommandContext, 'warn'>): ChannelMask => {
  let isAnythingMasked = false;
  const mask = (text: string): string => {
    const masked = maskText(text);
    isAnythingMasked ||= masked !== text;
    return masked;
  };
  return {
    apply: (raw) => (showSecrets ? raw : (mapChannels(raw, mask) as JsonObject)),
    tell: () => {
      if (isAnythingMasked) warn("tocsin: the channels' addresses are masked; --show-secrets shows them\n");
    },
  };
};
