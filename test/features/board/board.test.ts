import { describe, expect, test } from 'vitest';
import { createBoard } from '../../../src/features/board/board.ts';
import { MOST_BYTES, shownData, shownReason } from '../../../src/features/board/read-only-queue.ts';
import { parcelJob } from '../../../src/queue/job.ts';
import type { ReadableQueue } from '../../../src/queue/queues.ts';
import { destinationOf, notificationAlert } from '../../support/alerts.ts';

const ADDRESS = 'https://hooks.example.com/services/a-secret-path';
const destination = destinationOf('webhook', ADDRESS, 'https://hooks.example.com/…');

const jobOf = (count: number, text = 'ok') =>
  parcelJob({
    destination,
    alerts: Array.from({ length: count }, () => notificationAlert(text)),
  });

describe('of a job is shown', () => {
  test('no address, and no field that nobody has named', () => {
    const shown = shownData({ ...jobOf(1), later: 'a secret of tomorrow' }, MOST_BYTES.listed);
    expect(JSON.stringify(shown)).not.toMatch(/a-secret-path|a secret of tomorrow/);
    expect(shown).toMatchObject({ destination: { id: destination.id, kind: 'webhook', label: destination.label } });
  });

  test('as many alerts as there is room for, and how many are left out', () => {
    const shown = shownData(jobOf(500, 'x'.repeat(1000)), MOST_BYTES.listed);
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(MOST_BYTES.listed + 1000);
    expect(shown).toMatchObject({ notShown: expect.stringMatching(/^4\d\d of 500 alerts/) });
  });

  test('nothing of an alert that is too large alone', () =>
    expect(shownData(jobOf(1, 'x'.repeat(200_000)), MOST_BYTES.alone)).toMatchObject({ alerts: [] }));

  test('nothing of a version that is not known', () =>
    expect(shownData({ v: 99, secret: 'x' }, 100)).toEqual({ notShown: 'this daemon does not know version 99' }));

  test('nothing of what Tocsin would not have written', () =>
    expect(shownData({ ...jobOf(1), alerts: 'x' }, 100)).toEqual({
      notShown: 'somebody else than Tocsin wrote or changed it: see its alerts',
    }));

  test('what nobody would see, as it is written', () =>
    expect(JSON.stringify(shownData(jobOf(1, 'a\u202eb'), MOST_BYTES.listed))).toContain('a\\\\u202eb'));

  test('why it failed, without secrets and not all of a long text', () => {
    const scrub = (text: string): string => text.replace('hidden', '***');
    expect(shownReason('hidden', scrub)).toBe('***');
    expect(shownReason('x'.repeat(5000), scrub).length).toBe(500);
  });
});

test.each([
  ['', 19],
  ['&jobsPerPage=300', 19],
  ['&jobsPerPage=1e9', 19],
  ['&jobsPerPage=5', 4],
])('one answer reads 20 jobs of a state at most: %j', async (query, end) => {
  const ranges: unknown[] = [];
  const queue: Partial<ReadableQueue> = {
    name: 'deliver-slack',
    isPaused: async () => false,
    getJobCounts: async () => ({ waiting: 10_000 }),
    getRanges: async (...range) => {
      ranges.push(range);
      return [];
    },
  };
  const board = createBoard({ path: '/queues', queues: [queue as ReadableQueue], scrub: (text) => text });
  const asked = new URLSearchParams(`activeQueue=deliver-slack&status=waiting&page=1${query}`);
  expect((await board.show('/api/queues', asked))?.code).toBe(200);
  expect(ranges).toEqual([[['waiting'], 0, end]]);
});
