import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { markOf, SUBJECT_LIMIT, subjectOf } from '../../../src/channels/email/message.ts';
import { inspectionAlert, notificationAlert, TX_HASH } from '../../support/alerts.ts';
import { anyText } from '../../support/texts.ts';

const subjectFor = (headline: string, alert: Alert): string => subjectOf(headline, markOf([alert]));

describe('the mark at the end of a subject', () => {
  const { txHash: _hash, ...withoutHash } = inspectionAlert({ id: '0123456789' });

  test.each<[string, Alert, string]>([
    ['a transaction', inspectionAlert(), '0x5d1c…ab12'],
    ['a notification that names one', notificationAlert('x', { txHash: TX_HASH }), '0x5d1c…ab12'],
    ['one that names none', notificationAlert('x', { id: '3f2a9c1b77' }), '3f2a9c1b'],
    ['an inspection without a hash', withoutHash, '01234567'],
    ['an announcement', notificationAlert('x', { type: 'tocsin.trouble.begun' }), ''],
  ])('of %s', (_what, alert, mark) => expect(markOf([alert])).toBe(mark));
});

const hash = () => fc.stringMatching(/^0x[0-9a-f]{64}$/);

test('no two findings have one subject, however long what happened is, and whatever it says', () => {
  fc.assert(
    fc.property(anyText(), anyText(), hash(), hash(), (one, other, hashOfOne, hashOfOther) => {
      fc.pre(markOf([inspectionAlert({ txHash: hashOfOne })]) !== markOf([inspectionAlert({ txHash: hashOfOther })]));
      for (const headline of [one, other, `${one}${other}`.repeat(20)]) {
        const subjects = [hashOfOne, hashOfOther].map((txHash) => subjectFor(headline, inspectionAlert({ txHash })));
        expect(subjects[0]).not.toBe(subjects[1]);
        for (const subject of subjects) {
          expect(subject.length).toBeLessThanOrEqual(SUBJECT_LIMIT);
          expect(subject).toMatch(/ \(0x[0-9a-f]{4}…[0-9a-f]{4}\)$/);
          expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        }
      }
    }),
    { interruptAfterTimeLimit: 20_000 },
  );
});
