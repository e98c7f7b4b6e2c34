import { describe, expect, test } from 'vitest';
import type { Config } from '../../../src/config/schema.ts';
import { ConfigError, UnavailableError } from '../../../src/errors.ts';
import { createReloader, type ReloadOutcome } from '../../../src/features/reload/reloader.ts';
import { read, SMALL } from '../../config/samples.ts';

const withLookback = (minutes: number): Config => read(`${SMALL}poll: { lookback: ${minutes}m }\n`);

const setUp = () => {
  const disk = { config: async (): Promise<Config> => withLookback(20) };
  const state = { current: read(SMALL), replaced: 0, fails: undefined as Error | undefined };
  const outcomes: ReloadOutcome[] = [];
  const lines: { problems?: string[]; changed?: string[] }[] = [];
  const log = (facts: object): void => void lines.push(facts);
  const { request } = createReloader({
    source: { file: 'tocsin.yaml', read: () => disk.config() },
    current: () => state.current,
    replace: async (config) => {
      if (state.fails !== undefined) throw state.fails;
      state.replaced += 1;
      state.current = config;
    },
    onRead: () => {},
    onOutcome: (outcome) => outcomes.push(outcome),
    scrub: (text) => text.replaceAll('hush', '[secret]'),
    log: { info: log as never, error: log as never },
    monotonic: () => 0,
  });
  return { disk, state, outcomes, lines, request };
};

describe('a reload', () => {
  test('puts a config into force that has changed, and says by which keys', async () => {
    const { state, request, lines } = setUp();
    expect(await request('SIGHUP')).toEqual({ outcome: 'reloaded', changed: ['poll.lookback'] });
    expect(await request('SIGHUP')).toEqual({ outcome: 'unchanged' });
    expect(state.replaced).toBe(1);
    expect(lines[0]).toMatchObject({ cause: 'SIGHUP', file: 'tocsin.yaml', changed: ['poll.lookback'] });
  });

  test('that is tried again and again is logged once for each reason', async () => {
    const { state, request, lines } = setUp();
    const again = async (message: string): Promise<number> => {
      state.fails = new UnavailableError(message);
      for (let n = 0; n < 5; n += 1) await request('trying again');
      return lines.length;
    };
    expect(await again('Redis is away')).toBe(1);
    expect(await again('Redis is loading')).toBe(2);
    await request('SIGHUP');
    expect(lines).toHaveLength(3);
    state.fails = undefined;
    await request('trying again');
    expect(lines[3]).toMatchObject({ changed: ['poll.lookback'] });
  });

  test('that is wrong, needs a restart or cannot start changes nothing', async () => {
    const { disk, state, request } = setUp();
    disk.config = () =>
      Promise.reject(new ConfigError([{ file: 'c.yaml', line: 1, column: 2, path: 'poll', rule: 'no' }]));
    expect(await request('a')).toMatchObject({
      outcome: 'refused',
      problems: ['c.yaml:1:2: poll: no'],
      isPassing: false,
    });
    disk.config = async () => read(`${SMALL}dataDir: /else\npoll: { lookback: 20m }\n`);
    expect(await request('b')).toMatchObject({
      outcome: 'refused',
      problems: [expect.stringMatching(/^dataDir: a change of it needs a restart/)],
    });
    disk.config = async () => withLookback(20);
    state.fails = new Error('cannot open hush');
    expect(await request('c')).toMatchObject({ problems: ['cannot open [secret]'], isPassing: false });
    state.fails = new UnavailableError('Redis is away');
    expect(await request('d')).toMatchObject({ outcome: 'refused', isPassing: true });
    expect(state).toMatchObject({ replaced: 0 });
  });

  test('takes those that are asked for meanwhile together, as one more', async () => {
    const { disk, outcomes, request } = setUp();
    const gate = Promise.withResolvers<void>();
    let reads = 0;
    disk.config = async () => {
      reads += 1;
      await gate.promise;
      return withLookback(20 + reads);
    };
    const all = [request('first'), request('second'), request('third'), request('fourth')];
    gate.resolve();
    const ends = await Promise.all(all);
    expect(reads).toBe(2);
    expect(outcomes).toHaveLength(2);
    expect(new Set(ends.slice(1)).size).toBe(1);
  });
});
