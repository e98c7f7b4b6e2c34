import { describe, expect, test } from 'vitest';
import { ServiceError, type ServiceReason } from '../../src/errors.ts';
import type { AdmitResult } from '../../src/poll/admission.ts';
import { createIntake } from '../../src/poll/intake.ts';
import type { PollResult } from '../../src/poll/poller.ts';
import { type Stream, streamKey } from '../../src/poll/stream.ts';

const never = new AbortController().signal;
const streamOf = (...protocols: string[]): Stream => ({ service: 'main', source: 'notifications', protocols });
const READ: PollResult = { outcome: 'read', items: 1, alerts: 1, sweep: false };
const failure = (reason: ServiceReason) => new ServiceError(reason, 'no answer');

const setUp = () => {
  const world = {
    admitted: { admitted: true } as AdmitResult,
    /** What the service gives for these names. */
    answer: (_protocols: readonly string[]): PollResult | Error => READ,
    listing: undefined as Error | undefined,
    unfinished: undefined as ServiceError | undefined,
    assets: undefined as Error | undefined,
    isDown: false,
  };
  const seen: string[] = [];
  const looks: string[] = [];
  const report = (word: string) => (subject: string | Stream, detail?: unknown) =>
    void seen.push(`${word} ${typeof subject === 'string' ? subject : subject.protocols.join('+')}${detail ?? ''}`);
  const intake = createIntake({
    catalog: {
      refresh: async () => {
        if (world.listing) throw world.listing;
        const { unfinished } = world;
        return { added: [], removed: [], missing: [], ...(unfinished && { unfinished }) };
      },
      refreshAssets: async () => {
        if (world.assets) throw world.assets;
      },
    },
    admission: {
      admit: async () => world.admitted,
      answered: (_service, subject) => void seen.push(`answered ${subject}`),
      unasked: (_service, subject) => void seen.push(`unasked ${subject}`),
      failed: async (_service, subject) => void seen.push(`failed ${subject}`),
      silentSince: () => Infinity,
      trouble: () => (world.isDown ? { kind: 'down', since: 0 } : undefined),
    },
    poll: async ({ protocols }) => {
      const answer = world.answer(protocols);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    probe: async () => {},
    onProbed: () => {},
    onProbeFailed: (service) => report('probe failed')(service),
    onCatalog: async () => void looks.push('look'),
    onPolled: (stream, { outcome }) => report('polled')(stream, `: ${outcome}`),
    onPollFailed: (stream, _error, isDown) => report('poll failed')(stream, isDown ? ', down' : ''),
    onListed: (service) => report('listed')(service),
    onListMalformed: async () => {},
    onListUnfinished: (service, _change, { reason }) => report('listed in part')(service, `: ${reason}`),
    onListFailed: (service) => report('list failed')(service),
    onAssetsListed: (service) => report('assets listed')(service),
    onAssetsFailed: (service) => report('assets failed')(service),
    now: () => 0,
    monotonic: () => 0,
  });
  const poll = (stream: Stream, signal = never) => intake.poll(stream, signal);
  const list = () => intake.listAll('main', never);
  /** What was reported, without what the admission heard. */
  const reported = () => seen.filter((line) => /^(polled|poll failed|list|assets)/.test(line));
  return { world, seen, reported, looks, poll, list };
};

describe('a poll', () => {
  test('that was read counts as an answer, and one that another daemon has does not', async () => {
    const { world, seen, poll } = setUp();
    await poll(streamOf('A'));
    world.answer = () => ({ ...READ, outcome: 'busy' });
    await poll(streamOf('A'));
    expect(seen).toEqual([
      `answered ${streamKey(streamOf('A'))}`,
      'polled A: read',
      `unasked ${streamKey(streamOf('A'))}`,
      'polled A: busy',
    ]);
  });

  test('that may not go now comes back when the admission says', async () => {
    const { world, seen, poll } = setUp();
    world.admitted = { admitted: false, againInMs: 4000 };
    expect(await poll(streamOf('A'))).toBe(4000);
    world.admitted = { admitted: false };
    expect(await poll(streamOf('A'))).toBeUndefined();
    expect(seen).toEqual(['polled A: held', 'polled A: held']);
  });

  test('that fails is reported, with whether the service is down', async () => {
    const { world, reported, poll } = setUp();
    world.answer = () => failure('failed');
    await poll(streamOf('A', 'B'));
    world.isDown = true;
    await poll(streamOf('A', 'B'));
    expect(reported()).toEqual(['poll failed A+B', 'poll failed A+B, down']);
  });

  test('that had to wait in the middle is held, not failed', async () => {
    const { world, reported, poll } = setUp();
    world.answer = () => failure('held');
    await poll(streamOf('A'));
    expect(reported()).toEqual(['polled A: held']);
  });

  test('of several names of which one is refused is halved until only that one fails', async () => {
    const { world, reported, poll } = setUp();
    world.answer = (protocols) => (protocols.includes('C') ? failure('rejected') : READ);
    await poll(streamOf('A', 'B', 'C', 'D', 'E'));
    expect(reported()).toEqual(['polled A+B: read', 'poll failed C', 'polled D+E: read']);
  });

  test('that a stop ends is not reported', async () => {
    const { world, reported, poll } = setUp();
    world.answer = () => failure('aborted');
    await poll(streamOf('A'), AbortSignal.abort());
    expect(reported()).toEqual([]);
  });
});

describe('a listing', () => {
  test('lets its protocols be looked at, and lists their assets after it', async () => {
    const { reported, looks, list } = setUp();
    await list();
    expect(reported()).toEqual(['listed main', 'assets listed main']);
    expect(looks).toHaveLength(1);
  });

  test('that fails leaves protocols and assets as they are', async () => {
    const { world, reported, looks, list } = setUp();
    world.listing = failure('failed');
    await list();
    expect([reported(), looks]).toEqual([['list failed main'], []]);
  });

  test('that was read in part lets what is known be looked at, and is a failure of the service', async () => {
    const { world, seen, reported, looks, list } = setUp();
    world.unfinished = failure('unreadable');
    await list();
    expect(reported()).toEqual(['listed in part main: unreadable', 'assets listed main']);
    expect(seen).toContain('failed listing');
    expect(looks).toHaveLength(1);
  });

  test('that has to wait is no failure', async () => {
    const { world, reported, list } = setUp();
    world.listing = failure('held');
    await list();
    world.admitted = { admitted: false };
    await list();
    expect(reported()).toEqual([]);
  });

  test('whose assets fail stands, and assets that have to wait are no failure', async () => {
    const { world, reported, looks, list } = setUp();
    world.assets = failure('unreadable');
    await list();
    world.assets = failure('held');
    await list();
    expect(reported()).toEqual(['listed main', 'assets failed main', 'listed main']);
    expect(looks).toHaveLength(2);
  });
});
