/** bull-board of a whole daemon: behind the page's door, only to be read, with rights that the documented user has. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { CHANNEL_KINDS } from '../../src/alert.ts';
import { chromiumPath, startChromium } from '../support/chromium.ts';
import { HOSTILE_TEXTS } from '../support/hostile.ts';
import { ownRedis } from '../support/redis-server.ts';
import { documentedUser, refusals } from '../support/redis-user.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

const TOKEN = 'the-token-of-this-scenario';

interface Listed {
  name: string;
  readOnlyMode: boolean;
  jobs: { id: string; name: string }[];
}

const signIn = async (url: string): Promise<string> => {
  const answer = await fetch(`${url}/sign-in`, {
    ...{ method: 'POST', redirect: 'manual', headers: { origin: url } },
    body: new URLSearchParams({ token: TOKEN }),
  });
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
};

/** In a browser a job is seen, its text runs nothing, and the policy forbids nothing that the page needs. */
const look = async (chromium: string, url: string, path: string): Promise<void> => {
  const { tab, close } = await startChromium(chromium);
  onTestFinished(close);
  await tab.open(`${url}/sign-in`);
  await tab.evaluate(
    `document.querySelector('[name=token]').value = '${TOKEN}'; document.querySelector('.note form').submit()`,
  );
  await until(
    'it is signed in',
    async () => (await tab.evaluate('document.querySelector("[href=\'/queues\']") !== null')) === true,
  );
  await tab.open(`${url}/queues${path}`);
  await until('the job is seen', async () => String(await tab.evaluate('document.body.innerText')).includes('jobData'));
  expect(await tab.evaluate('document.querySelectorAll("#root script, #root img[src=x]").length')).toBe(0);
  const complaints = tab.complaints().filter((one) => !one.includes('was preloaded using link preload'));
  expect(complaints).toEqual([]);
};

test('is not there unless the config says so', async () => {
  const world = await startWorld({ names: ['Vault'], kinds: ['slack'], config: { ops: { token: TOKEN } } });
  const { url } = await world.start();
  const headers = { cookie: await signIn(url) };
  expect((await fetch(`${url}/queues`, { headers })).status).toBe(404);
  expect(await (await fetch(url, { headers })).text()).not.toContain('href="/queues"');
});

test('shows whoever is signed in what waits, as text, and changes nothing', async () => {
  const server = await ownRedis('--appendonly', 'yes');
  onTestFinished(() => server.remove());
  const redis = new Redis(server.port);
  onTestFinished(() => redis.disconnect());
  const world = await startWorld({
    redisUrl: `redis://tocsin:secret@127.0.0.1:${server.port}`,
    kinds: ['slack', 'webhook'],
    config: { ops: { token: TOKEN, queues: true } },
  });
  await redis.call('ACL', 'SETUSER', ...documentedUser(world.prefix, 'secret'));
  world.sandbox.receivers.webhook.script.always({ kind: 'answer', status: 503 });
  const daemon = await world.start();
  await daemon.watching();
  world.notification('Vault', HOSTILE_TEXTS.join('\n'));
  await until('it waits', async () =>
    (await daemon.status()).queues.some((one) => one.name === 'deliver-webhook' && one.delayed > 0),
  );
  const cookie = await signIn(daemon.url);
  const ask = (path: string, method = 'GET', headers: Record<string, string> = { cookie }): Promise<Response> =>
    fetch(`${daemon.url}${path}`, { method, headers: { origin: daemon.url, ...headers } });

  for (const path of ['', '/', '/api/queues', '/static/js/x.js', '/queue/deliver-webhook']) {
    const refused = await ask(`/queues${path}`, 'GET', {});
    expect([path, refused.status]).toEqual([path, 403]);
    expect(await refused.text()).toContain('Sign in first.');
  }
  expect(await (await ask('/')).text()).toContain('href="/queues"');

  const page = await ask('/queues');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'; ");
  const [, script = ''] = /src="(static\/js\/main[^"]+)"/.exec(await page.text()) ?? [];
  const loaded = await ask(`/queues/${script}`);
  expect([loaded.status, loaded.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
  for (const path of ['/static/../index.ejs', '/static/..%2findex.ejs', '/nothing', '/api/nothing']) {
    expect((await ask(`/queues${path}`)).status).toBe(404);
  }

  const answer = await ask('/queues/api/queues');
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  /** Between two tries it is in another state. */
  const list = async (): Promise<Listed[]> => {
    const answered = await ask('/queues/api/queues?activeQueue=deliver-webhook&status=latest&jobsPerPage=300');
    return ((await answered.json()) as { queues: Listed[] }).queues;
  };
  const parcels = async () => (await list()).flatMap(({ jobs }) => jobs.filter(({ name }) => name === 'parcel'));
  await until('it is listed', async () => (await parcels()).length > 0);
  const queues = await list();
  expect(queues.map(({ name }) => name)).toEqual(CHANNEL_KINDS.map((kind) => `deliver-${kind}`));
  expect(queues.every(({ readOnlyMode }) => readOnlyMode)).toBe(true);
  const [{ id = '' } = {}] = await parcels();
  expect(JSON.stringify(await parcels())).toContain('<script>alert(1)</script>');
  expect(JSON.stringify(await parcels())).not.toMatch(/"address"|http:\/\/127/);
  const path = `/queues/api/queues/deliver-webhook/${id}`;
  expect(await (await ask(path)).json()).toMatchObject({ job: { id }, status: expect.any(String) });
  for (const [method, changing] of [
    ['PUT', `${path}/clean`],
    ['PUT', `${path}/promote`],
    ['PUT', '/queues/api/queues/pause'],
    ['POST', '/queues/api/queues/deliver-webhook/add'],
    ['PATCH', `${path}/update-data`],
    ['DELETE', path],
  ] as const) {
    expect([changing, (await ask(changing, method)).status]).toEqual([changing, 405]);
    expect((await ask(changing, method, {})).status).toBe(403);
  }
  expect((await ask(path)).status).toBe(200);
  expect(await refusals(redis)).toEqual([]);
  if (chromiumPath !== undefined) await look(chromiumPath, daemon.url, `/queue/deliver-webhook/${id}`);
});
