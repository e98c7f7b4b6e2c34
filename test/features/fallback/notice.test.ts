/** Who has accepted an alert, and what the fallback says of those who have not. */
import { describe, expect, test } from 'vitest';
import { announcementAlert } from '../../../src/features/announcements/announce.ts';
import {
  deadNotice,
  isAccepted,
  lateNotice,
  mayDivert,
  unroutableNotice,
} from '../../../src/features/fallback/notice.ts';
import { sampleAlert } from '../../../src/features/sample/sample.ts';
import type { DeliveryRecord, DeliveryState } from '../../../src/ledger/record.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';

const AT = '2026-11-20T12:00:00.000Z';

const record = (kind: 'slack' | 'email' | 'webhook', state: DeliveryState, message?: string): DeliveryRecord => ({
  state,
  destination: destinationOf(kind, `${kind}-1`, `the ${kind} one`),
  at: AT,
  attempts: message === undefined ? [] : [{ at: AT, outcome: 'retrying', durationMs: 1, message }],
});

describe('an alert is accepted', () => {
  const cases: [string, boolean, DeliveryRecord[]][] = [
    ['when one person has it, whatever else waits', true, [record('slack', 'waiting'), record('email', 'delivered')]],
    [
      'not by a program, where people are to have it',
      false,
      [record('slack', 'waiting'), record('webhook', 'delivered')],
    ],
    ['by a program, where there is nobody else', true, [record('webhook', 'delivered')]],
    ['not by a program that has not got it', false, [record('webhook', 'waiting')]],
    ['when it is muted for all people', true, [record('slack', 'muted'), record('webhook', 'waiting')]],
    ['not when it is muted for some', false, [record('slack', 'muted'), record('email', 'dead')]],
    ['not when nothing is known of it', false, []],
  ];
  test.each(cases)('%s', (_name, accepted, deliveries) => expect(isAccepted(deliveries)).toBe(accepted));
});

describe('the fallback says', () => {
  const late = (deliveries: DeliveryRecord[], afterMs = 60_000, fault?: string) =>
    lateNotice({ deliveries, afterMs, faultOf: () => fault });

  test('what each person’s channel said last, and nothing of programs', () => {
    const deliveries = [record('slack', 'waiting', 'Slack answered token_revoked'), record('email', 'waiting')];
    expect(late([...deliveries, record('webhook', 'delivered')])).toBe(
      'Fallback: it could not be delivered to anybody else within 60 s, so it is yours. Slack channel the slack one: Slack answered token_revoked; ' +
        'Mailbox the email one: waits for its turn.',
    );
  });

  test('why a destination that was not tried takes nothing, where that is known', () => {
    expect(late([record('slack', 'waiting')], 120_000, 'Slack answered token_revoked.')).toBe(
      'Fallback: it could not be delivered to anybody else within 2 min, so it is yours. Slack channel the slack one: Slack answered token_revoked.',
    );
  });

  test('that programs did not take what only they were to have, and that nothing was queued', () => {
    expect(late([record('webhook', 'waiting', '')], 1500)).toMatch(
      /^Fallback: it could not be delivered to any webhook within 1500 ms, so it is yours\./,
    );
    expect(late([])).toContain(
      'it could not be delivered to anybody else within 60 s, so it is yours. It was not queued yet.',
    );
  });

  test('few and short reasons, however many and long they are', () => {
    const many = Array.from({ length: 9 }, () => record('slack', 'waiting', 'x'.repeat(5000)));
    expect(late(many).length).toBeLessThan(900);
    expect(late(many)).toContain('; and 5 more.');
  });

  test('who did not take what is dead, and that nobody gets an alert without a destination', () => {
    expect(deadNotice(destinationOf('slack', 'C1'), 'Slack answered channel_not_found')).toBe(
      'Fallback: Slack channel C1 did not take this: Slack answered channel_not_found.',
    );
    expect(unroutableNotice('no destination: it has no channels')).toBe(
      'Fallback: nobody else gets this: no destination: it has no channels.',
    );
  });
});

test('history, samples and announcements never go to the fallback; follow-ups do', () => {
  expect(mayDivert(makeAlert(1))).toBe(true);
  expect(mayDivert(makeAlert(1, { followUp: { of: 'x', was: 'critical' } }))).toBe(true);
  expect(mayDivert(makeAlert(1, { replay: true }))).toBe(false);
  expect(mayDivert(sampleAlert('main', 'Vault', 'test-1', 0))).toBe(false);
  expect(mayDivert(announcementAlert({ about: 'destination.broken', key: 'x', message: 'y' }, 0))).toBe(false);
});
