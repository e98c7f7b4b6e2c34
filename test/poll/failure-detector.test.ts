import { describe, expect, test } from 'vitest';
import { ServiceError, type ServiceReason } from '../../src/errors.ts';
import { createFailureDetector, createWalkDetector } from '../../src/poll/failure-detector.ts';

const failure = (reason: ServiceReason, retryAfterMs?: number) =>
  new ServiceError(reason, 'no answer', retryAfterMs === undefined ? {} : { retryAfterMs });

const setUp = () => {
  const time = { now: 1_000_000 };
  const detector = createFailureDetector(() => time.now);
  const failAll = (subjects: readonly string[], reason: ServiceReason = 'unreachable') => {
    for (const subject of subjects) detector.failed(subject, failure(reason));
  };
  const kind = () => detector.trouble()?.kind;
  return { time, detector, failAll, kind };
};

describe('a service as polls see it', () => {
  test('is not in trouble while one subject fails, however often', () => {
    const { detector, failAll, kind } = setUp();
    failAll(Array.from({ length: 50 }, () => 'a'));
    expect(kind()).toBeUndefined();
    expect(detector.isFailing('a')).toBe(true);
    expect(detector.isFailing('b')).toBe(false);
  });

  test('is not while others work in between', () => {
    const { detector, failAll, kind } = setUp();
    for (const subject of ['a', 'b', 'c', 'd', 'e', 'f']) {
      failAll([subject]);
      detector.worked('good');
    }
    expect(kind()).toBeUndefined();
  });

  test.each(['failed', 'unreachable', 'unreadable'] as const)('is down when three in a row are %s', (reason) => {
    const { time, detector, failAll, kind } = setUp();
    for (const subject of ['a', 'b', 'c']) detector.worked(subject);
    failAll(['a', 'b'], reason);
    expect(kind()).toBeUndefined();
    failAll(['c'], reason);
    const trouble = detector.trouble();
    expect(trouble).toEqual({ kind: 'down', since: time.now });
    time.now += 1000;
    failAll(['d'], reason);
    expect(detector.trouble()).toBe(trouble);
  });

  test('is well again with the first answer', () => {
    const { detector, failAll, kind } = setUp();
    failAll(['a', 'b', 'c']);
    expect(kind()).toBe('down');
    detector.worked('a');
    expect(kind()).toBeUndefined();
  });

  test('is not judged by those that have been failing all along', () => {
    const { detector, failAll, kind } = setUp();
    for (let rounds = 0; rounds < 5; rounds += 1) {
      failAll(['x', 'y']);
      detector.worked('good');
      failAll(['z']);
      detector.worked('good');
    }
    failAll(['x', 'y', 'z']);
    expect(kind()).toBeUndefined();
    failAll(['good', 'better', 'best']);
    expect(kind()).toBe('down');
  });

  test.each(['missing', 'rejected', 'aborted', 'held', 'unauthorized'] as const)(
    '%s is the own trouble of what was asked for',
    (reason) => {
      const { failAll, kind } = setUp();
      failAll(['a', 'b', 'c', 'd'], reason);
      expect(kind()).toBeUndefined();
    },
  );

  test.each(['missing', 'rejected'] as const)('is there when it answers that one subject is %s', (reason) => {
    const { failAll, kind } = setUp();
    failAll(['a', 'b', 'c']);
    failAll(['d'], reason);
    expect(kind()).toBeUndefined();
  });

  test('is not judged by failures that began before others were answered', () => {
    const { time, detector, failAll, kind } = setUp();
    for (const subject of ['a', 'b', 'c', 'd']) detector.asked(subject);
    time.now += 50;
    detector.worked('d');
    time.now += 10_000;
    failAll(['a', 'b', 'c']);
    expect(kind()).toBeUndefined();
  });

  test('is down at once when it says that it is asked too often', () => {
    const { failAll, kind } = setUp();
    failAll(['a'], 'limited');
    expect(kind()).toBe('down');
  });

  test('is not down when it names a wait: that is obeyed', () => {
    const { detector, kind } = setUp();
    for (const subject of ['a', 'b', 'c']) detector.failed(subject, failure('failed', 5000));
    detector.failed('d', failure('limited', 5000));
    expect(kind()).toBeUndefined();
    expect(detector.isFailing('a')).toBe(false);
  });

  test('is not judged by mistakes of our own', () => {
    const { detector, kind } = setUp();
    for (const subject of ['a', 'b', 'c', 'd']) detector.failed(subject, new Error('Redis went away'));
    expect(kind()).toBeUndefined();
    expect(detector.isFailing('a')).toBe(false);
  });

  test('refuses the key until an answer comes, which is news once', () => {
    const { time, detector, failAll, kind } = setUp();
    failAll(['a', 'b', 'c']);
    time.now += 1000;
    expect(detector.refused()).toBe(true);
    expect(detector.refused()).toBe(false);
    failAll(['d', 'e', 'f']);
    expect(detector.trouble()).toEqual({ kind: 'refused', since: time.now });
    detector.worked('listing');
    expect(kind()).toBeUndefined();
  });
});

describe('a service that does not answer this daemon', () => {
  test('is silent since the first failure behind its last answer, however few fail and however long', () => {
    const { time, detector, failAll } = setUp();
    expect(detector.silentSince()).toBe(Infinity);
    failAll(['only']);
    const since = time.now;
    time.now += 3000;
    failAll(['only']);
    expect(detector.silentSince()).toBe(since);
    detector.worked('listing');
    expect(detector.silentSince()).toBe(Infinity);
    // It had failed before others were answered; since it fails again nobody is.
    time.now += 1000;
    failAll(['only']);
    expect(detector.silentSince()).toBe(time.now);
  });

  test('is not by a failure that began before others were answered', () => {
    const { time, detector, failAll } = setUp();
    detector.asked('slow');
    time.now += 50;
    detector.worked('quick');
    time.now += 10_000;
    failAll(['slow']);
    expect(detector.silentSince()).toBe(Infinity);
  });

  test('is since its key is refused', () => {
    const { time, detector } = setUp();
    detector.refused();
    expect(detector.silentSince()).toBe(time.now);
  });
});

describe('a subject hangs', () => {
  test('from no answer at all to the first of any kind', () => {
    const { detector, failAll } = setUp();
    for (const reason of ['failed', 'missing', 'limited', 'unauthorized', 'unreadable'] as const) {
      failAll(['a'], 'unreachable');
      expect(detector.isHanging('a')).toBe(true);
      failAll(['a'], reason);
      expect(detector.isHanging('a')).toBe(false);
    }
    failAll(['a'], 'unreachable');
    detector.worked('a');
    expect(detector.isHanging('a')).toBe(false);
  });

  test.each(['held', 'aborted'] as const)('or not, as before, when it was not asked: %s', (reason) => {
    const { detector, failAll } = setUp();
    failAll(['a'], 'unreachable');
    failAll(['a', 'b'], reason);
    expect([detector.isHanging('a'), detector.isHanging('b')]).toEqual([true, false]);
  });

  test('no more when the service itself had been away', () => {
    const { detector, failAll } = setUp();
    failAll(['a', 'b']);
    detector.worked('good');
    expect([detector.isHanging('a'), detector.isHanging('b')]).toEqual([true, true]);
    failAll(['c', 'd', 'e']);
    detector.worked('good');
    expect(['a', 'b', 'c', 'd', 'e'].some((subject) => detector.isHanging(subject))).toBe(false);
  });
});

describe('a service as a walk over its protocols sees it', () => {
  const isDownAfter = (...events: (ServiceReason | 'worked' | 'ours')[]): boolean => {
    const detector = createWalkDetector();
    for (const [index, event] of events.entries()) {
      const protocol = `Protocol ${index}`;
      if (event === 'worked') detector.worked();
      else detector.failed(protocol, event === 'ours' ? new Error('ours') : failure(event));
    }
    return detector.isDown();
  };
  const five = <T>(event: T): T[] => Array.from({ length: 5 }, () => event);

  test.each(['unauthorized', 'limited', 'held'] as const)('is in trouble at once when %s', (reason) => {
    expect(isDownAfter(reason)).toBe(true);
    expect(isDownAfter(reason, 'worked')).toBe(false);
  });

  test('is in trouble when it names a wait', () => {
    const detector = createWalkDetector();
    detector.failed('Vault', failure('limited', 5000));
    expect(detector.isDown()).toBe(true);
  });

  test.each(['failed', 'unreachable'] as const)('is in trouble when five in a row are %s', (reason) => {
    expect(isDownAfter(...five(reason).slice(1))).toBe(false);
    expect(isDownAfter(...five(reason))).toBe(true);
    expect(isDownAfter(...five(reason).slice(1), 'worked', ...five(reason).slice(1))).toBe(false);
  });

  test.each(['missing', 'rejected', 'unreadable', 'ours'] as const)('%s is its own trouble, or ours', (reason) => {
    expect(isDownAfter(...five(reason), ...five(reason))).toBe(false);
  });
});
