/** The heartbeat against a real dead man's switch, through the guard. */
import { expect, onTestFinished, test } from 'vitest';
import { createGuardedPost } from '../../../src/channels/http.ts';
import { createHeartbeat } from '../../../src/features/watchdog/heartbeat.ts';
import { createConditions } from '../../../src/ops/conditions.ts';
import { createSecret } from '../../../src/secret.ts';
import { createLines } from '../../ops/lines.ts';
import { startHttpReceiver } from '../../support/http-receiver.ts';

const PATH = '/ping/5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278';

const setUp = async ({ allowed = true, path = PATH } = {}) => {
  const receiver = await startHttpReceiver(() => ({ status: 200, body: 'OK' }));
  onTestFinished(() => receiver.close());
  const guard = createGuardedPost({ allowHttp: allowed, allowNetworks: allowed ? ['127.0.0.0/8'] : [] });
  onTestFinished(() => guard.close());
  const { lines, log } = createLines();
  const state = { reason: undefined as string | undefined, isOurs: true, isStarting: false, laterMs: 0 };
  const conditions = createConditions({ now: () => Date.now() + state.laterMs });
  const stopping = new AbortController();
  const beat = createHeartbeat({
    url: createSecret(`${receiver.origin}${path}`),
    post: guard.post,
    reason: async () => state.reason,
    isStarting: () => state.isStarting,
    isOurs: async () => state.isOurs,
    conditions,
    scrub: (text) => text,
    log,
    signal: stopping.signal,
    everyMs: 60_000,
  });
  const arrived = () => receiver.arrived.splice(0).map(({ method, path: asked, body }) => `${method} ${asked} ${body}`);
  return { receiver, beat, state, conditions, lines, arrived, stopping };
};

test('calls as long as all is well, and tells why where it is not', async () => {
  const { beat, state, arrived, lines } = await setUp();
  await beat();
  state.reason = 'slack does not work: invalid_auth';
  await beat();
  await beat();
  state.reason = undefined;
  await beat();
  const fail = `POST ${PATH}/fail slack does not work: invalid_auth`;
  expect(arrived()).toEqual([`GET ${PATH} `, fail, fail, `GET ${PATH} `]);
  expect(lines.map(({ message }) => message)).toEqual(['the heartbeat is withheld', 'the heartbeat goes on']);
});

test('a switch that knows no failures is not called, and neither is one that another daemon has called', async () => {
  const { beat, state, arrived } = await setUp({ path: '/api/push/AbC123?status=up' });
  state.reason = 'Redis does not answer';
  await beat();
  state.reason = undefined;
  state.isOurs = false;
  await beat();
  state.isOurs = true;
  await beat();
  expect(arrived()).toEqual(['GET /api/push/AbC123?status=up ']);
});

test('a call that fails is a trouble without a word of the URL, logged once, and over with the next that works', async () => {
  const { receiver, beat, conditions, lines, arrived } = await setUp();
  receiver.script({ status: 404 }, 'reset');
  await beat();
  expect(conditions.current()).toMatchObject([
    { name: 'heartbeat', what: 'the heartbeat cannot be sent', why: 'it answered 404' },
  ]);
  await beat();
  const [{ why } = { why: '' }] = conditions.current();
  expect(why).toMatch(/^the dead man's switch dropped the connection/);
  await beat();
  expect(conditions.current()).toEqual([]);
  expect(arrived()).toHaveLength(3);
  expect(lines.map(({ message }) => message)).toEqual([
    'the heartbeat cannot be sent',
    'the heartbeat can be sent again',
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/5bf66975|127\.0\.0\.1/);
});

test('the guard holds, and says which key would let it through', async () => {
  const { beat, conditions, arrived } = await setUp({ allowed: false });
  await beat();
  expect(conditions.current()[0]?.why).toContain('channels.webhook.allowHttp');
  expect(arrived()).toEqual([]);
});

test('a daemon that stops calls no more, and that is no trouble', async () => {
  const { receiver, beat, conditions, stopping } = await setUp();
  receiver.script('hang');
  const calling = beat();
  stopping.abort();
  await calling;
  expect(conditions.current()).toEqual([]);
});

test('at a start nothing can have been proven yet: nothing is told until it is, or should be', async () => {
  const { beat, state, arrived } = await setUp();
  Object.assign(state, { isStarting: true, reason: 'slack was not proven to work yet' });
  await beat();
  expect(arrived()).toEqual([]);
  state.isStarting = false;
  await beat();
  expect(arrived()).toEqual([`POST ${PATH}/fail slack was not proven to work yet`]);
});

test('a call that failed is no trouble for ever where another daemon calls from then on', async () => {
  const { receiver, beat, state, conditions } = await setUp();
  receiver.script({ status: 404 });
  await beat();
  state.isOurs = false;
  for (let n = 0; n < 4; n += 1) {
    expect(conditions.current().length).toBe(n < 3 ? 1 : 0);
    state.laterMs += 60_001;
    await beat();
  }
});
