/** What people read in Discord and in Teams: the order of a message, long texts, digests, good news. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { type Alert, FORMATS as FORMATS_OF_MESSAGES, type JsonObject, type JsonValue } from '../../../../src/alert.ts';
import { createPresentation } from '../../../../src/channels/content/presentation.ts';
import { fittedText } from '../../../../src/channels/webhook/formats/people.ts';
import { CARD_BYTES } from '../../../../src/channels/webhook/formats/teams-card.ts';
import { announcementAlert } from '../../../../src/features/announcements/announce.ts';
import { createDiscordReceiver } from '../../../../src/sandbox/receivers/formats/discord.ts';
import { createTeamsReceiver } from '../../../../src/sandbox/receivers/formats/teams.ts';
import { destinationOf, inspectionAlert, notificationAlert, TX_HASH } from '../../../support/alerts.ts';
import { readDiscord } from '../../../support/discord-reader.ts';
import { storm } from '../../../support/parcels.ts';
import { readTeams } from '../../../support/teams-reader.ts';
import { anyCharacter } from '../../../support/texts.ts';
import { composeAs, hugeAlert, openVendor, textOf } from '../../../support/webhooks.ts';

const FORMATS = {
  discord: { create: createDiscordReceiver, read: (body: JsonValue) => readDiscord(JSON.parse(JSON.stringify(body))) },
  teams: { create: createTeamsReceiver, read: readTeams },
} as const;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const open = async (format: keyof typeof FORMATS) => {
  const { create, read } = FORMATS[format];
  const receiver = create();
  const { url } = await receiver.start();
  const bench = openVendor(url, { format });
  closers.push(receiver.stop, bench.close);
  const texts = () => receiver.received().map(({ raw }) => read(raw.body).text);
  return { receiver, texts, ...bench };
};

const openDiscord = async (query = '') => {
  const receiver = createDiscordReceiver();
  const { url } = await receiver.start();
  const bench = openVendor(`${url}${query}`, { format: 'discord' });
  closers.push(receiver.stop, bench.close);
  return { receiver, ...bench };
};

const good = announcementAlert({ about: 'service.read', key: '1', message: 'The service is read again.' }, Date.now());
const FALLEN_BACK = { notice: 'Slack did not take it.' };
const downgrade: Alert = inspectionAlert({
  id: 'downgrade',
  type: 'inspection.downgraded',
  item: { assessment: 'ok' },
  followUp: { of: inspectionAlert().id, was: 'critical', is: 'ok' },
});

describe.each(['discord', 'teams'] as const)('%s', (format) => {
  test('says first how bad and where, then what happened, why it comes this way, then who, then the rest', async () => {
    const { texts, deliver } = await open(format);
    await deliver([inspectionAlert({ notice: 'Slack did not take it.' })]);
    const [text = ''] = texts();
    const order = [
      '🔴 CRITICAL · Lending Pool · Lending vault',
      'Flash loan: Borrowed 12,400 ETH',
      'Slack did not take it.',
      'on Base',
      'sent +',
      TX_HASH,
    ].map((part) => text.indexOf(part));
    expect(order.every((at) => at >= 0)).toBe(true);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });

  test('a follow-up says what it is now', async () => {
    const { texts, deliver } = await open(format);
    await deliver([downgrade]);
    expect(texts()[0]).toContain('OK (was CRITICAL)');
    expect(texts()[0]).toContain('The service calls it ok now.');
  });

  test('a stored notification of 100 kB is one message: its beginning, and how much is missing', async () => {
    const { receiver, texts, deliver } = await open(format);
    const said = Array.from({ length: 3000 }, (_, n) => `Line ${n} of what the guardian found.`);
    for (const text of [said.join('\n'), '*_`'.repeat(40_000)]) {
      const before = receiver.received().length;
      await deliver([notificationAlert(text)]);
      expect(receiver.received()).toHaveLength(before + 1);
      expect(texts().at(-1)).toMatch(/\b\d{2,3},\d{3} characters more are (?:at the service|in the file)/);
    }
    for (const line of said.slice(0, 30)) expect(texts()[0]).toContain(line);
  });

  test('an announcement has its command as it is typed', async () => {
    const { receiver, texts, deliver } = await open(format);
    const message = 'Slack #ops is archived.\n\nTo do: unarchive it; then run: tocsin dead retry --destination C1';
    await deliver([announcementAlert({ about: 'destination.broken', key: '1', message }, Date.now())]);
    expect(texts()[0]).toContain('Slack #ops is archived');
    expect(texts()[0]).toContain('tocsin dead retry --destination C1');
    expect(receiver.received()).toHaveLength(1);
  });

  test('a huge finding is cut, and says so', async () => {
    const { texts, deliver } = await open(format);
    await deliver([hugeAlert()]);
    expect(texts()[0]).toMatch(/and \d+ more detectors/);
  });

  test('more than five incidents are one digest that names each', async () => {
    const { receiver, deliver } = await open(format);
    const messages = await deliver(storm(20));
    expect(messages.map(({ isDigest }) => isDigest)).toEqual([true]);
    const body = JSON.stringify(receiver.received().map(({ raw }) => raw.body));
    for (const { txHash = '' } of storm(20)) expect(body).toContain(txHash);
  });

  test('a digest has the order of every kind: the worst, why it comes this way, the counts, from when to when, the others', async () => {
    const { texts, deliver } = await open(format);
    const worst = inspectionAlert({ item: { _id: 'worst' }, context: { privilegedOn: ['Vault'] }, ...FALLEN_BACK });
    await deliver([...storm(8).map((alert) => ({ ...alert, ...FALLEN_BACK })), worst]);
    const [text = ''] = texts();
    const order = [
      '9 critical alerts in',
      '🔴 CRITICAL · Lending Pool · Lending vault',
      'privileged call',
      'Borrowed 12,400 ETH',
      FALLEN_BACK.notice,
      'Detectors: ',
      'Too many at once',
      storm(8).at(-1)?.txHash?.slice(-4) ?? '',
    ].map((part) => text.indexOf(part));
    expect(order, text).not.toContain(-1);
    expect(order, text).toEqual(order.toSorted((a, b) => a - b));
  });
});

describe('Discord', () => {
  test('mentions nobody, and only our own good news is silent', async () => {
    const { receiver, deliver } = await openDiscord();
    const spelled = ['ok', 'low', 'info'].map((word) => inspectionAlert({ item: { _id: word, assessment: word } }));
    const stated = ['Low: pool drained', 'Info: pool drained'].map((text) => notificationAlert(text));
    const loud = [inspectionAlert(), ...spelled, ...stated];
    for (const alert of [...loud, good, downgrade]) await deliver([alert]);
    const bodies = receiver.received().map(({ raw }) => JSON.parse(JSON.stringify(raw.body)));
    expect(bodies.map((body) => body.allowed_mentions)).toEqual(Array(loud.length + 2).fill({ parse: [] }));
    expect(bodies.map((body) => body.flags)).toEqual([...loud.map(() => undefined), 4096, 4096]);
  });

  test('a long line of ours is whole', async () => {
    const { receiver, deliver } = await openDiscord();
    const message = `The protocol changed: ${'from one channel to another, '.repeat(20)}and no more.`;
    await deliver([announcementAlert({ about: 'protocol.changed', key: '1', message }, Date.now())]);
    expect(JSON.stringify(receiver.received()[0]?.raw.body)).toContain(message.slice(30, -1));
  });

  test('a thread in the URL stays', async () => {
    const { receiver, deliver } = await openDiscord('?thread_id=42');
    await deliver([inspectionAlert()]);
    expect(receiver.received()[0]?.raw.query).toBe('thread_id=42&wait=true');
  });

  test('a webhook that was deleted is final', async () => {
    const { receiver, deliver } = await openDiscord();
    receiver.remove();
    await expect(deliver([inspectionAlert()])).rejects.toMatchObject({
      reason: 'destination-dead',
      message: expect.stringContaining('was deleted at Discord'),
    });
  });
});

describe('Teams', () => {
  const LONG = ['漢', 'm', '"', '\\', '{', '{{DATE('].map((one) => one.repeat(30_000 / one.length));

  test.each(FORMATS_OF_MESSAGES)('a %s card fits, whatever the item holds', async (each) => {
    const { receiver, deliver } = await open('teams');
    for (const text of LONG) {
      const item = { invokedMethodName: text, txHash: text, txOrigin: text, chainId: text, _id: text };
      const detections = { [text]: { status: 'detected', message: text } };
      const assets = Array.from({ length: 30 }, (_, n) => ({ descriptor: `${n}${text}`, address: `${n}${text}` }));
      const alert = inspectionAlert({ item: { ...item, detections, assets }, protocol: text, notice: text });
      await deliver([alert], { format: each });
      await deliver([{ ...alert, replay: true }, ...storm(10)], { format: each });
      await deliver([notificationAlert(text, { txHash: text, itemId: text })], { format: each });
    }
    expect(receiver.attempts().filter(({ outcome }) => outcome !== 'accepted')).toEqual([]);
  });

  test('a minimal card fits for any item', async () => {
    const anything = fc.string({ unit: anyCharacter, maxLength: 8000, size: 'max' });
    const item = fc.record({
      ...{ invokedMethodName: anything, txHash: anything, txOrigin: anything, chainId: anything, _id: anything },
      assets: fc.array(fc.record({ descriptor: anything, address: anything }), { maxLength: 40 }),
      assessment: anything,
    });
    const sizes = ({ item: one, protocol }: { item: JsonObject; protocol: string }) =>
      composeAs(
        'teams',
        {
          destination: destinationOf('webhook', 'https://teams.example.com/'),
          alerts: [inspectionAlert({ item: one, protocol })],
        },
        { format: 'minimal', presentation: createPresentation(), sentAt: '2026-11-20T10:07:50.000Z' },
      ).map((message) => Buffer.byteLength(textOf(message)));
    fc.assert(
      fc.property(fc.record({ item, protocol: anything }), (one) => Math.max(...sizes(one)) <= CARD_BYTES),
      { numRuns: 50 },
    );
  });
});

test('a text is cut at the end of a line, and never in the middle of a character', () => {
  const within = (text: string, size: number) => fittedText(text, [size], () => true);
  expect(within('', 10)).toEqual({ text: '', remark: '' });
  expect(within('one\ntwo\nthree', 9)).toEqual({ text: 'one\ntwo', remark: '6 characters more are at the service' });
  expect(within('🧨🧨🧨', 3).text).toBe('🧨');
  expect(within('abcdef', 3).text).toBe('abc');
});
