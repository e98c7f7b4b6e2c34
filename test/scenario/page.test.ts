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
