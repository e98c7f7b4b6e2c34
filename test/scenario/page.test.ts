/** The page of a whole daemon: what it shows of alerts, and what an operator does there, as by the commands. */
import { expect, test } from 'vitest';
import { openConsole } from '../cli/console.ts';
import { until } from '../support/until.ts';
import { addChannel } from './rule-plays.ts';
import { startWorld } from './world.ts';

const TOKEN = 'the-token-of-this-scenario';

/** A browser that is signed in: it asks, presses the button of a form, and says yes to the question that follows. */
const signIn = async (url: string) => {
  const post = async (path: string, fields: Record<string, string>, cookie = '') =>
    fetch(`${url}${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: url, cookie, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    });
  const cookie = (await post('/sign-in', { token: TOKEN })).headers.get('set-cookie')?.split(';')[0] ?? '';
  const page = async (path = '/'): Promise<string> => (await fetch(`${url}${path}`, { headers: { cookie } })).text();
  const csrf = /name="csrf" value="([^"]+)"/.exec(await page())?.[1] ?? expect.unreachable();
  const press = async (action: string, fields: Record<string, string>) => {
    const answer = await post(`/actions/${action}`, { csrf, confirm: 'yes', ...fields }, cookie);
    return { status: answer.status, text: await answer.text() };
  };
  return { page, press };
};

const GATE = { gate: true, allow: ['slack:C0SANDBOX*', 'webhook:http://127.0.0.1:*/*'] };

test('shows what became of alerts, and lets an operator retry, drop, mute, test and approve', async () => {
  const config = { ops: { token: TOKEN }, destinations: GATE };
  const world = await startWorld({ names: ['Vault'], kinds: ['slack', 'webhook'], config });
  const { webhook, slack } = world.sandbox.receivers;
  const repair = webhook.script.always({ kind: 'answer', status: 400 });
  const daemon = await world.start();
  await daemon.watching();
  const [inspection, other] = world.critical('Vault', 2);
  await until('both deliveries are dead', async () => (await daemon.status()).dead === 2);
  const { page, press } = await signIn(daemon.url);

  const shown = await page();
  expect(shown).toContain('<h2>Dead deliveries <small>2</small>');
  const txHash = inspection?.txHash ?? expect.unreachable();
  expect(shown).toContain(txHash.slice(0, 8));
  expect(await page(`/?tx=${txHash}`)).toContain('failed for good');
  expect(await page(`/?q=${encodeURIComponent(`${txHash.slice(0, 8)}…${txHash.slice(-6)}`)}`)).toContain(
    'failed for good',
  );
  const ids = [...new Set(Array.from(shown.matchAll(/name="id" value="(msg_[0-9a-f]+)"/g), ([, id = '']) => id))];
  expect(ids).toHaveLength(2);
  const [first = '', second = ''] = ids;

  repair();
  expect(await press('retry', { id: first })).toMatchObject({
    status: 200,
    text: expect.stringContaining('1 delivery is sent again'),
  });
  await until('it has arrived', () => webhook.received().length > 0);
  expect(await press('drop', { id: second })).toMatchObject({ status: 200, text: expect.stringContaining('dropped') });
  expect((await press('drop', { id: second })).status).toBe(400);
  expect((await daemon.status()).dead).toBe(0);

  expect((await press('mute', { protocol: 'Vault', for: '1h', reason: '' })).status).toBe(400);
  const muted = await press('mute', { protocol: 'Vault', for: '1h', reason: 'an upgrade', author: 'Ann' });
  expect(muted).toMatchObject({ status: 200, text: expect.stringContaining('protocol Vault') });
  const [mute] = (await daemon.status()).mutes;
  expect(mute).toMatchObject({ protocols: ['Vault'], reason: 'an upgrade', author: 'Ann' });
  expect((await press('mute-end', { id: mute?.id ?? '' })).status).toBe(200);
  expect((await daemon.status()).mutes).toEqual([]);

  const [target] = (await daemon.status()).destinations.filter(({ kind }) => kind === 'slack');
  expect((await press('test', { id: target?.id ?? '' })).status).toBe(200);
  await until('the test has arrived', () => slack.received().some((one) => JSON.stringify(one).includes('Sample')));
  expect(await page()).not.toContain('Waiting for approval');
  addChannel(world, 'Vault', { name: 'slack', contacts: ['C0NEWONE01'] });
  const console = await openConsole(world);
  const isKnown = async () =>
    (await console.json<{ label: string }[]>('destinations', 'list')).some(({ label }) => label === 'C0NEWONE01');
  await until('the new one is known', isKnown);
  const [found] = world.critical('Vault');
  const held = await until('its alert is held', async () => (await daemon.status()).held[0]);
  const waiting = await until('the page shows it', async () => {
    const shown = await page();
    return shown.includes('Waiting for approval <small>1</small>') ? shown : undefined;
  });
  expect(waiting).toMatch(new RegExp(`/actions/approve[^]*name="id" value="${held.id}"`));
  const atNew = () => slack.received().filter(({ destination }) => destination === 'C0NEWONE01');
  expect(atNew()).toEqual([]);
  expect(await press('approve', { id: held.id })).toMatchObject({
    status: 200,
    text: expect.stringContaining('C0NEWONE01 is approved; 1 held alert is sent.'),
  });
  await until('it has arrived', () => atNew().some(({ text }) => text.includes(found?.txHash ?? '-')));
  expect((await daemon.status()).held).toEqual([]);
  await until('nothing waits on the page', async () => !(await page()).includes('Waiting for approval'));
  expect(atNew()).toHaveLength(1);

  const said = [
    'dead deliveries were sent again',
    'dead deliveries were dropped',
    'a mute has begun',
    'a mute was ended by hand',
    'a test message was sent',
    'a destination was approved',
  ];
  await until('the log has all of it', async () =>
    said.every((msg) => daemon.log(msg).some(({ by }) => by === 'page')),
  );
  expect(await page()).toContain('dropped 1 dead delivery (on this page)');
  expect(daemon.logText()).not.toContain(TOKEN);
  expect(await page()).not.toContain(TOKEN);
  expect(other).toBeDefined();
});

test('remarks that somebody knows of are shown apart and count nowhere, until they say something else', async () => {
  const world = await startWorld({ names: ['Vault', 'Bridge'], kinds: ['slack'], config: { ops: { token: TOKEN } } });
  const { service } = world.sandbox;
  service.replaceChannels({ protocol: 'Bridge' }, []);
  const [daemon, other] = [await world.start(), await world.start()];
  await daemon.watching();
  const console = await openConsole(world);
  const first = await until('the remark is there', async () => (await daemon.status()).remarks[0]);
  expect(first).toMatchObject({
    id: expect.stringMatching(/^remark-[0-9a-f]{8}$/),
    what: expect.stringContaining('“Bridge”'),
  });
  const id = first.id ?? expect.unreachable();
  expect((await console.run('status')).out).toContain(`tocsin known add ${id} --reason TEXT`);
  expect(await daemon.metric('tocsin_unroutable_entries')).toBe(1);

  const refused = await console.run('known', 'add', id, '--reason', ' ');
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('--reason must say why') });
  const unknown = await console.run('known', 'add', 'remark-00000000', '--reason', 'x');
  expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining("no remark 'remark-00000000' is there now") });
  await console.json('known', 'add', id, '--reason', 'nobody reads it', '--author', 'Ann', '--until', '30d');

  for (const each of [daemon, other]) {
    const report = await each.status();
    expect(report).toMatchObject({ problems: [], remarks: [], known: [{ id, known: { author: 'Ann' } }] });
    expect(await each.metric('tocsin_unroutable_entries')).toBe(0);
    expect(await each.metric('tocsin_known_remarks')).toBe(1);
  }
  const { page, press } = await signIn(daemon.url);
  const green = await until('the page shows it', async () => {
    const shown = await page();
    return shown.includes('Known remarks <small>1</small>') ? shown : undefined;
  });
  expect(green).toContain('<title>Tocsin: All is well</title>');
  expect(green).toContain('nobody reads it');
  await until('status says so, too', async () =>
    /\nAll is well\n\nKnown, and not counted \(1\)\n/.test((await console.run('status')).out),
  );
  expect(await console.json('known', 'list')).toMatchObject([{ id, isThere: true, reason: 'nobody reads it' }]);

  // Another protocol has the same: the sentence is another one.
  service.replaceChannels({ protocol: 'Vault' }, []);
  const second = await until('it counts', async () => (await daemon.status()).remarks[0]);
  expect(second.what).toContain('“Vault”');
  expect(await daemon.metric('tocsin_unroutable_entries')).toBe(2);
  expect(await console.json('known', 'list')).toMatchObject([{ id, isThere: false }]);

  const again = second.id ?? expect.unreachable();
  const button = new RegExp(`/actions/known"[\\s\\S]*name="id" value="${again}"`);
  await until('the page has its button', async () => button.test(await page()));
  const words = { id: again, until: '2d', author: 'Bob' };
  expect((await press('known', { ...words, reason: '' })).status).toBe(400);
  expect((await press('known', { ...words, reason: 'a move', until: '999d' })).text).toContain('at most 365d from now');
  const done = await press('known', { ...words, reason: 'a move' });
  expect(done).toMatchObject({ status: 200, text: expect.stringContaining('It is known until') });
  expect((await other.status()).known).toMatchObject([{ id: again, known: { author: 'Bob', reason: 'a move' } }]);

  await daemon.stop();
  const next = await world.start();
  expect((await next.status()).known).toHaveLength(1);
  const { press: pressed } = await signIn(next.url);
  expect(await pressed('known-end', { id: again })).toMatchObject({ status: 200 });
  expect((await other.status()).remarks).toHaveLength(1);
  expect((await console.run('known', 'end', again)).err).toContain('`tocsin known list` shows those that are');
  expect((await console.run('known', 'end', id)).out).toBe(`${id}: no longer marked as known; what it says is gone\n`);
  await until('the log has all of it', () =>
    ['a remark was marked as known', 'a remark is no longer marked as known'].every(
      (msg) => other.log(msg).length === 2,
    ),
  );
});
