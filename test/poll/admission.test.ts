import { describe, expect, test } from 'vitest';
import { ServiceError, type ServiceReason } from '../../src/errors.ts';
import { createAdmission } from '../../src/poll/admission.ts';

const EVERY_MS = 15_000;
const never = new AbortController().signal;

const setUp = (concurrency = 8) => {
  const time = { now: 1_000_000 };
  const held = { own: 0, shared: 0 };
  const noted: number[] = [];
  const key = { isGood: true };
  const refused: string[] = [];
  const admission = createAdmission({
    everyMs: EVERY_MS,
    concurrency,
    heldForMs: (service) => (service === 'main' ? held.own : 0),
    backoffs: {
      note: async (_service, waitMs) => {
        noted.push(waitMs);
      },
      leftMs: async (service) => (service === 'main' ? held.shared : 0),
    },
    probe: async () => {
      if (!key.isGood) throw new ServiceError('unauthorized', 'refused');
    },
    onRefused: (service) => refused.push(service),
    monotonic: () => time.now,
    random: () => 0.5,
  });
  const admit = (subject: string, service = 'main') => admission.admit(service, subject, never);
  const fail = async (subjects: readonly string[], reason: ServiceReason, details = {}) => {
    for (const subject of subjects)
      await admission.failed('main', subject, new ServiceError(reason, 'no', details), never);
  };
  return { time, held, noted, key, refused, admission, admit, fail };
};

describe('while a wait that the service named lasts', () => {
  test('nothing of it is asked, by whichever daemon the wait was seen', async () => {
    const { held, admit } = setUp();
    held.own = 60_000;
    expect(await admit('a')).toEqual({ admitted: false });
    Object.assign(held, { own: 0, shared: 60_000 });
    expect(await admit('a')).toEqual({ admitted: false });
    expect(await admit('a', 'other')).toEqual({ admitted: true });
  });

  test('a short one brings the poll back after it, spread over a turn', async () => {
    const { held, admit } = setUp();
    Object.assign(held, { own: 4000, shared: 3000 });
    expect(await admit('a')).toEqual({ admitted: false, againInMs: 4000 + EVERY_MS / 2 });
  });

  test('every daemon hears of it', async () => {
    const { held, noted, fail } = setUp();
    held.own = 20_000;
    await fail(['a'], 'limited', { retryAfterMs: 20_000 });
    expect(noted).toEqual([20_000]);
  });
});

test('a service that is down is not asked, and the others are', async () => {
  const { admission, admit, fail } = setUp();
  await fail(['a', 'b', 'c'], 'unreachable');
  expect(admission.trouble('main')?.kind).toBe('down');
  expect(await admit('d')).toEqual({ admitted: false });
  expect(await admit('d', 'other')).toEqual({ admitted: true });
  admission.answered('main', 'a');
  expect(await admit('d')).toEqual({ admitted: true });
});

test('a quarter of the places is for those that hung', async () => {
  const { admission, admit, fail } = setUp(8);
  for (const subject of ['a', 'b', 'c']) {
    await fail([subject], 'unreachable');
    admission.answered('main', 'good');
  }
  const admitted = async (subject: string) => (await admit(subject)).admitted;
  expect([await admitted('a'), await admitted('b'), await admitted('c'), await admitted('d')]).toEqual([
    true,
    true,
    false,
    true,
  ]);
  admission.unasked('main', 'a');
  expect(await admitted('c')).toBe(true);
});

test('a place is free again when its poll ends, however it ended, and only then', async () => {
  const { admission, admit, fail } = setUp(4);
  for (const subject of ['a', 'b']) {
    await fail([subject], 'unreachable');
    admission.answered('main', 'good');
  }
  const admitted = async (subject: string) => (await admit(subject)).admitted;
  expect([await admitted('a'), await admitted('b')]).toEqual([true, false]);
  expect(await admitted('good')).toBe(true);
  admission.answered('main', 'good');
  expect(await admitted('b')).toBe(false);
  await fail(['a'], 'failed');
  expect(await admitted('b')).toBe(true);
  admission.answered('main', 'b');
  expect([await admitted('a'), await admitted('b')]).toEqual([true, true]);
});

test('a refusal of one protocol leaves the key, and a refused key holds everybody until it works', async () => {
  const { time, key, refused, admission, admit, fail } = setUp();
  await fail(['a'], 'unauthorized');
  expect(await admit('b')).toEqual({ admitted: true });
  time.now += EVERY_MS;
  key.isGood = false;
  await fail(['a', 'b'], 'unauthorized');
  expect(refused).toEqual(['main']);
  expect(await admit('b')).toEqual({ admitted: false });
  time.now += EVERY_MS;
  expect(await admit('b')).toEqual({ admitted: false });
  expect(refused).toEqual(['main']);
  key.isGood = true;
  time.now += EVERY_MS;
  expect(await admit('b')).toEqual({ admitted: true });
  expect(admission.trouble('main')).toBeUndefined();
});
