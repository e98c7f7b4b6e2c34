/** What a press does, over a real Redis: a forged one does nothing, whoever makes it up and however. */
import { pino } from 'pino';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Alert, Destination, Mute } from '../../../src/alert.ts';
import { createStore } from '../../../src/app/store.ts';
import type { Press, PressAnswer } from '../../../src/channels/channel.ts';
import { type Line, lineText } from '../../../src/channels/content/content.ts';
import { createAcknowledge } from '../../../src/features/acknowledgement/acknowledge.ts';
import { tokenOf } from '../../../src/features/acknowledgement/annotation.ts';
import { createAttach } from '../../../src/features/acknowledgement/attach.ts';
import { createPressed } from '../../../src/features/acknowledgement/press.ts';
import { createMuteOf } from '../../../src/features/mutes/active.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const HERE = destinationOf('slack', 'C0000001');
const HANDLE = 'C0000001/1.000001';
const NOW = Date.parse('2026-11-20T02:45:10Z');
const NAMES = new Map([[HERE.id, '#alerts']]);

const inspection = (number: number, detectors: readonly string[], protocol = 'Lending Pool'): Alert => ({
  ...makeAlert(number),
  protocol,
  item: { detections: Object.fromEntries(detectors.map((name) => [name, { status: 'detected', message: 'x' }])) },
});

interface Body {
  token?: string;
  names?: string[];
  note?: Line | undefined;
  lead?: string | undefined;
}

const setUp = (rules = { maxLength: 86_400_000, never: [] as string[] }) => {
  const place = openTestRedis();
  const store = createStore({ ...place, onError: () => {}, now: () => NOW });
  onTestFinished(() => store.close());
  const metrics = createMetrics({ version: 'test' });
  const { key } = store.acknowledgements;
  /** Alerts, or the place of one message. */
  const shown: (string | string[])[] = [];
  const show = {
    alerts: (alerts: readonly string[]): void => void shown.push([...alerts]),
    message: (_destination: unknown, handle: string): void => void shown.push(handle),
  };
  const mutes: Mute[] = [];
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const refusals: Record<string, number> = {};
  const refusalFacts: object[] = [];
  const clock = { now: NOW };
  const revoked = new Set<string>();
  const acknowledge = createAcknowledge({
    store: store.acknowledgements,
    operatorLog: store.operatorLog,
    metrics,
    show,
    log,
    now: () => NOW,
  });
  let muteFails = false;
  const notApproved = new Set<string>();
  const mayMute = async ({ id }: Destination): Promise<boolean> => !notApproved.has(id);
  const attach = createAttach(
    {
      buttons: {
        areAt: () => true,
        put: (body: unknown, { token, buttons, lead, note }) => ({
          ...(body as Body),
          token,
          names: buttons.map(({ name }) => name),
          lead,
          note,
        }),
        kept: (body) => body,
        listen: async () => {},
      },
    },
    { store: store.acknowledgements, show, muteRules: rules, names: async () => NAMES, mayMute, now: () => NOW },
  );
  const pressed = createPressed({
    ...{ store: store.acknowledgements, operatorLog: store.operatorLog, acknowledge, muteRules: rules, mayMute, log },
    mutes: {
      add: async (one) => {
        if (muteFails) throw new Error('Redis is away');
        mutes.push(one);
      },
    },
    activeMutes: async () => mutes,
    isOpen:
      async () =>
      ({ id }) =>
        !revoked.has(id),
    onRefused: ({ reason }, facts) => {
      refusals[reason] = (refusals[reason] ?? 0) + 1;
      refusalFacts.push(facts);
    },
    signal: new AbortController().signal,
    now: () => clock.now,
  });
  const send = async (alerts: Alert[], destination = HERE, handle: string | undefined = HANDLE): Promise<Body> => {
    const { message, sent } = await attach({ destination, alerts, id: 'm', body: {}, isDigest: false }, alerts, false);
    if (handle !== undefined) await sent(handle);
    return message.body as Body;
  };
  const pressRaw = (token: string, changes: Partial<Press> = {}) =>
    pressed('slack', {
      name: 'acknowledge',
      token,
      by: 'Ann',
      userId: 'U1',
      isAt: (_destination, handle) => handle === HANDLE,
      ...changes,
    });
  const press = async (token: string, changes: Partial<Press> = {}): Promise<PressAnswer> => {
    const answer = await pressRaw(token, changes);
    if (answer === undefined) throw new Error('there is no answer');
    return answer;
  };
  return {
    ...{ ...place, store, key, send, press, pressRaw, pressed, refusals, refusalFacts, clock, revoked },
    ...{ shown, mutes, metrics, attach, lines, notApproved },
    failMutes: (): void => {
      muteFails = true;
    },
  };
};

type World = ReturnType<typeof setUp>;

const acknowledgedIn = async ({ store }: World, ...alerts: Alert[]) => [
  ...(await store.acknowledgements.acknowledged(alerts.map(({ id }) => id))).values(),
];

const ONE = inspection(1, ['flashLoan']);
const TWO = inspection(2, ['flashLoan']);

describe('a press', () => {
  test('acknowledges every alert of its message; the first one counts, and later ones are told', async () => {
    const world = setUp();
    const { token = '' } = await world.send([ONE, TWO]);
    expect(await world.press(token)).toEqual({ text: 'Acknowledged by “Ann”, 02:45:10 UTC.', isRefused: false });
    const later = await world.press(token, { by: 'Bob' });
    expect(later).toEqual({ text: 'Already acknowledged by “Ann” at 02:45:10 UTC.', isRefused: false });
    const known = await acknowledgedIn(world, ONE, TWO);
    expect(known).toHaveLength(2);
    expect(known[0]).toEqual({
      ...{
        by: 'Ann',
        userId: 'U1',
        via: 'slack',
        to: HERE.label,
        destination: HERE.id,
        at: '2026-11-20T02:45:10.000Z',
      },
    });
    // The second one changed nothing: only its own message is looked at again.
    expect(world.shown).toEqual([[ONE.id, TWO.id], HANDLE]);
    const [action] = await world.store.operatorLog.latest(5);
    expect(action).toMatchObject({
      action: 'acknowledged',
      by: 'button',
      author: 'Ann',
      user: 'U1',
      acknowledged: 2,
      alert: ONE.id,
    });
    expect((await world.metrics.acknowledged.get()).values).toMatchObject([{ labels: { kind: 'slack' }, value: 2 }]);
  });

  test('takes a name for text, however it looks', async () => {
    const world = setUp();
    const { token = '' } = await world.send([ONE]);
    const name = `Ann\u202e\n<!channel> ${'x'.repeat(200)}`;
    const { text } = await world.press(token, { by: name });
    expect(text).not.toMatch(/[\u202e\n]/);
    expect(text.length).toBeLessThan(130);
  });

  test('where its destination was revoked meanwhile does nothing, and asks nobody who it is', async () => {
    const world = setUp();
    const { token = '' } = await world.send([ONE]);
    world.revoked.add(HERE.id);
    const refusal = (): Promise<undefined> => expect.fail('nobody is asked');
    for (const name of ['acknowledge', 'mute'] as const) {
      expect(await world.press(token, { name, refusal })).toMatchObject({ isRefused: true });
    }
    expect(world.refusals).toEqual({ stranger: 2 });
    expect(world.mutes).toEqual([]);
    expect(await acknowledgedIn(world, ONE)).toEqual([]);
    world.revoked.clear();
    expect(await world.press(token)).toMatchObject({ isRefused: false });
  });

  test.each([
    ['Ann, 02:45:10 UTC. False alarm. Tocsin', '“Ann, 02:45:10 UTC. False alarm. Tocsin”, 02:45:10 UTC.'],
    ['Ann”, 02:45:10 UTC. All clear. “', "“Ann', 02:45:10 UTC. All clear. '”, 02:45:10 UTC."],
    ['Ann" «x» ＂', "“Ann' 'x' '”, 02:45:10 UTC."],
    ['Ann❞, all clear ❝', "“Ann', all clear '”, 02:45:10 UTC."],
    ["Ann'', all clear ’’", "“Ann', all clear '”, 02:45:10 UTC."],
    ['Ann″ ״ ʺ 〃 🙷 ｣', "“Ann' ' ' ' ' '”, 02:45:10 UTC."],
    ["Ann O'Neill", "“Ann O'Neill”, 02:45:10 UTC."],
  ])('takes the name %s for a name', async (by, said) => {
    const world = setUp();
    const { token = '' } = await world.send([ONE]);
    expect((await world.press(token, { by })).text).toBe(`Acknowledged by ${said}`);
  });

  test('before another message about it was sent is shown in that one as soon as it is there', async () => {
    const world = setUp();
    const { token = '' } = await world.send([ONE]);
    await world.press(token);
    await world.send([ONE], destinationOf('slack', 'C0000002'), 'C0000002/1.000002');
    await world.send([TWO], destinationOf('slack', 'C0000002'), 'C0000002/1.000003');
    expect(world.shown).toEqual([[ONE.id], 'C0000002/1.000002']);
  });

  test('a message that grows is told of those who acknowledged its first alerts', async () => {
    const world = setUp();
    const { token = '' } = await world.send([ONE]);
    await world.press(token);
    const message = { destination: HERE, alerts: [TWO], id: 'm', body: {}, isDigest: false };
    const grown = (await world.attach(message, [ONE, TWO], true)).message.body as Body;
    expect(grown.names).toContain('acknowledge');
    expect(lineText(grown.note ?? [])).toMatch(
      /^👀 Ann is on 1 of 2 alerts · nobody on the other yet · (?:[\d-]+ )?02:45:10 UTC on Slack #alerts(?: · .* after the alert)?$/,
    );
    expect(grown.lead).toBeUndefined();
    const all = (await world.attach({ ...message, alerts: [ONE] }, [ONE], true)).message.body as Body;
    expect(all).toMatchObject({ names: ['mute'], lead: '👀 Ann is on it' });
  });

  test('a message that grows by another protocol says on which somebody is, and on which nobody', async () => {
    const world = setUp();
    const { token = '' } = await world.send([ONE]);
    await world.press(token);
    const perps = { ...TWO, protocol: 'Copper Perps' };
    const message = { destination: HERE, alerts: [perps], id: 'm', body: {}, isDigest: false };
    const grown = (await world.attach(message, [ONE, perps], true)).message.body as Body;
    expect(lineText(grown.note ?? [])).toMatch(/^👀 Ann is on Lending Pool · Copper Perps: nobody yet · /);
  });
});

describe('a forged press does nothing', () => {
  let world: World;
  let token = '';
  beforeEach(async () => {
    world = setUp();
    token = (await world.send([ONE])).token ?? '';
  });

  test.each<[string, string, (w: World) => Promise<string>, Partial<Press>]>([
    ['made up', 'unknown', async () => 'A'.repeat(22), {}],
    ['of no shape', 'unknown', async () => '*', {}],
    ['that is empty', 'unknown', async () => '', {}],
    ['that names a key', 'unknown', async () => '../button-key', {}],
    ['of another alert that was never sent', 'unknown', async (w) => tokenOf(await w.key(), HERE.id, [TWO.id]), {}],
    ['pressed in another chat', 'elsewhere', async () => token, { isAt: () => false }],
    ['by a stranger', 'stranger', async () => token, { refusal: async () => 'Only members.' }],
  ])('with a token %s', async (_what, reason, make, changes) => {
    const answer = await world.press(await make(world), changes);
    expect(answer.isRefused).toBe(true);
    expect(world.refusals).toEqual({ [reason]: 1 });
    expect(await acknowledgedIn(world, ONE, TWO)).toEqual([]);
    expect(world.shown).toEqual([]);
    expect(await world.store.operatorLog.latest(5)).toEqual([]);
  });

  test('with the token of a message elsewhere', async () => {
    const other = await world.send([TWO], destinationOf('slack', 'C0000002'), 'C0000002/1.000002');
    expect(await world.press(other.token ?? '')).toMatchObject({ isRefused: true });
    expect(world.refusals).toEqual({ elsewhere: 1 });
    expect(await acknowledgedIn(world, ONE, TWO)).toEqual([]);
  });

  test('of another kind', async () => {
    const answer = await world.pressed('telegram', {
      ...{ name: 'acknowledge', token, by: 'Eve', userId: '1', isAt: () => true },
    });
    expect(answer?.isRefused).toBe(true);
    expect(await acknowledgedIn(world, ONE)).toEqual([]);
  });

  test('when what Redis says of the token was changed', async () => {
    const button = `${world.prefix}:button:${token}`;
    const text = (await world.redis.hget(button, 'message')) ?? '';
    await world.redis.hset(button, 'message', text.replace(ONE.id, TWO.id));
    expect(await world.press(token)).toMatchObject({ isRefused: true });
    expect(world.refusals).toEqual({ unknown: 1 });
    expect(await acknowledgedIn(world, ONE, TWO)).toEqual([]);
  });

  test('after its time: what it belongs to is kept for three days', async () => {
    const button = `${world.prefix}:button:${token}`;
    const seconds = await world.redis.ttl(button);
    expect(seconds).toBeGreaterThan(3 * 86_400 - 100);
    expect(seconds).toBeLessThanOrEqual(3 * 86_400);
    await world.redis.del(button);
    expect(await world.press(token)).toMatchObject({ isRefused: true });
    expect(await acknowledgedIn(world, ONE)).toEqual([]);
  });
});

describe('too many presses within a minute', () => {
  const CAPPED = { text: expect.stringMatching(/^Too many presses .* did nothing/), isRefused: true };

  test('have no effect, which that person is told once', async () => {
    const world = setUp();
    const { token = '' } = await world.send([ONE]);
    let asked = 0;
    const refusal = async (): Promise<undefined> => {
      asked += 1;
      return undefined;
    };
    const press = () => world.pressRaw(token, { userId: 'U9', refusal });
    const answers = [];
    for (let count = 0; count < 50; count += 1) answers.push(await press());
    expect(answers.slice(0, 20).filter((answer) => answer?.isRefused !== false)).toEqual([]);
    expect(answers[20]).toEqual(CAPPED);
    expect(answers.slice(21).filter((answer) => answer !== undefined)).toEqual([]);
    expect(asked).toBe(20);
    expect(world.refusals).toEqual({ flood: 30 });
    expect(world.refusalFacts[0]).toMatchObject({ button: 'acknowledge', author: 'Ann', user: 'U9' });
    expect(await world.press(token)).toMatchObject({ isRefused: false });
    world.clock.now += 60_000;
    expect(await world.press(token, { userId: 'U9' })).toMatchObject({ isRefused: false });
  });

  test('of many people together have none, either; of these a few are told', async () => {
    const world = setUp();
    for (let count = 0; count < 600; count += 1) await world.pressRaw('*', { userId: `U${count}` });
    expect(world.refusals).toEqual({ unknown: 600 });
    const answers = [];
    for (let count = 0; count < 50; count += 1) answers.push(await world.pressRaw('*', { userId: `V${count}` }));
    expect(world.refusals).toEqual({ unknown: 600, flood: 50 });
    expect(answers.slice(0, 30)).toEqual(Array(30).fill(CAPPED));
    expect(answers.slice(30).filter((answer) => answer !== undefined)).toEqual([]);
  });
});

describe('the log', () => {
  const accepted = ({ lines }: World) => lines.filter(({ msg }) => msg === 'a press was accepted');

  test('has who acknowledged, and who came later, with their ids at the messenger', async () => {
    const world = setUp();
    const { token = '' } = await world.send([ONE]);
    await world.press(token);
    await world.press(token, { by: 'Bob', userId: 'U2' });
    const about = { kind: 'slack', button: 'acknowledge', destination: HERE.id, alert: ONE.id };
    expect(accepted(world)).toMatchObject([
      { ...about, outcome: 'acknowledged', author: 'Ann', user: 'U1' },
      { ...about, outcome: 'acknowledged before', author: 'Bob', user: 'U2' },
    ]);
  });

  test('has who muted, and who wanted to mute what was muted already', async () => {
    const world = setUp();
    const { token = '' } = await world.send([ONE]);
    await world.press(token, { name: 'mute' });
    await world.press(token, { name: 'mute', by: 'Bob', userId: 'U2' });
    const about = { kind: 'slack', button: 'mute', destination: HERE.id, alert: ONE.id };
    expect(accepted(world)).toMatchObject([
      { ...about, outcome: 'muted', author: 'Ann', user: 'U1' },
      { ...about, outcome: 'muted before', author: 'Bob', user: 'U2' },
    ]);
  });

  test('has nothing of a press that was refused or failed as accepted', async () => {
    const world = setUp();
    const { token = '' } = await world.send([ONE]);
    await world.press(token, { refusal: async () => 'Only members.' });
    world.failMutes();
    await world.press(token, { name: 'mute' });
    expect(accepted(world)).toEqual([]);
  });
});

describe('the second button', () => {
  const mutePress = { name: 'mute' as const };

  test('mutes the detectors that fired, for that protocol and for an hour, by who pressed', async () => {
    const world = setUp();
    const { token = '', names } = await world.send([inspection(3, ['flashLoan', 'mixer'])]);
    expect(names).toEqual(['acknowledge', 'mute']);
    const { text, isRefused } = await world.press(token, mutePress);
    expect(isRefused).toBe(false);
    expect(text).toBe('Muted until 2026-11-20 03:45:10 UTC: protocol “Lending Pool”; detectors flashLoan, mixer.');
    expect(world.mutes).toMatchObject([
      { author: '“Ann” (U1)', reason: 'from a button', until: '2026-11-20T03:45:10.000Z', destinations: [] },
    ]);
    expect(await world.press(token, mutePress)).toMatchObject({ isRefused: false });
    expect(world.mutes).toHaveLength(1);
    expect(await acknowledgedIn(world, inspection(3, []))).toEqual([]);
  });

  test('of several protocols names every mute; another press tells what is muted already', async () => {
    const world = setUp();
    const [one, other] = [inspection(10, ['flashLoan'], 'Vault'), inspection(11, ['mixer'], 'Bridge')];
    const { token = '' } = await world.send([one, other]);
    expect((await world.press(token, mutePress)).text).toBe(
      'Muted until 2026-11-20 03:45:10 UTC: protocol Vault; detector flashLoan | protocol Bridge; detector mixer.',
    );
    expect(world.mutes).toHaveLength(2);
    const third = inspection(12, ['oracle'], 'Pool');
    const more = await world.send([one, third], HERE, HANDLE);
    expect((await world.press(more.token ?? '', mutePress)).text).toBe(
      'Muted until 2026-11-20 03:45:10 UTC: protocol Pool; detector oracle. The rest was muted already.',
    );
  });

  test('is told first where a press may be old, and mutes nothing once nobody can be told', async () => {
    const world = setUp();
    const { token = '' } = await world.send([ONE]);
    const told: string[] = [];
    const late = await world.pressRaw(token, { ...mutePress, answerFirst: async () => false });
    expect(late).toBeUndefined();
    expect(world.mutes).toEqual([]);
    expect(world.refusals).toEqual({ late: 1 });
    expect(await world.store.operatorLog.latest(5)).toEqual([]);
    const failing = { answerFirst: () => Promise.reject(new Error('away')) };
    expect(await world.pressRaw(token, { ...mutePress, ...failing })).toMatchObject({ isRefused: true });
    expect(world.mutes).toEqual([]);
    const answerFirst = async ({ text }: PressAnswer): Promise<boolean> => {
      expect(world.mutes).toEqual([]);
      told.push(text);
      return true;
    };
    expect(await world.pressRaw(token, { ...mutePress, answerFirst })).toBeUndefined();
    expect(told).toEqual([expect.stringContaining('Muted until')]);
    expect(world.mutes).toHaveLength(1);
  });

  test.each([
    ['before it began', undefined],
    ['after the person was told', async () => true],
    ['as the person was being told', () => Promise.reject(new Error('away'))],
  ])('that fails %s is told to have failed', async (_when, answerFirst) => {
    const world = setUp();
    const { token = '' } = await world.send([ONE]);
    world.failMutes();
    const changes = { ...mutePress, ...(answerFirst === undefined ? {} : { answerFirst }) };
    expect(await world.press(token, changes)).toEqual({
      text: 'That mute did not work just now: do not count on it. Press again in a moment.',
      isRefused: true,
    });
    expect(world.mutes).toEqual([]);
    expect(world.lines.filter(({ msg }) => msg === 'a press could not be handled')).toHaveLength(1);
  });

  test('however old, a press acknowledges', async () => {
    const world = setUp();
    const { token = '' } = await world.send([ONE]);
    expect(await world.press(token, { answerFirst: async () => false })).toMatchObject({ isRefused: false });
    expect(await acknowledgedIn(world, ONE)).toHaveLength(1);
  });

  test('writes who it was, for the messenger, into the operator log', async () => {
    const world = setUp();
    const { token = '' } = await world.send([ONE]);
    await world.press(token, { ...mutePress, by: 'Bob” (U0BOSS)', userId: 'U0EVE' });
    const [action] = await world.store.operatorLog.latest(1);
    expect(action).toMatchObject({ action: 'mute-begun', by: 'button', author: "“Bob' (U0BOSS)” (U0EVE)" });
  });

  test('a protocol with the name of a glob mutes itself and nothing else', async () => {
    const world = setUp();
    const { token = '' } = await world.send([inspection(4, ['[a-z]*'], '*')]);
    await world.press(token, mutePress);
    const muteOf = createMuteOf(world.mutes, []);
    expect(muteOf(inspection(5, ['[a-z]*'], '*'), HERE)).toBeDefined();
    expect(muteOf(inspection(6, ['flashLoan'], 'Lending Pool'), HERE)).toBeUndefined();
    expect(muteOf(inspection(7, ['flashLoan'], '*'), HERE)).toBeUndefined();
  });

  test('is shorter where mutes.maxLength says so', async () => {
    const world = setUp({ maxLength: 600_000, never: [] });
    const { token = '' } = await world.send([ONE]);
    await world.press(token, mutePress);
    expect(world.mutes).toMatchObject([{ until: '2026-11-20T02:55:10.000Z' }]);
  });

  test('is not there where mutes.never names a detector, and is refused where it does since', async () => {
    const never = ['flash*'];
    expect((await setUp({ maxLength: 86_400_000, never }).send([ONE])).names).toEqual(['acknowledge']);
    const rules = { maxLength: 86_400_000, never: [] as string[] };
    const world = setUp(rules);
    const { token = '' } = await world.send([ONE]);
    rules.never.push(...never);
    const { text, isRefused } = await world.press(token, mutePress);
    expect(isRefused).toBe(true);
    expect(text).toContain('mutes.never says that flashLoan is never muted');
    expect(world.mutes).toEqual([]);
    expect(world.refusals).toEqual({ rule: 1 });
  });

  test('is not where nobody approved the destination, and is refused where it was revoked since', async () => {
    const world = setUp();
    const { token = '', names } = await world.send([ONE]);
    expect(names).toEqual(['acknowledge', 'mute']);
    world.notApproved.add(HERE.id);
    expect((await world.send([inspection(4, ['flashLoan'])])).names).toEqual(['acknowledge']);
    const { text, isRefused } = await world.press(token, mutePress);
    expect(isRefused).toBe(true);
    expect(text).toContain(`tocsin destinations approve ${HERE.id}`);
    expect(world.mutes).toEqual([]);
    expect(world.refusals).toEqual({ rule: 1 });
  });

  test('is not below a stored notification', async () => {
    const alert: Alert = { ...makeAlert(8), source: 'notifications', item: { message: 'x' } };
    expect((await setUp().send([alert])).names).toEqual(['acknowledge']);
  });
});

test.each([
  ['replayed history', { replay: true }],
  ['an announcement', { type: 'tocsin.trouble.begun' }],
  ['a sample', { type: 'test.sample' }],
  ['a follow-up', { followUp: { of: 'x', was: 'critical', is: 'ok' } }],
])('%s has no button', async (_what, changes) => {
  expect((await setUp().send([{ ...ONE, ...changes }])).token).toBeUndefined();
});
