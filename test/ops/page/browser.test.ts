/**
 * The page in a browser: it renews itself and nothing of it is forbidden, and everybody can read it, on a phone and in the
 * dark. Skipped where no Chromium is in `PATH`; `page.test.ts` has what needs none.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { afterAll, describe, expect, test } from 'vitest';
import { createHealth } from '../../../src/ops/health.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { createPages } from '../../../src/ops/page/pages.ts';
import { createOpsServer } from '../../../src/ops/server.ts';
import { UNREADABLE, UNREADABLE_COLORS } from '../../support/axe.ts';
import { type Browser, chromiumPath, startChromium } from '../../support/chromium.ts';
import { until } from '../../support/until.ts';
import { knownOf, MUTE, REPORT, remarkOf, WITH_BROKEN } from '../report.ts';
import { DETAILS, TRACED, TX } from './details.ts';
import { endedIn } from './ended.ts';

const ends: (() => Promise<unknown>)[] = [];

afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const serve = async (first: { report?: typeof REPORT; details?: typeof DETAILS } = {}) => {
  let { report = REPORT, details = DETAILS } = first;
  const shared = {
    status: async () => ({ ...report, now: new Date().toISOString() }),
    health: createHealth({ now: Date.now }),
    own: () => [],
    log: { warn: () => {} },
    now: Date.now,
  };
  const source = { details: async () => details, trace: async () => [TRACED] };
  const pages = createPages({
    ...shared,
    source,
    token: 'a-token-of-the-team',
    ended: endedIn(),
    actions: {
      known: async () => ({
        ...{
          question: 'Mark this remark as known?',
          text: LONG,
          label: 'Mark as known',
          run: async () => ({ text: LONG }),
        },
        fields: [{ name: 'reason', label: 'Why it may stay so', longest: 300 }],
      }),
    },
    live: { everyMs: 100 },
  });
  const metrics = createMetrics({ version: '1' });
  const server = createOpsServer({ ...shared, listen: '127.0.0.1:0', metrics, pages });
  const { url } = await server.start();
  ends.push(server.stop);
  const change = (to: { report?: typeof report; details?: typeof details }): void => {
    report = to.report ?? report;
    details = to.details ?? details;
  };
  return { url, change };
};

let started: Promise<Browser> | undefined;
const browser = async (): Promise<Browser> => {
  started ??= startChromium(chromiumPath ?? '');
  const opened = await started;
  if (!ends.includes(opened.close)) ends.push(opened.close);
  return opened;
};

const signIn = async (url: string): Promise<void> => {
  const { tab } = await browser();
  await tab.open(`${url}/sign-in`);
  // It has it with the first frame that is drawn.
  await until('the field has the focus', async () => (await tab.evaluate('document.activeElement.name')) === 'token');
  await tab.evaluate(`document.querySelector('input[name=token]').value = 'a-token-of-the-team'`);
  await tab.evaluate(`document.querySelector('form[method=post]').submit()`);
  await until('the overview is shown', async () => (await tab.evaluate('location.pathname')) === '/');
  await until(
    'it has buttons',
    async () => (await tab.evaluate(`document.body?.innerText.includes('Sign out')`)) === true,
  );
};

const BROKEN = {
  ...REPORT,
  ...WITH_BROKEN,
  dead: 1,
  mutes: [MUTE],
  remarks: [remarkOf('slack C1 takes no alerts'), remarkOf('Vault has no channels')],
};

const LONG = 'AVeryLongNameThatNobodyBreaks'.repeat(3);

/** What sticks out. */
const WIDEST = `[...document.querySelectorAll('main *')].filter((each) => each.getBoundingClientRect().right > innerWidth).slice(0, 3).map((each) => each.outerHTML.slice(0, 200)).join(' | ')`;

const CROWDED = {
  ...DETAILS,
  alerts: DETAILS.alerts.map((alert) => ({
    ...{ ...alert, protocol: LONG },
    deliveries: alert.deliveries.map((one) => ({ ...one, to: LONG, error: LONG })),
  })),
  destinationsOf: new Map([['Lending Pool', [LONG, LONG]]]),
  approvals: [
    {
      id: 'slack-1',
      kind: 'slack',
      label: LONG,
      state: 'held' as const,
      protocols: [LONG],
      waiting: 3,
      since: REPORT.now,
    },
  ],
  isGateOn: true,
  dead: [
    { id: 'msg_1', protocol: LONG, to: LONG, reason: 'gone', message: LONG, attempts: 2, at: REPORT.now, txHash: TX },
  ],
  actions: [{ at: REPORT.now, text: LONG }],
  config: [{ key: LONG, value: LONG }],
};

const GREEN = {
  ...REPORT,
  known: [knownOf('“Vault”: it has no channels'), knownOf(LONG, LONG), knownOf('“Pool”: a contact is no address')],
};

const MANY = {
  report: {
    ...REPORT,
    protocols: Array.from({ length: 30 }, (_, n) => ({
      ...(REPORT.protocols[0] ?? expect.unreachable()),
      name: `P${n}`,
    })),
    destinations: Array.from({ length: 30 }, (_, n) => ({
      ...(REPORT.destinations[0] ?? expect.unreachable()),
      id: `s-${n}`,
    })),
    remarks: Array.from({ length: 30 }, (_, n) => remarkOf(`“Pool ${n}”: a contact is no address`)),
  },
  details: {
    ...DETAILS,
    alerts: Array.from({ length: 50 }, () => ({
      ...{ ...(DETAILS.alerts[0] ?? expect.unreachable()), covers: 1, acknowledged: 'Nobody has acknowledged yet' },
    })),
  },
};

const STATES = [
  { report: BROKEN, details: CROWDED },
  { report: GREEN, details: DETAILS },
  { report: { ...REPORT, remarks: [remarkOf('Vault has no channels')] }, details: DETAILS },
  MANY,
];

describe.skipIf(chromiumPath === undefined)('in a browser (skipped: no Chromium in PATH)', () => {
  test('the page renews itself, and keeps what is folded out', async () => {
    const { tab } = await browser();
    const { url, change } = await serve();
    await tab.open(url);
    expect(await tab.evaluate('document.title')).toBe('Tocsin: All is well');
    await tab.evaluate(`document.getElementById('queues').open = true`);
    change({ report: BROKEN });
    await until(
      'the tab tells it',
      async () => (await tab.evaluate('document.title')) === '(2) Tocsin: 2 things need a look',
    );
    expect(await tab.evaluate(`document.querySelector('h1').textContent.trim()`)).toBe('2 things need a look');
    expect(await tab.evaluate(`document.getElementById('queues').open`)).toBe(true);
    expect(await tab.evaluate(`document.getElementById('live').textContent`)).toBe('Updated by itself.');
    expect(tab.complaints()).toEqual([]);
  });

  test('whoever knows the token signs in by the form, and sees the buttons', async () => {
    const { tab } = await browser();
    const { url, change } = await serve();
    change({ report: BROKEN });
    await signIn(url);
    expect(tab.complaints()).toEqual([]);
  });

  test('everybody can read it: wide and on a phone, in the light and in the dark, in every state', async () => {
    const { tab } = await browser();
    const { url } = await serve();
    await tab.ignorePolicy();
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const found: unknown[] = [];
    const look = async (path: string, open: () => Promise<unknown>): Promise<void> => {
      for (const [width, scheme, unreadable] of [
        [1200, 'light', UNREADABLE],
        [390, 'dark', UNREADABLE],
        [390, 'light', UNREADABLE_COLORS],
        [1200, 'dark', UNREADABLE_COLORS],
      ] as const) {
        await tab.look(width, scheme);
        await open();
        await tab.evaluate(`for (const each of document.querySelectorAll('details')) each.open = true`);
        if ((await tab.evaluate('document.documentElement.scrollWidth > innerWidth')) === true)
          found.push(`${path} is wider than ${width}`, await tab.evaluate(WIDEST));
        await tab.evaluate(axe);
        found.push(...((await tab.evaluate(unreadable)) as unknown[]));
      }
    };
    for (const path of [`/?tx=${TX}`, '/sign-in']) await look(path, () => tab.open(`${url}${path}`));
    let last = '';
    for (const state of STATES) {
      last = (await serve(state)).url;
      await signIn(last);
      await look('/', () => tab.open(last));
    }
    await look('/actions/known', async () => {
      await tab.open(last);
      await tab.evaluate(`document.querySelector('form[action="/actions/known"]').submit()`);
      await until(
        'it asks',
        async () => (await tab.evaluate(`document.querySelector('input[name=reason]') !== null`)) === true,
      );
    });
    expect(found).toEqual([]);
  });

  test('is short on a phone, however much there is', async () => {
    const { tab } = await browser();
    const { url } = await serve(MANY);
    await tab.look(390, 'light');
    await tab.open(url);
    expect(await tab.evaluate('document.documentElement.scrollHeight')).toBeLessThan(4000);
    expect(await tab.evaluate(`document.querySelectorAll('.alerts tr').length`)).toBeGreaterThan(50);
  });
});
