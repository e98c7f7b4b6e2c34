import { expect, test } from 'vitest';
import { describeIncident } from '../../src/channels/incident-content.ts';
import { atOnce } from '../../src/slices.ts';
import { notificationAlert, sampleInspection } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';

const SENT = '2026-11-20T12:00:00.000Z';
const announcement = (type: string, n: number) =>
  notificationAlert(`Webhook ${n} does not work.\nTo do: look at number ${n}.`, { id: `${n}`, type: `tocsin.${type}` });
const several = (type: string, count: number) => Array.from({ length: count }, (_, n) => announcement(type, n + 1));

test('a few of one kind are told whole, in one text', () => {
  const { headline, title, message, severity } = atOnce(describeIncident(several('destination.broken', 3), {}, SENT));
  expect(severity).toBe('TOCSIN');
  expect(title).toBe('TOCSIN: 3 messages');
  expect(headline).toBe('TOCSIN: 3 messages, the first: Webhook 1 does not work.');
  expect(message).toContain('To do: look at number 1.\n\nWebhook 2 does not work.\nTo do: look at number 2.');
});

test('of many, each by its first line', () => {
  const { message = '' } = atOnce(describeIncident(several('destination.broken', 40), {}, SENT));
  const lines = message.split('\n');
  expect(lines).toHaveLength(40 + 2);
  expect(lines[39]).toBe('- Webhook 40 does not work.');
  expect(lines.at(-1)).toBe('Now: tocsin status');
});

test('a mute report is told whole, however many there are', () => {
  const { message = '' } = atOnce(describeIncident(several('mute.ended', 40), {}, SENT));
  expect(message.match(/To do: look at number/g)).toHaveLength(40);
});

test('one alone, and what else is said of one transaction, is told as before', () => {
  const [one] = several('destination.broken', 1);
  expect(atOnce(describeIncident(one ? [one] : [], {}, SENT)).title).toBe('TOCSIN');
  const incident = [makeAlert(1, { item: sampleInspection() }), makeAlert(2, { item: sampleInspection() })];
  expect(atOnce(describeIncident(incident, {}, SENT)).headline).toMatch(/^CRITICAL: Lending Pool: /);
});
