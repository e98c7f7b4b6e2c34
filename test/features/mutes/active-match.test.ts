import { describe, expect, test } from 'vitest';
import type { Alert, JsonObject, Mute } from '../../../src/alert.ts';
import { announcementAlert } from '../../../src/features/announcements/announce.ts';
import { createMuteOf } from '../../../src/features/mutes/active.ts';
import { sampleAlert } from '../../../src/features/sample/sample.ts';
import { destinationOf, inspectionAlert, notificationAlert } from '../../support/alerts.ts';

const SLACK = destinationOf('slack', 'C024BE91L');
const HOOK = destinationOf('webhook', 'https://hooks.example.com/secret', 'hooks.example.com (3f1c)');

const mute = (changes: Partial<Mute>): Mute => ({
  id: 'mute-1',
  protocols: [],
  detectors: [],
  destinations: [],
  reason: 'maintenance',
  from: '2026-11-20T10:00:00.000Z',
  until: '2026-11-20T12:00:00.000Z',
  ...changes,
});

const detections = (statuses: Record<string, string>): JsonObject =>
  Object.fromEntries(Object.entries(statuses).map(([name, status]) => [name, { status, message: '' }]));

const alertOf = (statuses: Record<string, string>, changes: Partial<Alert> = {}): Alert =>
  inspectionAlert({ item: { detections: detections(statuses) }, ...changes });

const FLASH = alertOf({ flashLoan: 'detected', mixer: 'notDetected' });
const BOTH = alertOf({ flashLoan: 'detected', mixer: 'detected' });
const NOTIFICATION = notificationAlert('Something was seen');

/** Which mute keeps the alert from Slack. */
const idOf = (mutes: Mute[], alert: Alert, never: string[] = [], wasMuted = false): string | undefined =>
  createMuteOf(mutes, never)(alert, SLACK, wasMuted)?.id;

const BY_PROTOCOL = mute({ protocols: ['Lending*'] });
const BY_DETECTOR = mute({ protocols: ['Lending*'], detectors: ['flash*'] });

describe('a mute', () => {
  test.each<[string, Partial<Mute>, boolean]>([
    ['of the protocol', { protocols: ['Lending Pool'] }, true],
    ['of a glob on it', { protocols: ['Other', 'Lend*'] }, true],
    ['of another protocol', { protocols: ['Lend'] }, false],
    ['of the destination by id', { destinations: [SLACK.id] }, true],
    ['of the destination by label', { destinations: ['other', SLACK.label] }, true],
    ['of another destination', { destinations: [HOOK.id] }, false],
    ['of the protocol at another destination', { protocols: ['*'], destinations: [HOOK.label] }, false],
    ['of the only detector that fired', { detectors: ['flashLoan'] }, true],
    ['of a detector that did not fire', { detectors: ['mixer'] }, false],
    ['of the detector for another protocol', { protocols: ['Vault'], detectors: ['*'] }, false],
  ])('%s: %j', (_what, changes, isMuted) => {
    expect(idOf([mute(changes)], FLASH)).toBe(isMuted ? 'mute-1' : undefined);
  });

  test('by the label of a destination holds for no other', () => {
    const muteOf = createMuteOf([mute({ destinations: [HOOK.label] })], []);
    expect(muteOf(FLASH, HOOK)?.id).toBe('mute-1');
    expect(muteOf(FLASH, { ...HOOK, label: 'hooks.example.com (77aa)' })).toBeUndefined();
  });

  test('leaves other destinations of the same alert alone', () => {
    const muteOf = createMuteOf([mute({ destinations: [SLACK.id] })], []);
    expect(muteOf(FLASH, SLACK)?.id).toBe('mute-1');
    expect(muteOf(FLASH, HOOK)).toBeUndefined();
  });

  test('of detectors needs every one that fired, whatever its status is called', () => {
    expect(idOf([BY_DETECTOR], BOTH)).toBeUndefined();
    expect(idOf([mute({ detectors: ['flashLoan', 'mixer'] })], BOTH)).toBe('mute-1');
    expect(idOf([BY_DETECTOR, mute({ id: 'mute-2', detectors: ['mixer'] })], BOTH)).toBe('mute-1');
    expect(idOf([BY_DETECTOR], alertOf({ flashLoan: 'detected', mixer: 'perhaps' }))).toBeUndefined();
    expect(idOf([mute({ detectors: ['*'] })], alertOf({ mixer: 'notDetected' }))).toBeUndefined();
  });

  test('of detectors leaves stored notifications alone, one without takes them', () => {
    expect(idOf([BY_DETECTOR, mute({ detectors: ['*'] })], NOTIFICATION)).toBeUndefined();
    expect(idOf([BY_PROTOCOL], NOTIFICATION)).toBe('mute-1');
  });

  test('never holds an alert with a detector of the floor', () => {
    expect(idOf([BY_PROTOCOL], BOTH, ['mix*'])).toBeUndefined();
    expect(idOf([mute({ destinations: [SLACK.id] })], BOTH, ['mixer'])).toBeUndefined();
    // It did not fire.
    expect(idOf([BY_PROTOCOL], FLASH, ['mixer'])).toBe('mute-1');
  });

  test('of everything leaves announcements, samples and replays alone', () => {
    const all = [mute({ protocols: ['*'] })];
    const said = announcementAlert({ about: 'destination.broken', key: 'k', message: 'm' }, 0);
    expect(idOf(all, said)).toBeUndefined();
    expect(idOf(all, sampleAlert('main', 'Lending Pool', 'id', 0))).toBeUndefined();
    expect(idOf(all, { ...FLASH, replay: true })).toBeUndefined();
    expect(idOf(all, FLASH)).toBe('mute-1');
  });

  test('takes a follow-up where it names no detector, or where it took the alert before', () => {
    const followUp = alertOf({ flashLoan: 'notDetected' }, { followUp: { of: FLASH.id, was: 'critical', is: 'ok' } });
    expect(idOf([BY_PROTOCOL], followUp)).toBe('mute-1');
    expect(idOf([BY_DETECTOR], followUp)).toBeUndefined();
    expect(idOf([BY_DETECTOR], followUp, [], true)).toBe('mute-1');
    expect(idOf([mute({ protocols: ['Vault'] })], followUp, [], true)).toBeUndefined();
    const still = { ...followUp, item: BOTH.item };
    expect(idOf([mute({ detectors: ['*'] })], still)).toBeUndefined();
  });

  test('of several, the one is named that keeps the alert back longest', () => {
    const late = '2026-11-20T18:00:00.000Z';
    expect(idOf([BY_PROTOCOL, mute({ id: 'late', protocols: ['*'], until: late })], FLASH)).toBe('late');
    expect(idOf([BY_PROTOCOL, { ...BY_DETECTOR, id: 'late', until: late }], FLASH)).toBe('late');
    // Together they keep it back until the first of them ends.
    const mixer = mute({ id: 'late', detectors: ['mixer'], until: late });
    expect(idOf([BY_DETECTOR, mixer], BOTH)).toBe('mute-1');
  });

  test('an alert whose detections are no map has none that fired', () => {
    for (const odd of [null, 'x', 7, []]) {
      const alert = inspectionAlert({ item: { detections: odd } });
      expect(idOf([mute({ detectors: ['*'] })], alert)).toBeUndefined();
      expect(idOf([BY_PROTOCOL], alert)).toBe('mute-1');
    }
  });
});
