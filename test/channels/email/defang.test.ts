/** Who writes to the service cannot choose words by which a mailbox's filter hides the mail; people read what was written. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Alert, JsonObject } from '../../../src/alert.ts';
import { type ComposeContext, FORMATS } from '../../../src/channels/channel.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { createTemplates } from '../../../src/channels/content/template.ts';
import { defang } from '../../../src/channels/email/defang.ts';
import { composeEmail } from '../../../src/channels/email/message.ts';
import { atOnce } from '../../../src/chunks.ts';
import { announcementAlert } from '../../../src/features/announcements/announce.ts';
import { nameText } from '../../../src/text.ts';
import type { Bench } from '../../contract/contestant.ts';
import { emailContestant } from '../../contract/email.ts';
import { destinationOf, inspectionAlert, notificationAlert, TX_HASH, TX_ORIGIN } from '../../support/alerts.ts';
import { hashOf } from '../../support/parcels.ts';

/** By these SpamAssassin, rspamd and Exchange are tested, and virus scanners: a mail with one of them is junk. */
const JUNK = ['X', 'Y', 'Z']
  .map((first) => `${first}JS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X`)
  .concat(String.raw`X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`);
/** A host on a blocklist, in every way in which a text can name it. */
const HOST = 'drainer.example';
const HOSTS = [HOST, `https://www.${HOST.toUpperCase()}/claim?id=1`, `http://user@x.${HOST}:8080`, `help@${HOST}.`];

const fired = (detector: string, message: string): JsonObject => ({ [detector]: { status: 'detected', message } });

/** Where the service allows text. */
const FIELDS: Record<string, (text: string) => Alert> = {
  protocol: (text) => inspectionAlert({ protocol: text, item: { protocol: text } }),
  id: (text) => inspectionAlert({ item: { _id: text }, itemId: text }),
  chainId: (text) => inspectionAlert({ item: { chainId: text } }),
  txHash: (text) => inspectionAlert({ item: { txHash: text }, txHash: text }),
  txOrigin: (text) => inspectionAlert({ item: { txOrigin: text } }),
  method: (text) => inspectionAlert({ item: { invokedMethodName: text } }),
  assessment: (text) => inspectionAlert({ item: { assessment: text }, type: `inspection.${text}` }),
  'an address': (text) => inspectionAlert({ item: { assets: [{ address: text, descriptor: 'Vault' }] } }),
  'a contract': (text) => inspectionAlert({ item: { assets: [{ address: TX_ORIGIN, descriptor: text }] } }),
  detector: (text) => inspectionAlert({ item: { detections: fired(text, 'x') } }),
  'what a detector says': (text) => inspectionAlert({ item: { detections: fired('mixer', `Owner changed ${text}`) } }),
  'a long text': (text) =>
    inspectionAlert({ item: { detections: fired('mixer', `${'Owner changed. '.repeat(900)}${text}`) } }),
  'a stored notification': (text) => notificationAlert(`Owner changed\n${text}`),
  'a long notification': (text) => notificationAlert(`${text} ${'Owner changed. '.repeat(9000)}`),
  'a name in an announcement': (text) =>
    announcementAlert(
      { about: 'protocol.changed', key: `changed ${text}`, message: `The protocol ${nameText(text)} was changed.` },
      Date.parse('2026-11-20T10:07:55.000Z'),
    ),
};

describe('in a mail that arrived', () => {
  let bench: Bench<unknown> | undefined;
  afterEach(async () => {
    await bench?.channel.close();
    await bench?.stopProvider();
    bench = undefined;
  });

  /** Subject, text, HTML with what it links to, files, and the name in List-Id. */
  const arrived = async (alerts: Alert[], context: Partial<ComposeContext> = {}): Promise<string> => {
    bench ??= await emailContestant.open({ timeoutMs: 60_000 });
    const before = bench.accepted().length;
    const whole: ComposeContext = {
      ...{ format: 'rich', sentAt: '2026-11-20T10:07:55.000Z', presentation: createPresentation() },
      ...context,
    };
    const messages = atOnce(composeEmail({ destination: destinationOf('email', 'a@mail.example.org'), alerts }, whole));
    for (const message of messages) await bench.channel.send(message, new AbortController().signal);
    const shown = bench
      .accepted()
      .slice(before)
      .flatMap(({ text, active, files = [] }) => [text, ...active, ...files]);
    const parts = messages.flatMap(({ body }) => [body.text, body.list.name, body.what ?? '']);
    return [...shown, ...parts].join('\n').toLowerCase();
  };

  /** Eleven become a digest, with a file. */
  const crowd = (make: (text: string) => Alert, text: string): Alert[] =>
    Array.from({ length: 11 }, (_, n) => {
      const alert = make(text);
      const txHash = alert.txHash === TX_HASH ? hashOf(n) : alert.txHash;
      return { ...alert, id: `${alert.id}${n}`, ...(txHash === undefined ? {} : { txHash }) };
    });

  test.each(Object.entries(FIELDS))(
    '%s has no text that a filter is tested with, and no host name',
    async (_name, make) => {
      for (const format of FORMATS) {
        for (const text of [...JUNK, ...HOSTS]) {
          const seen = `${await arrived([make(text)], { format })} ${await arrived(crowd(make, text), { format })}`;
          for (const junk of [...JUNK, HOST]) expect(seen, `${format}: ${text}`).not.toContain(junk.toLowerCase());
        }
      }
    },
  );

  test('what was written is read all the same', async () => {
    const text = `Look at https://www.${HOST}/claim and 0.5ETH of ${TX_HASH}, e.g. in v1.2 of Pool.`;
    const seen = await arrived([inspectionAlert({ item: { detections: fired('mixer', text) } })]);
    expect(seen).toContain(`https://www[.]drainer[.]example/claim and 0.5eth of ${TX_HASH}, e.g. in v1.2 of pool.`);
  });

  test('what is ours stays whole: links, the explorer, a template and its links, what an announcement says', async () => {
    const url = 'https://wiki.example.com/a-runbook-with-a-name-of-more-than-forty-characters';
    const sources = [
      {
        kinds: ['email' as const],
        protocols: ['*'],
        types: ['*'],
        text: `See ${url} and {{ links[0].url }} of {{ protocol }}`,
      },
    ];
    const presentation = createPresentation(
      { links: [{ label: 'Runbook', url }] },
      createTemplates(sources, { kind: 'email', onFailed: () => expect.unreachable() }),
    );
    const seen = await arrived([inspectionAlert({ protocol: HOST, item: { protocol: HOST } })], { presentation });
    expect(seen).toContain(`see ${url} and https://basescan.org/tx/${TX_HASH} of drainer[.]example`);
    const own = announcementAlert({ about: 'protocol.changed', key: 'x', message: `Look at ${url} first.` }, 0);
    expect(await arrived([own])).toContain(`look at ${url} first`);
  });
});

test.each([
  ['evil.example', 'evil[.]example'],
  ['http://203.0.113.5/x', 'http://203[.]0[.]113[.]5/x'],
  ['пример.рф', 'пример[.]рф'],
  ['1,234.5 ETH, 61.5 %, e.g. this. That', '1,234.5 ETH, 61.5 %, e.g. this. That'],
  ['a'.repeat(39).concat('-z'), `${'a'.repeat(39)}- z`],
  [`(0x${'ab'.repeat(32)}).`, `(0x${'ab'.repeat(32)}).`],
])('%s is written %s', (text, written) => {
  expect(defang(text)).toBe(written);
});

test('a text of 100,000 characters holds nothing up, whatever it is made of', () => {
  for (const part of ['a', 'a.', '0x', 'f', 'f'.repeat(39).concat('g'), '://1.', '“']) {
    expect(defang(part.repeat(100_000 / part.length)).length).toBeGreaterThanOrEqual(99_000);
  }
});
