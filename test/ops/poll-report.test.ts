import { describe, expect, test } from 'vitest';
import { type ServiceBound, ServiceError } from '../../src/errors.ts';
import type { Item, MalformedItem } from '../../src/item.ts';
import { createConditions } from '../../src/ops/conditions.ts';
import { createFailureLog } from '../../src/ops/failure-log.ts';
import { createHealth } from '../../src/ops/health.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { createPollReport } from '../../src/ops/poll-report.ts';
import { makeItem } from '../support/items.ts';
import { createLines } from './lines.ts';

const STREAM = { service: 'main', source: 'inspections' as const, protocols: ['Lending Pool', 'Vault', 'Bridge'] };
const READ = { outcome: 'read' as const, items: 5, alerts: 0, sweep: false };

const setUp = () => {
  const now = Date.now;
  const { lines, log } = createLines();
  const metrics = createMetrics({ version: 'test' });
  const health = createHealth({ now });
  const failureLog = createFailureLog(createLines().log, now);
  const known = new Set<string>();
  const quarantine = {
    admit: async (_service: string, _source: string, malformed: readonly MalformedItem[]) => {
      const fresh = malformed.filter(({ raw }) => !known.has(JSON.stringify(raw)));
      for (const { raw } of fresh) known.add(JSON.stringify(raw));
      return fresh;
    },
  };
  const read = new Set<string>();
  const firstReads = {
    admit: async (_service: string, _source: string, items: readonly Item[]) => {
      const fresh = items.filter(({ itemId }) => !read.has(itemId));
      for (const { itemId } of fresh) read.add(itemId);
      return fresh;
    },
  };
  const conditions = createConditions({ now });
  const report = createPollReport({
    ...{ quarantine, firstReads, metrics, health, failureLog, conditions, log },
    listedForMs: 60_000,
  });
  return { report, lines, metrics, failureLog, conditions, check: () => health.ready().checks[0] };
};

describe('a page', () => {
  test('counts its items by assessment, each once however often it is read; a word that nobody documented is `other`', async () => {
    const { report, metrics } = setUp();
    const { assessment: _none, ...unjudged } = makeItem(3);
    const items = [makeItem(0), makeItem(1), makeItem(2, { assessment: 'strange' }), unjudged];
    await report.onPage(STREAM, { items, malformed: [] });
    await report.onPage(STREAM, { items, malformed: [] });
    const text = await metrics.text();
    const count = (assessment: string): string =>
      `tocsin_items_total{service="main",source="inspections",assessment="${assessment}"}`;
    expect(text).toContain(`${count('critical')} 2`);
    expect(text).toContain(`${count('other')} 1`);
    expect(text).toContain(`${count('none')} 1`);
  });

  test('counts items of other protocols, and says once whose came', async () => {
    const { report, lines, metrics } = setUp();
    const page = { items: [], malformed: [], foreign: [4, 5].map((n) => makeItem(n, { protocol: 'Bridge' })) };
    await report.onPage({ ...STREAM, protocols: ['Vault'] }, page);
    await report.onPage({ ...STREAM, protocols: ['Vault'] }, page);
    expect(await metrics.text()).toContain('tocsin_items_foreign_total{service="main",source="inspections"} 4');
    expect(lines).toEqual([
      {
        level: 'warn',
        fields: { service: 'main', asked: 'Vault', named: ['Bridge'] },
        message: 'the service answers with inspections of other protocols; they are left out here',
      },
    ]);
  });

  test('counts and logs a malformed item once, however often it is read, and only so much of it', async () => {
    const { report, lines, metrics } = setUp();
    const malformed = [{ problem: 'createdAt is missing', raw: { _id: 'x'.repeat(1000) } }];
    await report.onPage(STREAM, { items: [], malformed });
    await report.onPage(STREAM, { items: [], malformed });
    expect(await metrics.text()).toContain('tocsin_items_malformed_total{service="main",source="inspections"} 1');
    expect(lines).toMatchObject([
      { level: 'error', message: 'malformed item', fields: { problem: 'createdAt is missing' } },
    ]);
    expect(lines[0]?.fields.item).toHaveLength(300);
  });

  test('of the listing counts and logs what cannot be read, likewise', async () => {
    const { report, lines, metrics } = setUp();
    const malformed = [{ problem: 'no descriptor', raw: {} }];
    await report.onListMalformed('main', malformed);
    await report.onListMalformed('main', malformed);
    expect(await metrics.text()).toContain('tocsin_items_malformed_total{service="main",source="protocols"} 1');
    expect(lines).toMatchObject([{ message: 'malformed item', fields: { problem: 'no descriptor' } }]);
  });
});

describe('a bound', () => {
  const countOf = async (metrics: { text(): Promise<string> }, bound: string) =>
    (await metrics.text()).match(
      new RegExp(`^tocsin_service_bounds_reached_total{service="main",bound="${bound}"} (\\d+)$`, 'm'),
    )?.[1];

  test('is counted by its name, wherever it cut something off', async () => {
    const { report, metrics } = setUp();
    const reached = (bound: ServiceBound) => new ServiceError('unreadable', 'too many', { bound });
    report.onPollFailed(STREAM, reached('list-pages'), false);
    report.onPollFailed(STREAM, new Error('429'), false);
    report.onListUnfinished('main', { added: [], removed: [], missing: [] }, reached('protocols'));
    report.onListFailed('main', reached('answer-values'));
    report.onAssetsFailed('main', reached('listing-size'));
    await report.onListMalformed('main', [{ problem: '1001 contacts', raw: {}, bound: 'contacts' }]);
    for (const bound of ['list-pages', 'protocols', 'answer-values', 'listing-size', 'contacts'])
      expect(await countOf(metrics, bound), bound).toBe('1');
  });

  test('on malformed items of one page: the first are logged one by one, of the others how many', async () => {
    const { report, lines, metrics } = setUp();
    const malformed = Array.from({ length: 100_000 }, (_, n) => ({ problem: 'no _id', raw: { n } }));
    await report.onPage(STREAM, { items: [], malformed });
    expect(lines).toHaveLength(101);
    expect(lines[0]).toMatchObject({ level: 'error', fields: { more: 99_900, source: 'inspections' } });
    expect(await metrics.text()).toContain('tocsin_items_malformed_total{service="main",source="inspections"} 100');
    expect(await countOf(metrics, 'malformed')).toBe('1');
  });
});

describe('a poll', () => {
  test('that read something proves the service, and is worth an info line only where it found alerts', async () => {
    const { report, lines, metrics, check } = setUp();
    report.onPolled(STREAM, READ, 250);
    report.onPolled(STREAM, { ...READ, alerts: 2 }, 250);
    expect(lines).toMatchObject([
      { level: 'debug', message: 'polled', fields: { subject: 'inspections of Lending Pool and 2 more' } },
      { level: 'info', message: 'found', fields: { alerts: 2 } },
    ]);
    expect(check()).toMatchObject({ name: 'service:main', status: 'ok' });
    const text = await metrics.text();
    expect(text).toContain('tocsin_polls_total{service="main",source="inspections",outcome="read"} 2');
    expect(text).toContain('tocsin_poll_duration_seconds_sum{service="main",source="inspections"} 0.5');
    expect(text).toContain('tocsin_service_up{service="main"} 1');
  });

  test('that asked nothing proves nothing', async () => {
    const { report, lines, metrics, check } = setUp();
    report.onPolled(STREAM, { ...READ, outcome: 'busy' }, 1);
    expect(check()).toBeUndefined();
    expect(lines).toEqual([]);
    const text = await metrics.text();
    expect(text).toContain('outcome="busy"} 1');
    expect(text).not.toMatch(/^tocsin_poll_duration_seconds_count{/m);
  });

  test('that failed is an outage; the service is unhealthy only when it is down', async () => {
    const { report, metrics, failureLog, check } = setUp();
    report.onPollFailed(STREAM, new Error('429'), false);
    expect(check()).toBeUndefined();
    expect(await metrics.text()).toContain('tocsin_service_up{service="main"} 0');
    expect(failureLog.current()).toMatchObject([{ group: 'main', subject: 'inspections of Lending Pool and 2 more' }]);
    report.onPollFailed(STREAM, new Error('no answer'), true);
    expect(check()).toMatchObject({ status: 'failing', detail: 'no answer' });
    report.onPolled(STREAM, READ, 1);
    expect(failureLog.current()).toEqual([]);
    expect(check()).toMatchObject({ status: 'ok' });
  });
});

describe('a failure is over', () => {
  const NOTES = { service: 'main', source: 'notifications' as const, protocols: ['A', 'B', 'C', 'D'] };
  const failing = ({ failureLog }: ReturnType<typeof setUp>): string[] =>
    failureLog.current().map(({ subject }) => subject);

  test('when what it was a part of was read', () => {
    const world = setUp();
    world.report.onPollFailed({ ...NOTES, protocols: ['C'] }, new Error('400'), false);
    world.report.onPollFailed({ ...NOTES, source: 'inspections', protocols: ['C'] }, new Error('500'), false);
    world.report.onPolled({ ...NOTES, protocols: ['A', 'B'] }, READ, 1);
    expect(failing(world)).toEqual(['notifications of C', 'inspections of C']);
    world.report.onPolled(NOTES, READ, 1);
    expect(failing(world)).toEqual(['inspections of C']);
  });

  test('when this daemon does not read it any more', () => {
    const world = setUp();
    world.report.onPollFailed({ ...NOTES, protocols: ['C'] }, new Error('400'), false);
    world.report.onPollFailed(STREAM, new Error('500'), false);
    world.report.onPollFailed({ ...STREAM, service: 'other' }, new Error('500'), false);
    world.report.onListFailed('main', new Error('503'));
    world.report.onAssigned('main', [NOTES]);
    expect(failing(world)).toEqual(['notifications of C', 'inspections of Lending Pool and 2 more', 'protocols']);
    world.report.onAssigned('main', []);
    expect(failing(world)).toEqual(['inspections of Lending Pool and 2 more', 'protocols']);
  });

  test('of a service that answered nothing, when a probe or a poll was answered', () => {
    const world = setUp();
    world.report.onRefused('main', new ServiceError('unauthorized', 'HTTP 401'));
    world.report.onProbeFailed('main', new Error('no answer'));
    expect(failing(world)).toEqual(['the key', 'any answer']);
    world.report.onProbed('main');
    expect(failing(world)).toEqual([]);
    world.report.onProbeFailed('main', new Error('no answer'));
    world.report.onPolled(STREAM, READ, 1);
    expect(failing(world)).toEqual([]);
  });
});

describe('a listing', () => {
  test('logs what changed, some names and how many more', () => {
    const { report, lines } = setUp();
    report.onListed('main', { added: [], removed: [], missing: [] });
    expect(lines).toEqual([]);
    const added = Array.from({ length: 25 }, (_, n) => `P${n}`);
    report.onListed('main', { added, removed: ['Old'], missing: [] });
    expect(lines).toMatchObject([{ message: 'protocols changed', fields: { removed: ['Old'], missing: [] } }]);
    expect(lines[0]?.fields.added).toEqual([...added.slice(0, 20), 'and 5 more']);
  });

  test('that fails makes the service unhealthy until one works', async () => {
    const { report, metrics, failureLog, check } = setUp();
    report.onListFailed('main', new Error('503'));
    expect(check()).toMatchObject({ status: 'failing', detail: '503' });
    expect(failureLog.current()).toMatchObject([{ group: 'main', subject: 'protocols' }]);
    expect(await metrics.text()).toContain('tocsin_service_up{service="main"} 0');
    report.onListed('main', { added: [], removed: [], missing: [] });
    expect(check()).toMatchObject({ status: 'ok' });
    expect(failureLog.current()).toEqual([]);
    expect(await metrics.text()).toContain('tocsin_service_up{service="main"} 1');
  });

  test('that was read in part is said, and leaves readiness to the polls', () => {
    const { report, lines, failureLog, check } = setUp();
    const change = { added: ['Vault'], removed: [], missing: [] };
    report.onListUnfinished('main', change, new ServiceError('unreadable', 'page 2'));
    expect(lines).toMatchObject([{ message: 'protocols changed', fields: { added: ['Vault'] } }]);
    const message = 'listed in part, other protocols stay as they were known: page 2';
    expect(failureLog.current()).toMatchObject([{ group: 'main', subject: 'protocols', message }]);
    expect(check()).toBeUndefined();
    report.onListed('main', { added: [], removed: [], missing: [] });
    expect(failureLog.current()).toEqual([]);
  });

  test('in part is a condition that names what is too large, until it is over', () => {
    const { report, conditions } = setUp();
    const change = { added: [], removed: [], missing: [] };
    const malformed = [
      { name: 'Decoy', problem: 'more than 2000000 values', raw: {}, bound: 'answer-values' as const },
      { name: 'Vault', problem: 'no descriptor', raw: {} },
    ];
    report.onListed('main', { ...change, malformed });
    const what = 'main: its protocols are listed in part';
    expect(conditions.current()).toMatchObject([
      { name: 'listing', of: 'main', what, why: '“Decoy” has more than 2000000 values' },
    ]);
    report.onListUnfinished(
      'main',
      { ...change, unfinished: new ServiceError('unreadable', 'page 2') },
      new ServiceError('unreadable', 'page 2'),
    );
    expect(conditions.current()).toMatchObject([{ name: 'listing', why: 'page 2' }]);
    report.onListed('main', change);
    expect(conditions.current()).toEqual([]);
  });

  test('of assets that fails leaves the service healthy', () => {
    const { report, failureLog, check } = setUp();
    report.onAssetsFailed('main', new Error('too heavy'));
    expect(check()).toBeUndefined();
    expect(failureLog.current()).toMatchObject([{ group: 'context', subject: 'assets at main', message: 'too heavy' }]);
    report.onAssetsListed('main');
    expect(failureLog.current()).toEqual([]);
  });
});

test('a refused key is an error and makes the service unhealthy; the next read ends both', () => {
  const { report, lines, failureLog, check } = setUp();
  report.onRefused('main', new ServiceError('unauthorized', 'HTTP 401'));
  expect(lines).toMatchObject([{ level: 'error', message: expect.stringContaining('the key is refused') }]);
  expect(check()).toMatchObject({ status: 'failing', detail: expect.stringMatching(/the key is refused.*HTTP 401/) });
  expect(failureLog.current()).toMatchObject([{ group: 'main', subject: 'the key' }]);
  report.onPolled(STREAM, READ, 1);
  expect(failureLog.current()).toEqual([]);
});
