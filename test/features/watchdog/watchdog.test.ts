/** What two daemons on one Redis announce, to whom, and how often. */
import { expect, test } from 'vitest';
import type { Destination } from '../../../src/alert.ts';
import type { Condition } from '../../../src/condition.ts';
import { type AnnouncementInput, announcementItem } from '../../../src/features/announcements/announce.ts';
import { createAnnouncer } from '../../../src/features/conditions/announcer.ts';
import { createOutageStore } from '../../../src/features/conditions/outages.ts';
import { createAnnouncedStore } from '../../../src/features/conditions/store.ts';
import { overText } from '../../../src/features/watchdog/message.ts';
import { createWatchdogRound } from '../../../src/features/watchdog/watchdog.ts';
import { createLocks } from '../../../src/redis/lock.ts';
import { createLines } from '../../ops/lines.ts';
import { destinationOf } from '../../support/alerts.ts';
import { TOLD } from '../../support/outages.ts';
import { openTestRedis } from '../../support/redis.ts';

const MAIL = destinationOf('email', 'ops@example.com');
const SLACK = destinationOf('slack', 'C1');
const FALLBACK = destinationOf('telegram', '-100');
const START = Date.parse('2026-11-22T10:00:00.000Z');
const SINCE = '2026-11-22T09:58:00.000Z';

const DISK: Condition = {
  name: 'disk',
  of: 'alpha',
  at: 'alpha',
  what: 'at alpha: the disk of the data folder of Tocsin (./data) is nearly full: 50 MB of 1.0 GB are free',
  since: SINCE,
};
const DEAD: Condition = { name: 'dead', of: '', what: '2 deliveries are dead and kept' };
const CHANNEL: Condition = {
  name: 'channel',
  of: 'slack',
  what: 'slack does not work',
  why: 'invalid_auth',
  since: SINCE,
};

const setUp = ({ destinations = [MAIL, SLACK], fallback = [FALLBACK] } = {}) => {
  const { redis, prefix } = openTestRedis();
  const { lines, log } = createLines();
  const time = { elapsed: 0 };
  const outages = createOutageStore(redis, prefix, () => START + time.elapsed);
  const state = { troubles: [] as Condition[], hosts: ['alpha', 'beta'], failing: false };
  const sent: { about: string; id: string; message: string; to: string[] }[] = [];
  const announce = async ({ about, key, message }: AnnouncementInput, _at: number, to: readonly Destination[]) => {
    if (state.failing) throw new Error('Redis went away');
    // As `enqueueOnce` does it: an announcement that is known is not sent again.
    const id = announcementItem({ about, key });
    if (!sent.some((one) => one.id === id)) sent.push({ about, id, message, to: to.map(({ label }) => label) });
    return id;
  };
  const now = () => START + time.elapsed;
  const daemon = () =>
    createWatchdogRound({
      announcer: createAnnouncer({
        ...{ store: createAnnouncedStore(redis, prefix, now), locks: createLocks(redis, prefix), announce },
        ...{ operators: destinations, fallback, log, now },
      }),
      afterMs: 60_000,
      monotonic: () => time.elapsed,
      now,
    });
  const daemons = [daemon(), daemon()];
  /** Rounds of 15 seconds of both daemons, one after the other. */
  const run = async (rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      for (const look of daemons) await look(state.troubles, new Set(state.hosts));
      time.elapsed += 15_000;
    }
  };
  /** Rounds hang for a minute and a half. */
  const silence = (): void => {
    time.elapsed += 90_000;
  };
  const told = () => sent.splice(0).map(({ about, message, to }) => ({ about, message, to }));
  return { state, run, silence, told, outages, lines };
};

test('what stands at two looks, between which Redis was silent for long, is no news yet', async () => {
  const { state, run, silence, told } = setUp();
  state.troubles = [DISK];
  await run(1);
  silence();
  await run(1);
  expect(told()).toEqual([]);
  await run(1);
  expect(told()).toMatchObject([{ about: 'trouble.begun' }]);
});

test('a trouble is told once over all daemons when it lasts, and once when it is over', async () => {
  const { state, run, told } = setUp();
  state.troubles = [DISK];
  await run(4);
  expect(told()).toEqual([]);
  await run(20);
  expect(told()).toEqual([
    {
      about: 'trouble.begun',
      message: [
        'At alpha: the disk of the data folder of Tocsin (./data) is nearly full: 50 MB of 1.0 GB are free.',
        'Since 2026-11-22 09:58:00 UTC. Alerts are found and sent until the disk is full: then Redis takes no more, and no alert is sent.',
        'To do: free space on that machine, or give the data folder of Tocsin (dataDir) a larger disk.',
      ].join('\n'),
      to: [MAIL.label, SLACK.label],
    },
  ]);
  state.troubles = [];
  await run(4);
  expect(told()).toEqual([]);
  await run(20);
  expect(told()).toEqual([
    {
      about: 'trouble.over',
      message: [
        'Over: At alpha: the disk of the data folder of Tocsin (./data) is nearly full: 50 MB of 1.0 GB are free.',
        'It lasted 9 min, since 2026-11-22 09:58:00 UTC.',
        'Nothing has to be done.',
      ].join('\n'),
      to: [MAIL.label, SLACK.label],
    },
  ]);
});

test('many troubles at once are one message, over no channel that is one of them', async () => {
  const { state, run, told } = setUp();
  state.troubles = [CHANNEL, DISK, DEAD];
  await run(10);
  const [message, ...others] = told();
  expect(others).toEqual([]);
  expect(message?.to).toEqual([MAIL.label]);
  expect(message?.message.split('\n')).toEqual([
    '3 troubles in Tocsin itself, the first: Slack does not work: invalid_auth.',
    '1. Slack does not work: invalid_auth. Since 2026-11-22 09:58:00 UTC. Alerts for it wait, and are delivered by themselves when it works.',
    expect.stringMatching(/^To do: fix it under channels /),
    expect.stringMatching(
      /^2\. At alpha: the disk .* Since 2026-11-22 09:58:00 UTC\. Alerts are found and sent until .*\.$/,
    ),
    'To do: free space on that machine, or give the data folder of Tocsin (dataDir) a larger disk.',
    '3. 2 deliveries are dead and kept. Since 2026-11-22 10:00:00 UTC. They are kept, and not sent again by themselves.',
    expect.stringMatching(/^To do: `tocsin dead list` shows why/),
  ]);
  state.troubles = [DISK];
  await run(10);
  expect(told()).toMatchObject([
    {
      about: 'trouble.over',
      message: expect.stringMatching(/^2 troubles in Tocsin itself are over[\s\S]*One is left/),
    },
  ]);
});

test('where none of its channels works the fallback hears of it, and where nobody can, it is told later', async () => {
  const { state, run, told, outages, lines } = setUp();
  const outage = { since: SINCE, reason: 'unavailable', message: 'it timed out', announcedTo: [] } as const;
  const broken = async (...ids: string[]) => {
    for (const id of ids) await outages.note(id, { ...TOLD, ...outage, announcedTo: [] });
  };
  await broken(MAIL.id, 'sender-slack', FALLBACK.id);
  state.troubles = [DISK];
  await run(10);
  expect(told()).toEqual([]);
  expect(lines.map(({ message }) => message)).toEqual([
    'trouble in Tocsin itself, and no channel works that could announce it',
  ]);
  await outages.forget(FALLBACK.id);
  await run(1);
  expect(told()).toMatchObject([{ about: 'trouble.begun', to: [FALLBACK.label] }]);
});

test('what was cut short is completed by the next round, under the same key', async () => {
  const { state, run, told } = setUp();
  state.troubles = [DISK];
  state.failing = true;
  await run(4);
  await expect(run(1)).rejects.toThrow('Redis went away');
  state.failing = false;
  await run(3);
  expect(told()).toHaveLength(1);
});

test('what comes and goes is told three times an hour, and the last time says so', async () => {
  const { state, run, told } = setUp();
  for (let time = 0; time < 5; time += 1) {
    state.troubles = [DISK];
    await run(6);
    state.troubles = [];
    await run(6);
  }
  const all = told();
  expect(all.map(({ about }) => about)).toEqual(
    Array.from({ length: 3 }, () => ['trouble.begun', 'trouble.over']).flat(),
  );
  expect(all.map(({ message }) => message.includes('It comes and goes'))).toEqual([
    false,
    false,
    false,
    false,
    true,
    false,
  ]);
});

test('of a daemon that is gone nobody knows whether its trouble is over', async () => {
  const { state, run, told } = setUp();
  state.troubles = [DISK];
  await run(6);
  told();
  state.troubles = [];
  state.hosts = ['beta'];
  await run(6);
  expect(told()[0]?.message).toContain('The daemon that had it does not run any more.');
});

test('without anybody to tell, it is in the log', async () => {
  const { state, run, told, lines } = setUp({ destinations: [], fallback: [] });
  state.troubles = [DISK];
  await run(10);
  expect(told()).toEqual([]);
  expect(lines).toMatchObject([{ level: 'error', message: 'trouble in Tocsin itself, and it is announced to nobody' }]);
});

test('with a fallback alone, a trouble that nobody can hear of now is told when it works again', async () => {
  const { state, run, told, outages } = setUp({ destinations: [] });
  await outages.note(FALLBACK.id, {
    ...TOLD,
    since: SINCE,
    reason: 'unavailable',
    message: 'it timed out',
    announcedTo: [],
  });
  state.troubles = [DISK];
  await run(10);
  expect(told()).toEqual([]);
  await outages.forget(FALLBACK.id);
  await run(1);
  expect(told()).toMatchObject([{ about: 'trouble.begun', to: [FALLBACK.label] }]);
});

test('a beginning that lies ahead is no length: a clock that was wrong gave it', () => {
  const ended = { ...DISK, since: '2026-11-22T11:00:00.000Z' };
  expect(overText([ended], { left: 0, hosts: new Set(['alpha']), now: Date.parse('2026-11-22T10:00:00Z') })).toMatch(
    /^Over: .+\.\nNothing has to be done\.$/,
  );
});
