/** What holds for every channel kind, whatever its provider is like. */

import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import type { Alert, Destination } from '../../src/alert.ts';
import { type ComposeContext, FORMATS, type Message } from '../../src/channels/channel.ts';
import { createPresentation } from '../../src/channels/content/presentation.ts';
import { atOnce } from '../../src/chunks.ts';
import { DeliveryError } from '../../src/errors.ts';
import { cleanLine, cleanText } from '../../src/text.ts';
import { inspectionAlert, notificationAlert, TX_HASH, TX_ORIGIN } from '../support/alerts.ts';
import { HOSTILE_TEXTS } from '../support/hostile.ts';
import { until } from '../support/until.ts';
import type { Bench, Contestant } from './contestant.ts';
import { describeSeveral } from './several.ts';

const CONTEXT: ComposeContext = {
  sentAt: '2026-11-20T10:07:55.000Z',
  format: 'rich',
  presentation: createPresentation(),
};
/** Longer than any test may take, so that only what is tested can end a send. */
const NEVER_MS = 600_000;
/** For a timeout that is to come: as short as a quiet machine allows, and the longest that a busy one gets. */
const [SHORT_MS, LONG_MS] = [300, 30_000];

const nobody = (): AbortSignal => new AbortController().signal;

/** Everything of an error that could end up in a log, a page or a ticket. */
const exposed = (error: unknown): string =>
  [
    inspect(error, { depth: 12, showHidden: true, getters: true, maxStringLength: null }),
    JSON.stringify(error),
    error instanceof Error ? `${error.message}\n${error.stack}\n${exposed(error.cause)}` : '',
  ].join('\n');

const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.seal(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
};

export const describeContract = <Step>(contestant: Contestant<Step>): void => {
  const { written = (text) => text } = contestant;
  describe(`contract: ${[contestant.kind, contestant.format ?? []].flat().join(' as ')}`, () => {
    const opened: Bench<Step>[] = [];

    const openTestCommand = async (timeoutMs = NEVER_MS): Promise<Bench<Step>> => {
      const bench = await contestant.open({ timeoutMs });
      opened.push(bench);
      return bench;
    };

    afterEach(async () => {
      for (const bench of opened.splice(0)) {
        await bench.channel.close();
        await bench.stopProvider();
      }
    });

    const composeOne = (bench: Bench<Step>, alert: Alert, to = 0, context: Partial<ComposeContext> = {}): Message => {
      const destination = bench.destinations[to] ?? bench.destinations[0];
      const messages = atOnce(bench.channel.compose({ destination, alerts: [alert] }, { ...CONTEXT, ...context }));
      const [message] = messages;
      if (message === undefined || messages.length !== 1) throw new Error(`${messages.length} messages for one alert`);
      return message;
    };

    const send = (bench: Bench<Step>, alert: Alert, { to = 0, signal = nobody() } = {}) =>
      bench.channel.send(composeOne(bench, alert, to), signal);

    const failure = async (bench: Bench<Step>, sending: Promise<unknown>): Promise<DeliveryError> => {
      const error: unknown = await sending.then(
        () => new Error('it was accepted'),
        (thrown: unknown) => thrown,
      );
      const visible = exposed(error);
      for (const secret of bench.secrets) expect(visible).not.toContain(secret);
      if (!(error instanceof DeliveryError)) throw error;
      return error;
    };

    /** The one accepted message. */
    const shown = async (bench: Bench<Step>, alert: Alert, context: Partial<ComposeContext> = {}) => {
      await bench.channel.send(composeOne(bench, alert, 0, context), nobody());
      const [message, ...more] = bench.accepted();
      if (message === undefined || more.length > 0) throw new Error(`${more.length} messages too many`);
      return message;
    };

    describe('sending', () => {
      test('an accepted message has a receipt and arrived once', async () => {
        const bench = await openTestCommand();
        const receipt = await send(bench, inspectionAlert());
        expect(receipt).toBeTypeOf('object');
        const { address } = composeOne(bench, inspectionAlert()).destination;
        expect(receipt.handle !== undefined).toBe(bench.channel.givesHandle?.(address) ?? false);
        if (contestant.forPeople && !contestant.givesNoId) expect(receipt.providerId).toMatch(/\S/);
        expect(bench.arrivals()).toBe(1);
        expect(bench.accepted()).toHaveLength(1);
      });

      test('many at once each arrive once', async () => {
        const bench = await openTestCommand();
        const alerts = Array.from({ length: 20 }, (_, index) => inspectionAlert({ item: { _id: `many${index}` } }));
        await Promise.all(alerts.map((alert, index) => send(bench, alert, { to: index % 2 })));
        const texts = bench.accepted().map(({ text }) => text);
        expect(texts).toHaveLength(20);
        for (const { itemId } of alerts) {
          expect(
            texts.filter((text) => new RegExp(`${itemId}\\b`).test(text)),
            itemId,
          ).toHaveLength(1);
        }
      });

      test.each(contestant.refusals.map((refusal) => [`${refusal.says}: ${refusal.reason}`, refusal] as const))(
        '%s',
        async (_name, { step, reason, to, says: _says, ...details }) => {
          const bench = await openTestCommand();
          bench.script(step);
          const error = await failure(bench, send(bench, inspectionAlert(), to === undefined ? {} : { to }));
          expect({ ...error, reason: error.reason }).toMatchObject({ reason, ...details });
          expect(error.code).toMatch(/^[\w.-]{1,60}$/);
          expect(error.message).toMatch(/\S/);
          expect(bench.accepted()).toHaveLength(0);
        },
      );

      test('a refusal leaves the channel usable', async () => {
        const bench = await openTestCommand();
        for (const { step } of contestant.refusals.slice(0, 3)) {
          bench.script(step);
          await failure(bench, send(bench, inspectionAlert()));
        }
        await send(bench, inspectionAlert());
        expect(bench.accepted()).toHaveLength(1);
      });

      test('an abort ends a send that is under way; it may have arrived', async () => {
        const bench = await openTestCommand();
        bench.script('hang');
        const stop = new AbortController();
        const sending = failure(bench, send(bench, inspectionAlert(), { signal: stop.signal }));
        await until('the message reached the provider', () => bench.arrivals() === 1);
        stop.abort();
        expect(await sending).toMatchObject({ reason: 'unavailable', maybeDelivered: true });
      });

      test('nothing is sent once the signal has aborted', async () => {
        const bench = await openTestCommand();
        const error = await failure(bench, send(bench, inspectionAlert(), { signal: AbortSignal.abort() }));
        expect(error).toMatchObject({ reason: 'unavailable', maybeDelivered: false });
        await send(bench, inspectionAlert());
        expect(bench.arrivals()).toBe(1);
      });

      test('a provider that never answers meets the time limit; it may have arrived', async () => {
        const wait = async (timeoutMs: number): Promise<{ error: unknown; arrivals: number }> => {
          const bench = await openTestCommand(timeoutMs);
          bench.script('hang');
          const error = await failure(
            bench,
            send(bench, inspectionAlert(), { signal: AbortSignal.timeout(timeoutMs) }),
          );
          // A busy machine may need all of a short timeout to get there.
          if (bench.arrivals() === 0 && timeoutMs < LONG_MS) return wait(timeoutMs * 10);
          return { error, arrivals: bench.arrivals() };
        };
        const { error, arrivals } = await wait(SHORT_MS);
        expect(error).toMatchObject({ reason: 'unavailable', maybeDelivered: true });
        expect(arrivals).toBe(1);
      });

      test('a connection dropped after the message: it may have arrived', async () => {
        const bench = await openTestCommand();
        bench.script('reset');
        const error = await failure(bench, send(bench, inspectionAlert()));
        expect(error).toMatchObject({ reason: 'unavailable', maybeDelivered: true });
        expect(bench.arrivals()).toBe(1);
      });

      test('a refused connection: it has not arrived', async () => {
        const bench = await openTestCommand();
        await bench.stopProvider();
        const error = await failure(bench, send(bench, inspectionAlert()));
        expect(error).toMatchObject({ reason: 'unavailable', maybeDelivered: false, unreached: true });
      });

      test('after close a send fails instead of hanging', async () => {
        const bench = await openTestCommand();
        await send(bench, inspectionAlert());
        await bench.channel.close();
        await bench.channel.close();
        await bench.stopProvider();
        expect((await failure(bench, send(bench, inspectionAlert()))).reason).toBe('unavailable');
      });

      test('verify says something, and no secret, whether the provider is there or not', async () => {
        const bench = await openTestCommand(2000);
        const verified = await bench.channel.verify(nobody());
        expect(verified).toMatch(/\S/);
        for (const secret of bench.secrets) expect(verified).not.toContain(secret);
        await bench.stopProvider();
        const error: unknown = await bench.channel.verify(nobody()).catch((thrown: unknown) => thrown);
        for (const secret of bench.secrets) expect(exposed(error)).not.toContain(secret);
        if (error instanceof Error) expect(error).toBeInstanceOf(DeliveryError);
      });
    });

    describe('composing', () => {
      const mixed = (): Alert[] => [
        inspectionAlert(),
        inspectionAlert({ item: { _id: 'second', assessment: 'suspecious' } }),
        notificationAlert('Paused: the guardian stopped withdrawals'),
        inspectionAlert({ item: { _id: 'sample' }, type: 'test.sample' }),
      ];
      const compose = (bench: Bench<Step>, destination: Destination, context: Partial<ComposeContext> = {}) =>
        atOnce(bench.channel.compose(deepFreeze({ destination, alerts: mixed() }), { ...CONTEXT, ...context }));

      test.each(FORMATS)('%s covers every alert exactly once and stays the same', async (format) => {
        const bench = await openTestCommand();
        const [destination] = bench.destinations;
        const messages = compose(bench, destination, { format });
        expect(messages.every((message) => message.alerts.length > 0)).toBe(true);
        expect(messages.flatMap((message) => message.alerts.map(({ id }) => id)).toSorted()).toEqual(
          mixed()
            .map(({ id }) => id)
            .toSorted(),
        );
        expect(compose(bench, destination, { format })).toEqual(messages);
        expect(messages.every((message) => message.destination === destination)).toBe(true);
      });

      test('ids stay the same at any time and in any format, and differ between alerts and destinations', async () => {
        const bench = await openTestCommand();
        const ids = (destination: Destination, context: Partial<ComposeContext> = {}) =>
          compose(bench, destination, context).map(({ id }) => id);
        const [first, second] = bench.destinations;
        expect(ids(first, { format: 'minimal', sentAt: '2027-01-01T00:00:00.000Z' })).toEqual(ids(first));
        expect(new Set([...ids(first), ...ids(second)]).size).toBe(ids(first).length * 2);
      });

      test('every format of every alert is accepted', async () => {
        const bench = await openTestCommand();
        for (const format of FORMATS) {
          for (const message of compose(bench, bench.destinations[0], { format })) {
            await bench.channel.send(message, nobody());
          }
        }
        expect(bench.accepted()).toHaveLength(compose(bench, bench.destinations[0]).length * FORMATS.length);
      });

      test('every fact is shown', async () => {
        const bench = await openTestCommand();
        const { text } = await shown(bench, inspectionAlert());
        const facts = [
          'Lending Pool',
          'flashLoan',
          'Borrowed 12,400 ETH and repaid in the same transaction',
          'drasticBalanceChange',
          'Balance fell by 61.5 %',
          TX_HASH,
          TX_ORIGIN,
          'liquidateCall',
          'Lending vault',
          '10:07:12',
          '10:07:31',
          '673d2f0a1b2c3d4e5f607182',
        ];
        const forPeople = ['CRITICAL', 'Base', '10:07:55'];
        // People read addresses with their checksum.
        const shownText = text.toLowerCase();
        for (const fact of contestant.forPeople ? [...facts, ...forPeople] : facts) {
          expect(shownText).toContain(fact.toLowerCase());
        }
        if (contestant.forPeople) expect(text).toMatch(/Not fired:?\s+mixer/);
      });

      test('the transaction is linked where its chain is known, and nothing else is invented', async () => {
        const known = await shown(await openTestCommand(), inspectionAlert());
        const unknown = await shown(await openTestCommand(), inspectionAlert({ item: { chainId: 987_654 } }));
        expect(`${known.text} ${known.active.join(' ')}`).toContain(`https://basescan.org/tx/${TX_HASH}`);
        expect(`${unknown.text} ${unknown.active.join(' ')}`).not.toContain(`/tx/${TX_HASH}`);
        expect(unknown.text).toContain(TX_HASH);
      });

      test('a stored notification is shown whole', async () => {
        const message = `Guardian paused withdrawals.\n${'Reason: the price moved by more than the bound. '.repeat(25)}End.`;
        const { text } = await shown(await openTestCommand(), notificationAlert(message));
        const squeeze = (value: string) => value.replaceAll(/\s+|\\n/g, ' ');
        expect(squeeze(text)).toContain(squeeze(message));
      });

      test('the plainest format still says what, where and which', async () => {
        const { text } = await shown(await openTestCommand(), inspectionAlert(), { format: 'minimal' });
        for (const fact of ['Lending Pool', TX_HASH, '673d2f0a1b2c3d4e5f607182']) expect(text).toContain(fact);
      });

      test('replays and samples say what they are', async () => {
        const replayed = await shown(await openTestCommand(), inspectionAlert({ replay: true }));
        const sample = await shown(await openTestCommand(), inspectionAlert({ type: 'test.sample' }));
        expect(replayed.text).toMatch(contestant.forPeople ? /old alert/i : /"replay":true/);
        expect(sample.text).toMatch(contestant.forPeople ? /test/i : /"test\.sample"/);
      });

      test.each(HOSTILE_TEXTS)('hostile text stays text: %j', async (hostile) => {
        const bench = await openTestCommand();
        const detections = { [hostile]: { status: 'detected', message: hostile } };
        const item = { invokedMethodName: hostile, detections, assets: [{ address: hostile, descriptor: hostile }] };
        const { text, active } = await shown(bench, inspectionAlert({ protocol: hostile, item }));
        const visible = contestant.forPeople ? written(cleanLine(hostile)) : JSON.stringify(hostile).slice(1, -1);
        expect(text.split(visible).length, 'protocol, detector, message, method, assets').toBeGreaterThan(4);
        expect(text).toContain(TX_HASH);
        expect(active.filter((target) => !target.startsWith('https://basescan.org/'))).toEqual([]);
      });

      test.each(HOSTILE_TEXTS)('a hostile notification stays text: %j', async (hostile) => {
        const { text, active } = await shown(await openTestCommand(), notificationAlert(`Seen: ${hostile} :end`));
        const visible = contestant.forPeople
          ? written(cleanText(`Seen: ${hostile} :end`))
          : JSON.stringify(hostile).slice(1, -1);
        expect(text).toContain(visible);
        expect(active).toEqual([]);
      });

      test.each([
        ['nothing at all', {}],
        [
          'fields of other types',
          { txHash: 7, detections: 'x', assets: { a: 1 }, chainId: [], txOrigin: null, _id: {} },
        ],
        [
          'empty texts',
          { txHash: '', detections: {}, assets: [], txOrigin: '', invokedMethodName: '', assessment: '' },
        ],
      ])('an item with %s is sent all the same', async (_name, item) => {
        const { text } = await shown(await openTestCommand(), { ...inspectionAlert(), item });
        expect(text).toContain('Lending Pool');
      });
    });

    if (contestant.forPeople) describeSeveral(openTestCommand, CONTEXT, contestant);

    describe('addresses', () => {
      test('of a real destination are taken as they are', async () => {
        const bench = await openTestCommand();
        for (const { address } of bench.destinations) {
          const asContact = contestant.addressesOf({ name: contestant.kind, contacts: [address] });
          const asUrl = contestant.addressesOf({ name: contestant.kind, url: address });
          expect([...asContact.addresses, ...asUrl.addresses]).toContain(address);
        }
      });

      test.each([
        [{ name: contestant.kind }],
        [{ name: contestant.kind, contacts: [] }],
        [{ name: contestant.kind, contacts: ['', ' '], url: '' }],
      ])('an entry with nothing to send to is a problem: %j', (entry) => {
        expect(contestant.addressesOf(entry)).toEqual({
          addresses: [],
          problems: [expect.stringMatching(/nothing to send to/)],
        });
      });

      test.each(contestant.badEntries.map((entry) => [entry]))('a bad entry is a problem: %j', (entry) => {
        const { problems } = contestant.addressesOf(entry);
        expect(problems).toHaveLength(1);
        for (const problem of problems) expect(problem).toMatch(/^[^\n\r]{10,300}$/);
      });

      test('labels show no secret', async () => {
        const bench = await openTestCommand();
        for (const { address } of bench.destinations) {
          const label = contestant.labelOf(address);
          expect(label).toMatch(/^\S( ?\S){0,199}$/);
          for (const secret of bench.secrets) expect(label).not.toContain(secret);
        }
      });
    });
  });
};
