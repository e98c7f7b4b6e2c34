/** Messages say who acknowledged them, as they are by then: what they have become meanwhile is never undone. */
import { expect, onTestFinished, test } from 'vitest';
import { createStore } from '../../../src/app/store.ts';
import type { Message } from '../../../src/channels/channel.ts';
import { lineText } from '../../../src/channels/content/content.ts';
import { createThreadClaims } from '../../../src/deliver/thread-store.ts';
import { DeliveryError } from '../../../src/errors.ts';
import { createShow } from '../../../src/features/acknowledgement/show.ts';
import { NO_NAMES } from '../../../src/features/names/names.ts';
import type { AlertRecord } from '../../../src/ledger/record.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const HERE = destinationOf('slack', 'C0000001');
const HANDLE = 'C0000001/1.000001';
const [A, B] = [makeAlert(1), makeAlert(2)];
const HASH = '0xabc';

interface Body {
  text: string;
  note?: string;
}

const limited = (): DeliveryError =>
  new DeliveryError('rate-limited', 'slow down', { code: 'ratelimited', retryAfterMs: 30_000 });
const gone = (): DeliveryError => new DeliveryError('bad-message', 'it is gone', { code: 'message_not_found' });

const recordOf = (id: string, handle: string | undefined): AlertRecord | undefined => {
  const alert = [A, B].find((one) => one.id === id);
  if (alert === undefined || handle === undefined) return undefined;
  return { alert, deliveries: [{ state: 'delivered', destination: HERE, at: alert.at, handle, attempts: [] }] };
};

const setUp = () => {
  const place = openTestRedis();
  const store = createStore({ ...place, onError: () => {}, now: Date.now });
  onTestFinished(() => store.close());
  const stop = new AbortController();
  const claims = createThreadClaims(place.redis, place.prefix);
  const edits: Body[] = [];
  const handles = new Map<string, string>();
  const warnings: object[] = [];
  const revoked = new Set<string>();
  let isImpatient = false;
  const sleeping: { ms: number; end(): void }[] = [];
  /** What happens instead of the next changes; undefined: as if there were none. */
  const next: (() => Promise<void> | void)[] = [];
  const show = createShow({
    ...{ store: store.acknowledgements, claims },
    ledger: { read: async (id) => recordOf(id, handles.get(id)) },
    isOpen:
      async () =>
      ({ id }) =>
        !revoked.has(id),
    channels: [
      {
        kind: 'slack',
        amend: async (_handle, { body }: Message) => {
          await next.shift()?.();
          edits.push(body as Body);
          return {};
        },
        buttons: {
          areAt: () => true,
          put: (body, { lead, note }) => ({
            ...(body as Body),
            ...(note === undefined ? {} : { note: lead ?? lineText(note) }),
          }),
          kept: (body) => body,
          listen: async () => {},
        },
      },
    ],
    muteRules: { maxLength: 1000, never: [] },
    names: async () => NO_NAMES,
    scrub: (text) => text,
    log: { warn: (facts: object) => void warnings.push(facts) },
    signal: stop.signal,
    sleep: async (ms) => {
      if (!isImpatient) await new Promise<void>((end) => void sleeping.push({ ms, end }));
    },
  });
  /** From now on nothing waits. */
  const hurry = (): void => {
    isImpatient = true;
    for (const { end } of sleeping) end();
  };
  onTestFinished(async () => {
    stop.abort();
    hurry();
    await show.ended();
  });
  const keep = async (token: string, alerts: string[], text: string, handle = HANDLE): Promise<void> => {
    const message = { destination: HERE, alerts, transaction: HASH, body: { text } };
    await store.acknowledgements.keepMessage(token, message);
    await store.acknowledgements.placeMessage(token, HERE.id, handle);
  };
  const acknowledge = (...ids: string[]) =>
    store.acknowledgements.acknowledge(ids, { by: 'Ann', via: 'slack', to: 'x', at: '2026-11-20T02:45:10.000Z' });
  const asleep = async () => await until('it waits', () => sleeping.shift());
  return { hurry, revoked, handles, claims, edits, warnings, next, show, keep, acknowledge, asleep };
};

const ANN = expect.stringContaining('Ann');

test('a try after a wait says what the message has become meanwhile', async () => {
  const { next, show, keep, acknowledge, asleep, edits, claims } = setUp();
  await keep('one', [A.id], 'finding A');
  await acknowledge(A.id);
  next.push(() => Promise.reject(limited()));
  show.message(HERE, HANDLE);
  const { ms, end } = await asleep();
  expect(ms).toBe(30_000);
  // Nobody waits for it: the message can grow.
  const unclaim = await claims.claim(HERE.id, HASH);
  expect(unclaim).toBeDefined();
  await keep('two', [A.id, B.id], 'findings A and B');
  await unclaim?.();
  end();
  await show.ended();
  expect(edits).toEqual([{ text: 'findings A and B', note: expect.stringContaining('Ann is on 1 of 2 alerts') }]);
});

test('what another daemon hears while a message is changed is not undone by that change', async () => {
  const { hurry, next, show, keep, acknowledge, edits } = setUp();
  hurry();
  await keep('one', [A.id, B.id], 'findings A and B');
  await acknowledge(A.id);
  next.push(async () => void (await acknowledge(B.id)));
  show.message(HERE, HANDLE);
  await show.ended();
  expect(edits).toEqual([
    { text: 'findings A and B', note: expect.stringContaining('Ann is on 1 of 2 alerts') },
    { text: 'findings A and B', note: expect.not.stringContaining('of 2') },
  ]);
});

test('a message at a destination that was revoked stays as it is', async () => {
  const { revoked, show, keep, acknowledge, edits } = setUp();
  await keep('one', [A.id], 'finding A');
  await acknowledge(A.id);
  revoked.add(HERE.id);
  show.message(HERE, HANDLE);
  await show.ended();
  expect(edits).toEqual([]);
});

test('a message that somebody is changing is left alone until that is done', async () => {
  const { show, keep, acknowledge, asleep, edits, claims } = setUp();
  await keep('one', [A.id], 'finding A');
  await acknowledge(A.id);
  const unclaim = await claims.claim(HERE.id, HASH);
  show.message(HERE, HANDLE);
  const { end } = await asleep();
  expect(edits).toEqual([]);
  await keep('two', [A.id, B.id], 'findings A and B');
  await unclaim?.();
  end();
  await show.ended();
  expect(edits).toEqual([{ text: 'findings A and B', note: ANN }]);
});

test('while it is changed nobody else can change it', async () => {
  const { next, show, keep, acknowledge, claims } = setUp();
  await keep('one', [A.id], 'finding A');
  await acknowledge(A.id);
  const taken: unknown[] = [];
  next.push(async () => void taken.push(await claims.claim(HERE.id, HASH)));
  show.message(HERE, HANDLE);
  await show.ended();
  expect(taken).toEqual([undefined]);
  expect(await claims.claim(HERE.id, HASH)).toBeDefined();
});

test('what a change has undone, as the message became another in that moment, is done again', async () => {
  const { next, show, keep, acknowledge, asleep, edits } = setUp();
  await keep('one', [A.id], 'CRITICAL');
  await acknowledge(A.id);
  next.push(() => keep('one', [A.id], 'OK (was CRITICAL)'));
  show.message(HERE, HANDLE);
  (await asleep()).end();
  await show.ended();
  expect(edits.map(({ text }) => text)).toEqual(['CRITICAL', 'OK (was CRITICAL)']);
});

test('however often somebody presses, a message is changed once', async () => {
  const { show, keep, acknowledge, edits, hurry } = setUp();
  hurry();
  await keep('one', [A.id], 'finding A');
  await acknowledge(A.id);
  for (let count = 0; count < 500; count += 1) show.message(HERE, HANDLE);
  await show.ended();
  for (let count = 0; count < 10; count += 1) {
    show.message(HERE, HANDLE);
    await show.ended();
  }
  expect(edits).toEqual([{ text: 'finding A', note: ANN }]);
});

test('one that could not be changed is tried again by the next press, and then no more', async () => {
  const { next, show, keep, acknowledge, edits, warnings } = setUp();
  await keep('one', [A.id], 'finding A');
  await acknowledge(A.id);
  for (let count = 0; count < 5; count += 1) {
    next.push(() => Promise.reject(gone()));
    show.message(HERE, HANDLE);
    await show.ended();
  }
  expect(edits).toEqual([]);
  expect(warnings).toHaveLength(2);
  expect(next).toHaveLength(3);
  // It says something else now, so it is worth another try.
  next.length = 0;
  await keep('two', [A.id, B.id], 'findings A and B');
  show.message(HERE, HANDLE);
  await show.ended();
  expect(edits).toEqual([{ text: 'findings A and B', note: ANN }]);
});

test('a repair that works is the last one', async () => {
  const { next, show, keep, acknowledge, edits } = setUp();
  await keep('one', [A.id], 'finding A');
  await acknowledge(A.id);
  next.push(() => Promise.reject(gone()));
  for (let count = 0; count < 5; count += 1) {
    show.message(HERE, HANDLE);
    await show.ended();
  }
  expect(edits).toHaveLength(1);
});

test('every message about the alerts is changed once, one after the other, with a pause between', async () => {
  const { handles, show, keep, acknowledge, asleep, edits, hurry } = setUp();
  for (const [number, alert] of [A, B].entries()) {
    const handle = `C0000001/${number}`;
    handles.set(alert.id, handle);
    await keep(`token ${number}`, [alert.id], `finding ${number}`, handle);
  }
  await acknowledge(A.id, B.id);
  show.alerts([A.id, B.id]);
  show.alerts([A.id, B.id]);
  const { ms, end } = await asleep();
  expect(ms).toBe(1000);
  expect(edits).toHaveLength(1);
  hurry();
  end();
  await show.ended();
  expect(edits.map(({ text }) => text).toSorted()).toEqual(['finding 0', 'finding 1']);
});

test('a message without a button is left as it is', async () => {
  const { show, edits, warnings } = setUp();
  show.message(HERE, 'C0000001/9');
  await show.ended();
  expect(edits).toEqual([]);
  expect(warnings).toEqual([]);
});
