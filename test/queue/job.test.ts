/** The data of a job; what a daemon of another version wrote is refused. */
import { expect, test } from 'vitest';
import { fairnessKey } from '../../src/queue/fairness.ts';
import { batchJob, batchJobId, parcelJob, parcelJobId, readParcelJob } from '../../src/queue/job.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';

const SLACK = destinationOf('slack', 'C1');
const parcel = (...numbers: number[]) => ({ destination: SLACK, alerts: numbers.map((n) => makeAlert(n)) });

test('a fresh job is rich, untried and readable', () => {
  const job = parcelJob(parcel(1));
  expect(job).toEqual({
    v: 4,
    destination: SLACK,
    alerts: [makeAlert(1)],
    attempt: 0,
    format: 'rich',
    fairnessKey: fairnessKey([makeAlert(1)]),
  });
  expect(readParcelJob(JSON.parse(JSON.stringify(job)))).toEqual(job);
});

test("a batch's job names its number", () => {
  expect(batchJob(SLACK, 7, [makeAlert(1)])).toMatchObject({ v: 4, alerts: [], batchNumber: 7 });
  expect(batchJobId(SLACK, 7)).toBe(`batch_${SLACK.id}_7`);
});

test('equal parcels have the same id; another alert, destination or nonce makes another', () => {
  const id = parcelJobId(parcel(1, 2));
  expect(parcelJobId(parcel(1, 2))).toBe(id);
  const others = [
    parcelJobId(parcel(1)),
    parcelJobId({ ...parcel(1, 2), destination: destinationOf('slack', 'C2') }),
    parcelJobId(parcel(1, 2), 'replay'),
    parcelJobId(parcel(1, 2), 'another'),
  ];
  expect(new Set([id, ...others]).size).toBe(5);
  // BullMQ takes no colon in a job's id.
  expect([id, ...others].join()).not.toContain(':');
});

test.each([
  [{ v: 5 }, '5'],
  [{ v: 2 }, '2'],
  [{}, 'undefined'],
  [null, 'undefined'],
  ['text', 'undefined'],
])('a job of another version is not read: %j', (data, unknownVersion) => {
  expect(readParcelJob(data)).toEqual({ unknownVersion });
});

test.each<[string, object]>([
  ['destination', { destination: undefined }],
  ['destination', { destination: 'slack' }],
  ['destination', { destination: { ...SLACK, kind: 'pager' } }],
  ['destination', { destination: { ...SLACK, label: 7 } }],
  // The id of a destination that is approved, with another address.
  ['destination', { destination: { ...SLACK, address: 'C2' } }],
  ['destination', { destination: { ...SLACK, kind: 'webhook', address: 'https://evil.example/' } }],
  ['alerts', { alerts: undefined }],
  ['alerts', { alerts: { length: 1 } }],
  ['alerts', { alerts: [null] }],
  ['alerts', { alerts: [{ ...makeAlert(1), item: [] }] }],
  ['alerts', { alerts: [makeAlert(1), { ...makeAlert(2), protocol: undefined }] }],
  ['attempt', { attempt: -1 }],
  ['attempt', { attempt: '0' }],
  ['fairnessKey', { fairnessKey: 7 }],
  ['format', { format: 'loud' }],
  ['firstTriedAt', { firstTriedAt: 'now' }],
  ['most', { most: null }],
])('data with another %s than Tocsin writes is refused: %j', (flaw, changes) => {
  const job = { ...parcelJob(parcel(1)), ...changes };
  expect(readParcelJob(JSON.parse(JSON.stringify(job)))).toEqual({ flaw });
});
