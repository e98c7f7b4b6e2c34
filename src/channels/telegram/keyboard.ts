/**
 * Buttons below a message that lead to its links; `buttons.ts` puts those below them that are pressed.
 * Source: https://core.telegram.org/bots/api#inlinekeyboardmarkup
 */
import { chunksOf } from '../../chunks.ts';
import type { ContentLink } from '../content/content.ts';

/** Leads to a URL, or gives the bot its data when somebody presses it. */
export type Button = { text: string; url: string } | { text: string; callback_data: string };

export interface Keyboard {
  inline_keyboard: Button[][];
}

/** More beside each other are cut on a phone. */
const ROW_MAX = 2;

/**
 * Telegram refuses a whole message for a button that leads to a host without a dot, and drops such a link from a text.
 * Source: tdlib/td `LinkManager.cpp`, `check_link_impl`
 */
export const takesLink = (url: string): boolean => {
  const { protocol, hostname } = URL.parse(url) ?? { protocol: '', hostname: '' };
  return /^https?:$/.test(protocol) && (hostname.includes('.') || hostname.startsWith('['));
};

/** Undefined without any that Telegram takes. */
export const keyboardOf = (links: readonly ContentLink[]): Keyboard | undefined => {
  const buttons = links.filter(({ url }) => takesLink(url)).map(({ label, url }): Button => ({ text: label, url }));
  return buttons.length > 0 ? { inline_keyboard: chunksOf(buttons, ROW_MAX) } : undefined;
};
