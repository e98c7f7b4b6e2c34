/** What people can press below a message. */
import type { Alert } from '../alert.ts';
import type { Message } from '../channels/channel.ts';

/**
 * Gives a message its buttons. `about`: all alerts that it shows; `isChange`: it takes the place of an earlier one. `sent` is
 * told how the message is found again, once it was sent.
 */
export type WithButtons = (
  message: Message,
  about: readonly Alert[],
  isChange: boolean,
) => Promise<{ message: Message; sent(handle: string): Promise<void> }>;

/** Of a kind without buttons, and where the config has acknowledging off. */
export const withoutButtons: WithButtons = async (message) => ({ message, sent: async () => {} });
