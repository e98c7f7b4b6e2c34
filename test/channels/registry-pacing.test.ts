import { expect, test } from 'vitest';
import type { ChannelKind, Destination } from '../../src/alert.ts';
import { pacingOf } from '../../src/channels/registry.ts';
import { destinationId } from '../../src/item.ts';

const at = (kind: ChannelKind, address: string): Destination => ({
  id: destinationId(kind, address),
  kind,
  address,
  label: address,
});

const RATE = { perSecond: 1, perMinute: 20 };
const SENDER_RATE = { perSecond: 25 };
const { paceOf, senderOf } = pacingOf({ rateLimit: RATE, senderRateLimit: SENDER_RATE });

test('a destination has a rate of its own', () => {
  const channel = at('slack', 'C024BE91L');
  expect(paceOf(channel)).toEqual({ id: channel.id, rate: RATE });
});

test('the topics of a chat count towards the rate of the chat', () => {
  const chat = at('telegram', '-1001234567890');
  expect(paceOf(chat)).toEqual({ id: chat.id, rate: RATE });
  expect(paceOf(at('telegram', '-1001234567890/7'))).toEqual({ id: chat.id, rate: RATE });
});

test('all that share a sender count towards its rate, under an id that older data has too', () => {
  expect(senderOf(at('slack', 'C024BE91L'))).toEqual({ id: 'sender-slack', rate: SENDER_RATE });
  expect(senderOf(at('email', 'a@example.com'))).toEqual({ id: 'sender-email', rate: SENDER_RATE });
});

test('nothing is behind a webhook, an incoming webhook, or a kind whose config has no rate for its sender', () => {
  expect(senderOf(at('webhook', 'https://hooks.example.com/x'))).toBeUndefined();
  expect(senderOf(at('slack', 'https://hooks.example.com/x'))).toBeUndefined();
  expect(pacingOf({ rateLimit: RATE }).senderOf(at('slack', 'C024BE91L'))).toBeUndefined();
});
