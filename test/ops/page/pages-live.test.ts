/** Events for open pages: over real HTTP, for a bounded number of viewers, and none once it is stopped. */
import { afterEach, expect, test } from 'vitest';
import { createHealth } from '../../../src/ops/health.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { createPages } from '../../../src/ops/page/pages.ts';
import { createOpsServer } from '../../../src/ops/server.ts';
import { until } from '../../support/until.ts';
import { REPORT } from '../report.ts';

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const open = async () => {
  let asked = 0;
  const status = async () => {
    asked += 1;
    return REPORT;
  };
  const shared = {
    status,
    health: createHealth({ now: Date.now }),
    own: () => [],
    log: { warn: () => {} },
    now: Date.now,
  };
  const pages = createPages({ ...shared, live: { everyMs: 10, mostViewers: 2 } });
  const metrics = createMetrics({ version: '1' });
  const server = createOpsServer({ ...shared, listen: '127.0.0.1:0', metrics, pages });
  const { url } = await server.start();
  ends.push(server.stop);
  const view = async (init: RequestInit = {}) => {
    const ended = new AbortController();
    ends.push(() => ended.abort());
    const response = await fetch(`${url}/events`, { ...init, signal: ended.signal });
    let text = '';
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => {});
    return { response, reading, end: () => ended.abort(), ticks: () => text.match(/^data: \d+$/gm)?.length ?? 0 };
  };
  return { url, pages, view, asked: () => asked };
};

test('tick for everybody who looks, and make nothing by themselves', async () => {
  const { view, asked } = await open();
  const [one, other] = [await view(), await view()];
  expect(one.response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  await until('both are told several times', async () => Math.min(one.ticks(), other.ticks()) > 2);
  expect(asked()).toBe(0);
});

test('have places for some; who comes later is told, until one has left', async () => {
  const { view } = await open();
  const one = await view();
  await view();
  expect((await view()).response.status).toBe(503);
  one.end();
  await until('a place is free', async () => (await view()).response.status === 200);
});

test('are for our own pages, and only read', async () => {
  const { view } = await open();
  expect((await view({ headers: { 'sec-fetch-site': 'cross-site' } })).response.status).toBe(403);
  expect((await view({ method: 'POST' })).response.status).toBe(405);
});

test('end when they are stopped', async () => {
  const { view, pages } = await open();
  const one = await view();
  pages.stop();
  await one.reading;
  expect((await view()).response.status).toBe(503);
});
