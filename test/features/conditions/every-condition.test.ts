/** Every condition of the table through every view: reported, shown, told, ended. */
import { expect, onTestFinished, test } from 'vitest';
import { createStore } from '../../../src/app/store.ts';
import {
  CONDITION_NAMES,
  type Condition,
  type ConditionName,
  conditionText,
  needsSomebody,
  nextStepOf,
  rowOf,
} from '../../../src/condition.ts';
import { createAnnouncer } from '../../../src/features/conditions/announcer.ts';
import { createKnowing } from '../../../src/features/conditions/list.ts';
import { GROUPS } from '../../../src/features/conditions/store.ts';
import { createGauges } from '../../../src/features/status/gauges.ts';
import { createStatus } from '../../../src/features/status/status.ts';
import { reasonAgainst } from '../../../src/features/watchdog/heartbeat.ts';
import { createWatchdogRound } from '../../../src/features/watchdog/watchdog.ts';
import { createConditions } from '../../../src/ops/conditions.ts';
import { createHealth } from '../../../src/ops/health.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { renderPage } from '../../../src/ops/page/page.ts';
import { createLines } from '../../ops/lines.ts';
import { destinationOf } from '../../support/alerts.ts';
import { openTestRedis } from '../../support/redis.ts';

const START = Date.parse('2026-11-24T10:00:00.000Z');
const MAIL = destinationOf('email', 'ops@example.com');
const AFTER_MS = 60_000;
/** No daemon is left to report it: it is known by their silence. */
const OF_SILENCE: readonly ConditionName[] = ['daemon'];

/** Which test sees it told and ended. */
const TOLD_WHERE_FOUND: Partial<Record<ConditionName, string>> = {
  service: 'test/scenario/blindness.test.ts',
  unread: 'test/scenario/blindness.test.ts',
  silent: 'test/features/silence/check.test.ts',
  misfits: 'test/features/misfits/misfits.test.ts',
  destination: 'test/features/fallback/fallback.test.ts',
};

/** A daemon `alpha` that finds things wrong, and what everybody sees of that. */
const setUp = () => {
  const time = { now: START };
  const now = () => time.now;
  const place = openTestRedis();
  const store = createStore({ ...place, onError: () => {}, now });
  onTestFinished(() => store.close());
  const conditions = createConditions({ now });
  const health = createHealth({ now, conditions: conditions.current });
  const self = () => ({
    ...{ id: 'a', host: 'alpha', pid: 1, version: '1', startedAt: new Date(START).toISOString(), ready: true },
    ...{ uptimeMs: 0, checks: [], services: [], conditions: conditions.current() },
  });
  const config = {
    ...{ services: [{ name: 'main' }], alerts: { sources: [] } },
    ...{ channels: { email: {}, slack: {}, telegram: {}, webhook: {} } },
    mutes: { windows: [], never: [], maxLength: 86_400_000 },
  } as never;
  const catalog = { protocols: async () => new Map(), unwatched: async () => [] };
  const review = { review: () => {}, problems: () => [], problemsTogether: () => [], protocolsOf: () => new Map() };
  const shared = { ...store, ...catalog, config, review, daemonReports: { list: async () => [] } };
  const known = createKnowing({ ...shared, self });
  const fromOutside = createKnowing(shared);
  const metrics = createMetrics({ version: '1' });
  const status = createStatus({
    routed: () => [],
    hanging: () => [],
    ...store,
    ...catalog,
    config,
    known,
    now,
  });
  const sent: { about: string; message: string; to: string[] }[] = [];
  const announcer = createAnnouncer({
    ...{ store: store.announced, locks: store.locks, operators: [MAIL], fallback: [], log: createLines().log, now },
    announce: async ({ about, message }, _at, to) => {
      sent.push({ about, message, to: to.map(({ label }) => label) });
      return 'id';
    },
  });
  const look = createWatchdogRound({ announcer, afterMs: AFTER_MS, monotonic: now, now });
  const round = async () => look((await known.all()).conditions, new Set(['alpha']));
  /** Rounds for so long. */
  const pass = async (ms: number): Promise<void> => {
    for (const end = time.now + ms; time.now < end; time.now += 15_000) await round();
    await round();
  };
  const gauges = createGauges({ ...store, config, known, metrics, catalog, review, pollDurations: () => [], now });
  metrics.onScrape(gauges.ask, gauges.show);
  const views = async () => {
    const report = await status();
    const page = renderPage({
      ...{ report, viewer: { canSignIn: false }, now: report.now, details: undefined, filter: undefined },
    });
    return {
      report,
      page,
      metrics: await metrics.text(),
      ready: health.ready(),
      known: (await known.all()).conditions,
    };
  };
  return { time, conditions, known, fromOutside, store, sent, pass, views };
};

/** As each of them is found; `why` is no part of a standing remark. */
const sample = (name: ConditionName): Condition => ({
  ...{ name, of: 'x', what: `something about ${name}`, since: new Date(START).toISOString() },
  ...(rowOf(name).severity === 'note' ? {} : { why: 'because' }),
});

const found = CONDITION_NAMES.filter((name) => !OF_SILENCE.includes(name));

test.each(found)('%s is reported once and shown everywhere, until it is over', async (name) => {
  const { time, conditions, views } = setUp();
  const { of, what, why } = sample(name);
  const row = rowOf(name);
  const isNote = row.severity === 'note';
  conditions.report(name, what, { of, ...(why !== undefined && { why }) });
  time.now += AFTER_MS;
  const { report, page, metrics, ready, known } = await views();
  expect(known).toHaveLength(1);
  const [one] = known;
  if (one === undefined) return expect.unreachable();
  expect(one).toMatchObject({ name, what: row.isOfOneDaemon ? `at alpha: ${what}` : what });
  expect(one.at).toBe(row.isOfOneDaemon ? 'alpha' : undefined);
  expect(needsSomebody(one, time.now)).toBe(!isNote);
  expect(report.troubles.map(({ name: shown, severity, todo }) => ({ shown, severity, todo }))).toEqual(
    isNote ? [] : [{ shown: name, severity: row.severity, todo: nextStepOf(one) }],
  );
  expect(report.problems).toEqual([conditionText(one)]);
  expect(report.needsSomebody).toEqual(isNote ? [] : [conditionText(one)]);
  expect(page).toContain(what);
  if (!isNote) expect(metrics).toContain(`tocsin_trouble{trouble="${name}"} 1`);
  expect(ready.troubles).toMatchObject([{ name, what }]);
  expect(ready.status).toBe(row.stopsReady ? 'not ready' : 'ok');
  const reason = reasonAgainst(known, []);
  expect(reason === undefined).toBe(!row.stopsHeartbeat);
  conditions.over(name, of);
  const after = await views();
  expect(after.known).toEqual([]);
  expect(after.report.problems).toEqual([]);
  expect(after.ready).toEqual({ status: 'ok', checks: [] });
  if (!isNote) expect(after.metrics).toContain(`tocsin_trouble{trouble="${name}"} 0`);
});

test.each(found)('%s is announced to whom its row says, once, and so is its end', async (name) => {
  const { conditions, store, sent, pass, views } = setUp();
  const row = rowOf(name);
  conditions.report(name, `something about ${name}`, { of: 'x' });
  await pass(2 * AFTER_MS);
  const isOwn = row.announced === 'lasting';
  expect(sent.map(({ about, to }) => ({ about, to }))).toEqual(
    isOwn ? [{ about: 'trouble.begun', to: [MAIL.label] }] : [],
  );
  // Each of the others is told where it is found, or nobody is to hear of it.
  expect(name in TOLD_WHERE_FOUND).toBe(row.announced === 'found');
  if (!isOwn) return;
  expect(sent[0]?.message).toContain(row.effect);
  expect(sent[0]?.message).toContain(`To do: ${row.todo}.`);
  expect((await views()).known).toMatchObject([{ name, announcedTo: [MAIL.label] }]);
  conditions.over(name, 'x');
  await pass(2 * AFTER_MS);
  expect(sent.map(({ about }) => about)).toEqual(['trouble.begun', 'trouble.over']);
  expect(await store.announced.list(GROUPS.watchdog)).toEqual([]);
});

test('daemon is what a command sees where none reports', async () => {
  const { fromOutside } = setUp();
  const [one, ...others] = (await fromOutside.all()).conditions;
  expect(one).toMatchObject({ name: OF_SILENCE[0], what: 'no daemon runs, and none has reported lately' });
  expect(others).toEqual([]);
});

test('while Redis is silent, what this daemon knows is all that is known', async () => {
  const { conditions, known } = setUp();
  conditions.report('disk', 'the disk is nearly full');
  conditions.report('redis', 'Redis does not answer');
  expect((await known.conditions()).map(({ what }) => what)).toEqual([
    'Redis does not answer',
    'at alpha: the disk is nearly full',
  ]);
});
