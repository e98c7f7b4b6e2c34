/** The page of a whole daemon: what it shows of alerts, and what an operator does there, as by the commands. */
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
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

test('shows what became of alerts, and lets an operator retry, drop, mute and test', async () => {
  const config = { ops: { token: TOKEN } };
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
  const said = [
    'dead deliveries were sent again',
    'dead deliveries were dropped',
    'a mute has begun',
    'a mute was ended by hand',
    'a test message was sent',
  ];
  await until('the log has all of it', async () =>
    said.every((msg) => daemon.log(msg).some(({ by }) => by === 'page')),
  );
  expect(await page()).toContain('dropped 1 dead delivery (on this page)');
  expect(daemon.logText()).not.toContain(TOKEN);
  expect(await page()).not.toContain(TOKEN);
  expect(other).toBeDefined();
});
