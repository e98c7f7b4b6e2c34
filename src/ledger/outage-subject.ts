/** What an outage concerns: one destination, or the sender (a token, a mail server) behind every destination of a kind. */
import type { ChannelKind, Destination } from '../alert.ts';
import { senderId } from '../identity.ts';
import { nameOf } from './record.ts';

export interface Subject {
  destination: Destination;
  isSender: boolean;
}

/** Unique and safe in keys. */
export const subjectId = ({ destination, isSender }: Subject): string =>
  isSender ? senderId(destination.kind) : destination.id;

const ALL: Record<ChannelKind, string> = {
  email: 'e-mail to every mailbox',
  telegram: 'every Telegram chat',
  slack: 'every Slack channel',
  webhook: 'every webhook',
};

/** As people read it. */
export const subjectName = ({ destination, isSender }: Subject): string =>
  isSender ? ALL[destination.kind] : nameOf(destination);
