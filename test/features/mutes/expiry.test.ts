/** Mutes from the first hidden alert to the message that reports it, against a real Redis. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Alert, Destination, Mute, Parcel } from '../../../src/alert.ts';
import { createAnnounce, createEnqueueOnce } from '../../../src/features/announcements/announce.ts';
import { createActiveMutes } from '../../../src/features/mutes/active.ts';
import { createMuteExpiry } from '../../../src/features/mutes/expiry.ts';
import { createMuteStore } from '../../../src/features/mutes/store.ts';
import type { MuteWindow } from '../../../src/features/mutes/windows.ts';
import { createFilter } from '../../../src/features/suppression/filter.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { createParcelQueues } from '../../../src/queue/queues.ts';
import { destinationOf, notificationAlert } from '../../support/alerts.ts';
import { hashOf, makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;
const SLACK = destinationOf('slack', 'C1');
const MAIL = destinationOf('email', 'a@example.com');
const HOOK = destinationOf('webhook', 'https://hooks.example.com/x', 'hooks.example.com (3f1c)');

const iso = (at: number): string => new Date(at).toISOString();

const mute = (changes: Partial<Mute> = {}): Mute => ({
  id: 'mute-1',
  protocols: ['Lending Pool'],
  detectors: [],
  destinations: [],
  reason: 'upgrade of the pool',
  from: iso(T0),
  until: iso(T0 + 2 * HOUR),
  ...changes,
});

interface Options {
  windows?: MuteWindow[];
  never?: string[];
  mostListed?: number;
  fallback?: Destination[];
  closed?: Destination[];
  /** What providers call destinations. */
  names?: ReadonlyMap<Destination['id'], string>;
}

/** Several of them on one Redis are several daemons. */
const open = (
  { windows = [], never = [], mostListed, fallback = [], closed = [], names = new Map() }: Options,
  shared = openTestRedis(),
) => {
  const { redis, prefix } = shared;
  const time = { now: T0 };
  const now = (): number => time.now;
  const queues = createParcelQueues({ redis, prefix, onError: () => {} });
  onTestFinished(() => queues.close());
  const ledger = createLedger(redis, prefix, now);
  const mutes = createMuteStore(redis, prefix, now, mostListed);
  const config = { mutes: { maxLength: 24 * HOUR, never, windows } };
  const counted: string[] = [];
  const onMuted = (all: readonly Destination[]) => void counted.push(...all.map(({ kind }) => kind));
  const activeMutes = createActiveMutes({ config, mutes, onMuted, now });
  const isOpen = async () => (one: Destination) => !closed.some(({ id }) => id === one.id);
  const held: Parcel[] = [];
  const hold = async (parcels: readonly Parcel[]): Promise<number> => held.push(...parcels);
  const approval = { isOpen, hold };
  const filter = createFilter(activeMutes, approval);
  const queued: Parcel[] = [];
  const hooks: { enqueue(): Promise<void> } = { enqueue: async () => {} };
  const enqueue = async (parcels: readonly Parcel[], nonce?: string) => {
    await hooks.enqueue();
    await queues.enqueue(parcels, nonce);
    queued.push(...parcels);
  };
  const lines: { msg: string; [field: string]: unknown }[] = [];
  const write = (line: object, msg: string) => void lines.push({ ...line, msg });
  const sweep = createMuteExpiry({
    mutes,
    activeMutes,
    announce: createAnnounce(createEnqueueOnce(ledger, enqueue)),
    fallback,
    isOpen,
    isConfigured: ({ kind }) => kind !== 'telegram',
    names: async () => names,
    log: { info: write, warn: write } as Parameters<typeof createMuteExpiry>[0]['log'],
    now,
  });
  /** Where an alert goes now. */
  const pass = async (alert: Alert, destinations: readonly Destination[]): Promise<Destination[]> => {
    const [filtered] = await filter([{ alert, destinations }]);
    return [...(filtered?.destinations ?? [])];
  };
  const stateAt = async (alert: Alert, { id }: Destination) =>
    (await ledger.read(alert.id))?.deliveries.find(({ destination }) => destination.id === id);
  /** What was said, by destination. */
  const said = () =>
    queued.map(
      ({ destination, alerts }) => [destination.label, alerts.map(({ item }) => String(item.message))] as const,
    );
  return {
    ...shared,
    time,
    ledger,
    mutes,
    activeMutes,
    approval,
    filter,
    pass,
    held,
    hooks,
    queued,
    sweep,
    lines,
    counted,
    stateAt,
    said,
  };
};

const nightly = (changes: Partial<MuteWindow> = {}): MuteWindow => ({
  protocols: ['*'],
  detectors: [],
  destinations: [],
  days: ['fri'],
  from: 11 * 60,
  to: 13 * 60,
  timeZone: 'UTC',
  reason: 'load test',
  ...changes,
});

describe('a mute', () => {
  test('keeps deliveries from being sent, and the ledger says by what and why', async () => {
    const { mutes, pass, ledger, stateAt, counted } = open({});
    await mutes.add(mute({ destinations: [SLACK.id] }));
    const alert = makeAlert(1);
    expect(await pass(alert, [SLACK, MAIL])).toEqual([MAIL]);
    expect(await stateAt(alert, SLACK)).toMatchObject({
      state: 'muted',
      attempts: [],
      acts: [{ act: 'muted', by: 'mute-1', reason: 'upgrade of the pool' }],
    });
    expect(await stateAt(alert, MAIL)).toBeUndefined();
    expect(await ledger.waitingByDestination()).toEqual({});
    expect(await ledger.oldestOpen(alert)).toBeUndefined();
    expect(await ledger.pending(SLACK, [alert])).toEqual([]);
    expect(await ledger.byTransaction(hashOf(1))).toEqual([alert.id]);
    expect(counted).toEqual(['slack']);
  });

  test('leaves alone what is on its way or delivered, and counts a repeat once', async () => {
    const { mutes, pass, ledger, stateAt, counted } = open({});
    const [before, fresh] = [makeAlert(1), makeAlert(2)];
    await ledger.recordWaiting([{ destination: SLACK, alerts: [before] }]);
    await mutes.add(mute());
    expect(await pass(before, [SLACK, MAIL])).toEqual([SLACK]);
    expect((await stateAt(before, SLACK))?.state).toBe('waiting');
    for (let again = 0; again < 3; again += 1) expect(await pass(fresh, [SLACK])).toEqual([]);
    expect(await mutes.list()).toMatchObject([{ id: 'mute-1', hid: 2 }]);
    expect(counted).toEqual(['email', 'slack']);
    const { hid, destinations } = await mutes.hidden('mute-1');
    expect(hid).toBe(2);
    const listed = async (from: Destination) => [...((await mutes.hiddenFrom('mute-1', from))?.items.keys() ?? [])];
    expect(await listed(MAIL)).toEqual([before.id]);
    expect(await listed(SLACK)).toEqual([fresh.id]);
    expect(destinations.map(({ id }) => id).toSorted()).toEqual([MAIL.id, SLACK.id].toSorted());
  });

  test('does not send what is on its way to a destination that is held', async () => {
    const { mutes, pass, ledger, held } = open({ closed: [SLACK] });
    await ledger.recordWaiting([{ destination: SLACK, alerts: [makeAlert(1)] }]);
    await mutes.add(mute());
    expect(await pass(makeAlert(1), [SLACK])).toEqual([]);
    expect(held).toMatchObject([{ destination: SLACK }]);
  });

  test('lets the ledger forget what it hid, but not what waits elsewhere', async () => {
    const { redis, prefix, mutes, pass, ledger } = open({});
    const ttlOf = ({ id }: Alert) => redis.ttl(`${prefix}:alert:${id}`);
    await mutes.add(mute({ destinations: [SLACK.label] }));
    await ledger.recordWaiting([{ destination: MAIL, alerts: [makeAlert(1)] }]);
    await pass(makeAlert(1), [SLACK, MAIL]);
    await pass(makeAlert(2), [SLACK]);
    expect(await ttlOf(makeAlert(1))).toBe(-1);
    expect(await ttlOf(makeAlert(2))).toBeGreaterThan(0);
  });

  test('ends at its time and by hand, for what is dispatched from then on', async () => {
    const { mutes, pass, time } = open({});
    await mutes.add(mute());
    await mutes.add(mute({ id: 'mute-2', destinations: [MAIL.label] }));
    time.now = T0 + HOUR;
    await mutes.end('mute-1', time.now);
    expect(await pass(makeAlert(1), [SLACK, MAIL])).toEqual([SLACK]);
    time.now = T0 + 2 * HOUR;
    expect(await pass(makeAlert(2), [SLACK, MAIL])).toEqual([SLACK, MAIL]);
  });

  test('that is closed between the check and the note hides nothing: the alert goes on', async () => {
    const { mutes, activeMutes, approval, time } = open({});
    await mutes.add(mute());
    await mutes.add(mute({ id: 'mute-2', detectors: ['flashLoan', 'drastic*'], until: iso(T0 + 3 * HOUR) }));
    const muteOf = async () => {
      const active = await activeMutes.muteOf();
      time.now = T0 + 3 * HOUR;
      for (const id of ['mute-1', 'mute-2']) await mutes.close(id, time.now);
      return active;
    };
    const filter = createFilter({ ...activeMutes, muteOf }, approval);
    const routed = { alert: makeAlert(1), destinations: [SLACK, MAIL] };
    expect(await filter([routed])).toEqual([routed]);
    expect(await mutes.list()).toMatchObject([{ hid: 0 }, { hid: 0 }]);
  });
});

/** Of `makeAlert`. */
const SAID = '“Borrowed 12,400 ETH and repaid in the same transaction; Balance fell by 61.5 %”';

describe('when a mute ends', () => {
  test('one message lists to each of the people what they missed, and nobody else is written to', async () => {
    const { mutes, pass, time, sweep, said, lines, queued } = open({});
    await mutes.add(mute({ protocols: ['*'] }));
    const odd = makeAlert(3, { protocol: 'Two\nlines', at: iso(T0 + 3) });
    await pass(notificationAlert('The weekly report', { at: iso(T0 + 4) }), [SLACK]);
    await pass(makeAlert(2, { at: iso(T0 + 2) }), [MAIL]);
    await pass(makeAlert(1, { at: iso(T0 + 1) }), [SLACK, HOOK, MAIL]);
    await pass(odd, [MAIL]);
    await sweep();
    expect(queued).toEqual([]);
    time.now = T0 + 2 * HOUR;
    await sweep();
    const texts = Object.fromEntries(said());
    expect(Object.keys(texts).toSorted()).toEqual(['C1', 'a@example.com']);
    expect(texts['a@example.com']?.[0]?.split('\n')).toEqual([
      'A mute ended: 3 alerts were not sent, all of them critical.',
      'It muted protocol *, 2026-11-20 12:00:00 to 14:00:00 UTC. Look through what it hid: nobody was told of it here.',
      'Reason: upgrade of the pool',
      '',
      `🔴 CRITICAL 12:00:00 Lending Pool: Flash loan, Drastic balance change ${SAID} ${hashOf(1)}`,
      `🔴 CRITICAL 12:00:00 Lending Pool: Flash loan, Drastic balance change ${SAID} ${hashOf(2)}`,
      `🔴 CRITICAL 12:00:00 Two lines: Flash loan, Drastic balance change ${SAID} ${hashOf(3)}`,
    ]);
    expect(texts.C1?.[0]?.split('\n')).toEqual([
      'A mute ended: 2 alerts were not sent, 1 of them critical.',
      'It muted protocol *, 2026-11-20 12:00:00 to 14:00:00 UTC. Look through what it hid: nobody was told of it here.',
      'Reason: upgrade of the pool',
      '',
      `🔴 CRITICAL 12:00:00 Lending Pool: Flash loan, Drastic balance change ${SAID} ${hashOf(1)}`,
      '🟠 NOTIFICATION 12:00:00 Lending Pool: the service wrote “The weekly report” b7f2c0de11aa22bb33cc44dd55ee66ff',
    ]);
    expect(lines).toMatchObject([
      { msg: 'a mute has ended; sent the list of what it hid', mute: 'mute-1', hid: 4, messages: 2 },
    ]);
    expect(new Set(lines[0]?.to as string[])).toEqual(new Set(['C1', 'a@example.com']));
    await sweep();
    expect(queued).toHaveLength(2);
  });

  test('a storm of one protocol takes no room of another, and a long list comes in parts', async () => {
    const first = open({});
    const { mutes, filter, redis, prefix } = first;
    await mutes.add(mute({ protocols: ['*'] }));
    const storm = Array.from({ length: 1050 }, (_, n) => ({ alert: makeAlert(n), destinations: [MAIL] }));
    const quiet = { alert: makeAlert(2000, { protocol: 'Quiet', at: iso(T0 + 1) }), destinations: [SLACK, MAIL] };
    await filter([...storm, quiet]);
    const daemons = [first, open({}, first)];
    for (const { time } of daemons) time.now = T0 + 2 * HOUR;
    await Promise.all(daemons.map(({ sweep }) => sweep()));
    const texts = daemons.flatMap(({ said }) => said());
    const waiting = (kind: string) => redis.zcard(`${prefix}:deliver-${kind}:prioritized`);
    expect([await waiting('email'), await waiting('slack')]).toEqual([11, 1]);
    const to = (label: string) => [...new Set(texts.flatMap(([one, said]) => (one === label ? said : [])))].toSorted();
    const mails = to(MAIL.label);
    expect(new Set(mails.map((text) => text.split('\n')[0]))).toEqual(
      new Set(
        Array.from({ length: 11 }, (_, n) => n + 1).map(
          (part) => `A mute ended (part ${part} of 11): 1051 alerts were not sent, all of them critical.`,
        ),
      ),
    );
    const numbers = [...Array.from({ length: 1050 }, (_, n) => n), 2000];
    expect(mails.flatMap((text) => text.match(/0x\w{64}$/gm) ?? []).toSorted()).toEqual(numbers.map(hashOf));
    expect(to(SLACK.label)).toEqual([expect.stringContaining('1 alert was not sent, a critical one')]);
    expect(to(SLACK.label).join().match(/0x\w+/g)).toEqual([hashOf(2000)]);
    expect(await redis.keys(`${prefix}:muted:*`)).toEqual([]);
  });

  test('no part is longer than a channel holds, whatever the names', async () => {
    const { mutes, pass, time, sweep, said } = open({});
    await mutes.add(mute({ protocols: ['*'], reason: 'r'.repeat(9000) }));
    for (let n = 0; n < 120; n += 1) {
      const alert = makeAlert(n, {
        protocol: `${n} ${'long '.repeat(400)}`,
        txHash: n === 0 ? '0'.repeat(9000) : hashOf(n),
      });
      await pass(alert, [SLACK]);
    }
    time.now = T0 + 2 * HOUR;
    await sweep();
    const texts = said().flatMap(([, all]) => all);
    expect(texts.length).toBeGreaterThan(1);
    for (const text of texts) expect(text.length).toBeLessThan(23_000);
    for (let n = 1; n < 120; n += 1) expect(texts.filter((text) => text.includes(hashOf(n)))).toHaveLength(1);
  });

  test('a daemon that comes late, when another has reported all, reports no half of it', async () => {
    const fallback = [MAIL];
    const first = open({ fallback });
    const second = open({ fallback }, first);
    const other = destinationOf('webhook', 'https://hooks.example.com/y', 'hooks.example.com (77aa)');
    await first.mutes.add(mute());
    await first.pass(makeAlert(1), [HOOK, other]);
    await first.pass(makeAlert(2), [other]);
    for (const { time } of [first, second]) time.now = T0 + 2 * HOUR;
    const { hiddenFrom } = second.mutes;
    second.mutes.hiddenFrom = async (...which) => {
      const list = await hiddenFrom(...which);
      await first.sweep();
      return list;
    };
    await second.sweep();
    expect(first.said()).toHaveLength(1);
    expect(second.said()).toEqual([]);
  });

  test('a crash among the parts sends each once', async () => {
    const { mutes, filter, time, sweep, hooks, said, ledger, queued } = open({});
    await mutes.add(mute());
    await filter(Array.from({ length: 450 }, (_, n) => ({ alert: makeAlert(n), destinations: [SLACK] })));
    time.now = T0 + 2 * HOUR;
    let calls = 0;
    hooks.enqueue = async () => {
      calls += 1;
      if (calls === 2) throw new Error('Redis is away');
    };
    await expect(sweep()).rejects.toThrow('Redis is away');
    for (const { destination, alerts } of queued) {
      const attempt = { at: iso(time.now), outcome: 'delivered', durationMs: 1 } as const;
      await ledger.recordAttempt(destination, alerts, { state: 'delivered', attempt });
    }
    await sweep();
    await sweep();
    const parts = said().flatMap(([, texts]) => texts.map((text) => /part \d of 5/.exec(text)?.[0]));
    expect(parts.filter((part) => part !== undefined).toSorted()).toEqual([
      'part 1 of 5',
      'part 2 of 5',
      'part 3 of 5',
      'part 4 of 5',
      'part 5 of 5',
    ]);
  });

  test('that hid nothing, one line says so and nobody is written to', async () => {
    const { mutes, time, sweep, lines, queued } = open({});
    await mutes.add(mute());
    time.now = T0 + 2 * HOUR;
    for (let again = 0; again < 3; again += 1) await sweep();
    expect(lines).toMatchObject([{ msg: 'a mute has ended that hid nothing', mute: 'mute-1' }]);
    expect(queued).toEqual([]);
  });

  test('by hand, it is reported at once, and says so', async () => {
    const { mutes, pass, time, sweep, said } = open({});
    await mutes.add(mute());
    await pass(makeAlert(1), [SLACK]);
    time.now = T0 + HOUR;
    await mutes.end('mute-1', time.now);
    await sweep();
    expect(said()[0]?.[1][0]).toContain('2026-11-20 12:00:00 to 13:00:00 UTC, ended by hand');
  });

  test('more than are listed are counted', async () => {
    const { mutes, pass, time, sweep, said } = open({ mostListed: 3 });
    await mutes.add(mute());
    for (let n = 0; n < 8; n += 1) await pass(makeAlert(n), [SLACK, MAIL]);
    time.now = T0 + 2 * HOUR;
    await sweep();
    const text = said()[0]?.[1][0] ?? '';
    expect(text).toContain('8 alerts were not sent, at least 3 of them critical');
    expect(text.match(/ 0x/g)).toHaveLength(3);
    expect(text).toMatch(
      /\nTo do: 5 more are not listed\. .* run: tocsin replay --since 2026-11-20T12:\S+ --until 2026-11-20T14:\S+ --dry-run\n/,
    );
  });

  test('nobody is written to who may not be: programs, what is held, kinds that are not set up', async () => {
    const { mutes, pass, time, sweep, said, lines } = open({ closed: [MAIL] });
    await mutes.add(mute());
    await mutes.add(mute({ id: 'mute-2', protocols: ['Vault'] }));
    const chat = destinationOf('telegram', '-1001');
    await pass(makeAlert(1), [HOOK, MAIL, chat]);
    await pass(makeAlert(2, { protocol: 'Vault' }), [HOOK, MAIL, SLACK]);
    time.now = T0 + 2 * HOUR;
    await sweep();
    expect(said().map(([to]) => to)).toEqual(['C1']);
    expect(lines.map(({ msg }) => msg).toSorted()).toEqual([
      'a mute has ended, and nobody can be sent the list of what it hid',
      'a mute has ended; sent the list of what it hid',
    ]);
    expect(JSON.stringify(lines)).toContain(hashOf(1));
  });

  test('that hid things from programs alone is reported to the fallback', async () => {
    const { mutes, pass, time, sweep, said } = open({ fallback: [MAIL] });
    await mutes.add(mute());
    await pass(makeAlert(1), [HOOK]);
    time.now = T0 + 2 * HOUR;
    await sweep();
    expect(said().map(([to]) => to)).toEqual(['a@example.com']);
  });

  test('what was hidden from programs, and is listed to no person, is reported to the fallback', async () => {
    const { mutes, pass, time, sweep, said, lines } = open({ fallback: [MAIL] });
    await mutes.add(mute({ protocols: ['*'] }));
    await pass(makeAlert(1), [HOOK, SLACK]);
    await pass(makeAlert(2, { protocol: 'Vault' }), [HOOK]);
    time.now = T0 + 2 * HOUR;
    await sweep();
    const texts = Object.fromEntries(said());
    expect(texts[SLACK.label]?.[0]?.match(/0x\w+/g)).toEqual([hashOf(1)]);
    expect(texts[MAIL.label]?.[0]?.match(/0x\w+/g)).toEqual([hashOf(2)]);
    expect(texts[MAIL.label]?.[0]).toMatch(
      /: 1 alert was not sent.*\n.*\n.*\nCould not be sent to: webhook hooks.example.com/,
    );
    expect(lines).toMatchObject([{ to: ['C1'] }, { to: ['a@example.com'], hid: 1 }]);
  });

  test('a report to the fallback names whom it could not be sent to as people know them', async () => {
    const names = new Map([[SLACK.id, '#alerts']]);
    const { mutes, pass, time, sweep, said } = open({ fallback: [MAIL], closed: [SLACK], names });
    await mutes.add(mute());
    await pass(makeAlert(1), [SLACK]);
    time.now = T0 + 2 * HOUR;
    await sweep();
    expect(Object.fromEntries(said())[MAIL.label]?.[0]).toContain('Could not be sent to: Slack channel #alerts (C1).');
  });

  test('it is reported once, by however many daemons, at once or one after the other', async () => {
    const first = open({});
    await first.mutes.add(mute());
    await first.pass(makeAlert(1), [SLACK]);
    const others = [open({}, first), open({}, first), open({}, first)];
    const daemons = [first, ...others];
    for (const { time } of daemons) time.now = T0 + 2 * HOUR;
    await Promise.all(daemons.map(({ sweep }) => sweep()));
    for (const { sweep } of daemons) await sweep();
    const jobs = await first.redis.zcard(`${first.prefix}:deliver-slack:prioritized`);
    expect(jobs).toBe(1);
  });

  test('a crash before, between or after loses nothing and reports it once', async () => {
    const { mutes, ledger, pass, time, sweep, hooks, queued } = open({});
    await mutes.add(mute());
    await pass(makeAlert(1), [SLACK]);
    time.now = T0 + 2 * HOUR;
    hooks.enqueue = async () => {
      throw new Error('Redis is away');
    };
    await expect(sweep()).rejects.toThrow('Redis is away');
    // Closed, though not reported: what comes now is sent.
    expect(await pass(makeAlert(2), [SLACK])).toEqual([SLACK]);
    hooks.enqueue = async () => {};
    const told = mutes.reported;
    mutes.reported = async () => {
      throw new Error('killed');
    };
    await expect(sweep()).rejects.toThrow('killed');
    mutes.reported = told;
    // What was queued has been delivered meanwhile.
    const [
      {
        destination,
        alerts: [announcement],
      },
    ] = queued as [Parcel & { alerts: [Alert] }];
    const attempt = { at: iso(time.now), outcome: 'delivered', durationMs: 1 } as const;
    await ledger.recordAttempt(destination, [announcement], { state: 'delivered', attempt });
    await sweep();
    expect(queued).toHaveLength(1);
    expect((await mutes.list())[0]?.reportedAt).toBe(iso(time.now));
    expect(await mutes.hidden('mute-1')).toMatchObject({ destinations: [] });
    expect(await mutes.hiddenFrom('mute-1', SLACK)).toBeUndefined();
  });

  test('one whose end keeps failing stops no other', async () => {
    const { mutes, pass, time, sweep, hooks, said } = open({});
    const names = ['mute-1', 'mute-2', 'mute-3'];
    for (const id of names) await mutes.add(mute({ id, protocols: [id], until: iso(T0 + HOUR) }));
    for (const [index, id] of names.entries()) await pass(makeAlert(index, { protocol: id }), [SLACK]);
    time.now = T0 + 2 * HOUR;
    let tries = 0;
    hooks.enqueue = async () => {
      tries += 1;
      if (tries === 1) throw new Error('no text');
    };
    await expect(sweep()).rejects.toThrow(/^mute-\d: no text$/);
    expect(said()).toHaveLength(2);
    expect((await mutes.list()).filter(({ reportedAt }) => reportedAt === undefined)).toHaveLength(1);
    await sweep();
    expect(said()).toHaveLength(3);
  });

  test('it is remembered for a week', async () => {
    const { mutes, time, sweep } = open({});
    await mutes.add(mute());
    time.now = T0 + 2 * HOUR;
    await sweep();
    time.now += 7 * 24 * HOUR;
    await sweep();
    expect(await mutes.list()).toHaveLength(1);
    time.now += 1;
    await sweep();
    expect(await mutes.list()).toEqual([]);
  });
});

describe('a window', () => {
  test('is not closed before it opens, by a daemon whose clock is behind', async () => {
    const ahead = open({ windows: [nightly({ from: 12 * 60 })] });
    const behind = open({ windows: [nightly({ from: 12 * 60 })] }, ahead);
    behind.time.now = T0 - 30_000;
    expect(await ahead.pass(makeAlert(1), [SLACK])).toEqual([]);
    await behind.sweep();
    expect(await behind.activeMutes.states()).toMatchObject({ active: [], over: [], past: [] });
    expect(await ahead.pass(makeAlert(2), [SLACK])).toEqual([]);
    behind.time.now = T0;
    expect(await behind.pass(makeAlert(3), [SLACK])).toEqual([]);
    behind.time.now = T0 + HOUR;
    await behind.sweep();
    expect(behind.said()).toMatchObject([['C1', [expect.stringContaining('3 alerts were not sent')]]]);
  });

  test('mutes while it is open, and its end is reported like any other', async () => {
    const { mutes, pass, time, sweep, said } = open({ windows: [nightly()] });
    expect(await pass(makeAlert(1), [SLACK])).toEqual([]);
    expect(await mutes.list()).toMatchObject([{ id: expect.stringMatching(/^window-/), hid: 1 }]);
    time.now = T0 + HOUR;
    expect(await pass(makeAlert(2), [SLACK])).toEqual([SLACK]);
    await sweep();
    expect(said()[0]?.[1][0]).toMatch(
      /1 alert was not sent.*\n.*, 2026-11-20 11:00:00 to 13:00.*\nReason: load test\n/,
    );
  });

  test('may be ended by hand, and stays so until its next day', async () => {
    const { activeMutes, mutes, pass, time, sweep } = open({ windows: [nightly({ days: ['fri', 'sat'] })] });
    const [window] = (await activeMutes.refresh()).active;
    await mutes.end(window?.id ?? '', T0);
    await sweep();
    expect(await pass(makeAlert(1), [SLACK])).toEqual([SLACK]);
    time.now = T0 + 24 * HOUR;
    expect(await pass(makeAlert(2), [SLACK])).toEqual([]);
  });

  test('that left the config ends, and what it hid is reported', async () => {
    const before = open({ windows: [nightly()] });
    await before.pass(makeAlert(1), [SLACK]);
    const { mutes, pass, sweep, said } = open({}, before);
    expect(await pass(makeAlert(2), [SLACK])).toEqual([SLACK]);
    await sweep();
    expect(said()).toHaveLength(1);
    expect((await mutes.list())[0]).toMatchObject({ closedAt: iso(T0) });
    expect(said()[0]?.[1][0]).toContain('11:00:00 to 12:00:00 UTC');
    // A daemon that still has it does not mute by it any more.
    expect(await before.pass(makeAlert(3), [SLACK])).toEqual([SLACK]);
  });

  test('does not mute what has a detector of the floor', async () => {
    const { pass } = open({ windows: [nightly()], never: ['flash*'] });
    expect(await pass(makeAlert(1), [SLACK])).toEqual([SLACK]);
  });
});
