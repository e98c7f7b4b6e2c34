/**
 * Names, labels and messages from outside that are markup and scripts, on every page that a browser may show: the ops
 * server's, those of `tocsin preview`, and mails. With the policy off, too, nothing runs, and no element is added. Skipped where
 * no Chromium is in `PATH`; `/queues` is looked at in `test/scenario/queues-page.test.ts`.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Alert, CHANNEL_KINDS, type ChannelKind } from '../../../src/alert.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { kindFacts } from '../../../src/channels/registry.ts';
import type { Condition } from '../../../src/condition.ts';
import { UsageError } from '../../../src/errors.ts';
import { announcementAlert } from '../../../src/features/announcements/announce.ts';
import { createHealth } from '../../../src/ops/health.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { createPages } from '../../../src/ops/page/pages.ts';
import { createOpsServer } from '../../../src/ops/server.ts';
import { previewPage } from '../../../src/sandbox/screens/page.ts';
import { destinationOf, inspectionAlert, notificationAlert } from '../../support/alerts.ts';
import { casesOf } from '../../support/attack-cases.ts';
import { type Browser, chromiumPath, startChromium } from '../../support/chromium.ts';
import { until } from '../../support/until.ts';
import { filledWith } from '../report.ts';
import { detailsWith, tracedWith } from './details.ts';
import { endedIn } from './ended.ts';

const TOKEN = 'a-token-of-the-team';
const SENT_AT = '2026-11-20T10:07:55.000Z';

/** Each would run, load, send or lead elsewhere where it is not escaped for its place. */
const ATTACKS = [
  '"><img src=x onerror=owned=1><script>owned=2</script>',
  "' autofocus onfocus=owned=3 x='--><script>owned=4</script><!-- ]]>",
  '</title></style></pre></script><svg onload=owned=5><base href=//evil.example>',
  'javascript:owned=6//https://etherscan.io/ &lt;img src=x onerror=owned=7&gt;',
  '<iframe srcdoc="<script>parent.owned=8</script>"><meta http-equiv=refresh content="0;url=//evil.example">',
];
const HARMLESS = 'a name that somebody has chosen';

/** What the page is made of, without its texts and the classes that its script gives; what of it is no text; what it leads to; whether something of it ran. */
const LOOK = `(() => {
  const all = [...document.querySelectorAll('*')];
  const named = all.flatMap((one) => [...one.attributes].map(({ name }) => name).filter((name) => /^on|^(autofocus|srcdoc|formaction)$/.test(name)));
  const live = document.querySelectorAll('script, form, input, button, img, svg, base, object, embed, link, meta[http-equiv], iframe:not([sandbox=""])');
  return {
    made: all.map((one) => [one.tagName, ...[...one.attributes].map(({ name }) => name).filter((name) => name !== 'class').sort()].join(' ')).join('\\n'),
    live: [...[...live].map((one) => one.outerHTML), ...named.filter((name) => name !== 'srcdoc' || document.querySelector('iframe[sandbox=""]') === null)],
    leads: all.flatMap((one) => ['href', 'src', 'action', 'formaction'].flatMap((name) => one.getAttribute(name) ?? [])),
    ran: String(globalThis.owned),
  };
})()`;
const OURS =
  /^(?:https:\/\/(?:etherscan|basescan)\.io\/|https:\/\/basescan\.org\/|\/(?!\/)|#|\?|$|data:image\/svg\+xml,)/;

interface Looked {
  made: string;
  live: string[];
  leads: string[];
  ran: string;
}

const LINK = 'a-link';
const DONE_LINK = 'a-link-of-what-is-done';

const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A server that shows the text wherever one can come from outside. `isAway`: Redis gives no answer. */
const serve = async (text: string, isAway = false): Promise<string> => {
  const trouble: Condition = { name: 'destination', of: text, what: text, why: text, since: SENT_AT, at: text };
  const report = { ...filledWith(text), troubles: [{ ...trouble, severity: 'needs somebody' as const, todo: text }] };
  const shared = {
    status: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(report)),
    health: createHealth({ now: Date.now }),
    own: () => [trouble],
    log: { warn: () => {} },
    now: Date.now,
  };
  const plan = { question: text, text, label: text, isAsked: false, run: async () => ({ text, alert: text }) };
  const linked = { count: 1, to: text, lines: [text], acknowledge: async () => text };
  const pages = createPages({
    ...shared,
    source: { details: async () => detailsWith(text), trace: async () => [tracedWith(text)] },
    ...{ token: TOKEN, ended: endedIn(), wrongTokenMs: 1 },
    actions: {
      ask: async () => plan,
      fail: () => Promise.reject(new UsageError(text)),
    },
    links: {
      isSigned: async (link) => link === LINK || link === DONE_LINK,
      find: async (link) => (link === LINK ? linked : { ...linked, done: text }),
      onRefused: () => {},
    },
  });
  const server = createOpsServer({ ...shared, listen: '127.0.0.1:0', metrics: createMetrics({ version: '1' }), pages });
  const { url } = await server.start();
  ends.push(server.stop);
  return url;
};

const PAGES: Record<string, (text: string) => string> = {
  overview: () => '/',
  'names that fit': (text) => `/?q=${encodeURIComponent(text)}`,
  'an alert and its deliveries': (text) => `/?tx=${encodeURIComponent(text)}`,
  'the sign-in': () => '/sign-in',
  'a link of a mail': () => `/acknowledge/${LINK}`,
  'a link of a mail that was used': () => `/acknowledge/${DONE_LINK}`,
  'a link that is none': (text) => `/acknowledge/${encodeURIComponent(text)}`,
  'the status as JSON': () => '/status.json',
  'what is not there': (text) => `/${encodeURIComponent(text)}`,
};

const SIGNED_IN: typeof PAGES = {
  overview: () => '/',
  'an alert and its deliveries': (text) => `/?tx=${encodeURIComponent(text)}`,
  'the form of a mute': () => '/mute',
};

/** By a form in the page, as a person would send it. */
const SUBMIT = (path: string, fields: object): string => `(() => {
  const form = document.createElement('form');
  Object.assign(form, { method: 'post', action: ${JSON.stringify(path)} });
  const csrf = document.querySelector('[name=csrf]')?.value ?? '';
  for (const [name, value] of Object.entries({ csrf, ...${JSON.stringify(fields)} })) {
    const field = document.createElement('input');
    Object.assign(field, { name, value });
    form.append(field);
  }
  document.body.append(form);
  HTMLFormElement.prototype.submit.call(form);
})()`;

const FORMS: Record<string, (text: string) => [path: string, fields: object]> = {
  'a wrong token': (text) => ['/sign-in', { token: text }],
  'a name given to a link': (text) => [`/acknowledge/${LINK}`, { name: text }],
  'a question before a change': (text) => ['/actions/ask', { [text]: text }],
  'what was changed': (text) => ['/actions/ask', { confirm: 'yes', id: text }],
  'what cannot be changed': (text) => ['/actions/fail', { id: text }],
  'no such change': (text) => [`/actions/${encodeURIComponent(text)}`, {}],
};

const alertsWith = (text: string): Alert[][] => {
  const inspection = (n: number): Alert =>
    inspectionAlert({
      ...{ id: `a${n}`, service: text, protocol: text, itemId: text, type: `inspection.${text}`, notice: text },
      item: {
        ...{ _id: `${n}${text}`, txHash: `${n}${text}`, txOrigin: text, invokedMethodName: text, assessment: text },
        ...{ assets: [{ address: text, descriptor: text }], detections: { [text]: { status: text, message: text } } },
      },
    });
  const told = announcementAlert({ about: 'destination.broken', key: '1', message: `${text}\n${text}\n\n${text}` }, 0);
  const stored = notificationAlert(`${text}\n\n${text}`, { protocol: text });
  return [[inspection(0)], [stored], [told], Array.from({ length: 7 }, (_, n) => inspection(n))];
};

/** What `tocsin preview --html` writes of it, and of a mail what its reader opens. */
const previewsOf = async (kind: ChannelKind, text: string): Promise<[name: string, page: string][]> => {
  const { address, load } = kindFacts(kind).preview;
  const compose = await load();
  const context = { format: 'rich' as const, sentAt: SENT_AT, presentation: createPresentation() };
  const settings = {
    annotation: { token: 't', buttons: [], lead: text, note: [{ text }] },
    webhookFormat: 'standard' as const,
  };
  const bodies = alertsWith(text).flatMap((alerts) =>
    compose({ destination: destinationOf(kind, address), alerts }, context, settings),
  );
  const mails = bodies.map((body) => String((body as { html?: string }).html)).join('\n');
  const page = previewPage(kind, bodies, { now: Date.parse(SENT_AT), timeZone: 'UTC' });
  return kind === 'email'
    ? [
        ['the preview of mails', page],
        ['the mails', mails],
      ]
    : [[`the preview of ${kind}`, page]];
};

describe.skipIf(chromiumPath === undefined)('markup and scripts from outside (skipped: no Chromium in PATH)', () => {
  let browser: Browser;
  let folder = '';
  beforeAll(async () => {
    browser = await startChromium(chromiumPath ?? '');
    folder = await mkdtemp(join(tmpdir(), 'tocsin-pages-'));
    ends.push(() => rm(folder, { recursive: true }), browser.close);
    // What the policy would stop has to be text before that.
    await browser.tab.ignorePolicy();
  });

  const look = async (): Promise<Looked> => {
    const { leads, ...looked } = (await browser.tab.evaluate(LOOK)) as Looked;
    return { ...looked, leads: leads.filter((to) => !OURS.test(to)) };
  };
  /** Of each page with a harmless text. */
  const made = new Map<string, string>();
  /** It is made of the same as with a harmless text, and leads nowhere else. */
  const expectText = async (what: string, attack: string, open: (text: string) => Promise<void>): Promise<void> => {
    if (!made.has(what)) {
      await open(HARMLESS);
      made.set(what, (await look()).made);
    }
    await open(attack);
    const { live: _own, ...found } = await look();
    expect({ what, attack, ...found }).toEqual({ what, attack, made: made.get(what), leads: [], ran: 'undefined' });
  };
  const urls = new Map<string, Promise<string>>();
  const urlOf = (text: string): Promise<string> => {
    const url = urls.get(text) ?? serve(text);
    urls.set(text, url);
    return url;
  };
  const expectPages = async (pages: typeof PAGES, who: string): Promise<void> => {
    for (const attack of ATTACKS) {
      for (const [name, pathOf] of Object.entries(pages)) {
        const open = async (text: string) => browser.tab.open(`${await urlOf(text)}${pathOf(text)}`);
        await expectText(`${name}, ${who}`, attack, open);
      }
    }
  };

  test('there are as many cases as is claimed', async () => {
    const previews = await Promise.all(CHANNEL_KINDS.map((kind) => previewsOf(kind, HARMLESS)));
    const places = [PAGES, SIGNED_IN, FORMS].flatMap((some) => Object.keys(some)).length + 1 + previews.flat().length;
    expect(places * ATTACKS.length).toBeGreaterThanOrEqual(casesOf(import.meta.filename));
  });

  test('run nothing on a page that everybody may read', () => expectPages(PAGES, 'read by anybody'), 60_000);

  test('run nothing on a page of somebody who is signed in, and in no answer to a form', async () => {
    const { tab } = browser;
    await tab.open(`${await urlOf('x')}/sign-in`);
    await tab.evaluate(SUBMIT('/sign-in', { token: TOKEN }));
    await until('it is signed in', async () => (await tab.evaluate('location.pathname')) === '/');
    await expectPages(SIGNED_IN, 'signed in');
    for (const attack of ATTACKS) {
      for (const [name, formOf] of Object.entries(FORMS)) {
        await expectText(name, attack, async (text) => {
          await tab.open(`${await urlOf(text)}/mute`);
          await tab.evaluate(SUBMIT(...formOf(text)));
          const isThere = `location.pathname !== '/mute' && document.readyState === 'complete'`;
          await until('it has an answer', async () => (await tab.evaluate(isThere)) === true);
        });
      }
    }
  });

  test('run nothing while Redis gives no answer', async () => {
    for (const attack of ATTACKS) {
      await expectText('the page without Redis', attack, async (text) => browser.tab.open(await serve(text, true)));
    }
  });

  test.each(CHANNEL_KINDS)(
    'run nothing in a preview of %s, and in the mail itself',
    async (kind) => {
      for (const attack of ATTACKS) {
        for (const [what, page] of await previewsOf(kind, attack)) {
          const file = join(folder, 'page.html');
          await writeFile(file, page);
          await browser.tab.open(pathToFileURL(file).href);
          const { made: _made, ...found } = await look();
          expect({ what, attack, ...found }).toEqual({ what, attack, live: [], leads: [], ran: 'undefined' });
        }
      }
    },
    60_000,
  );

  test('nothing of it was asked for anywhere', () => {
    expect(browser.tab.complaints().filter((one) => !/status of (?:40\d|503)/.test(one))).toEqual([]);
  });
});
