/**
 * How many words a reader gets before a tap: of a single alert fifty, of an incident of six protocols seventy-five, of a
 * digest of twelve a hundred and sixty. Buttons do not count, nor what is folded, or stands in a mail behind all else.
 */
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import type { ComposeContext } from '../../src/channels/channel.ts';
import { createPresentation } from '../../src/channels/content/presentation.ts';
import { composeEmail } from '../../src/channels/email/message.ts';
import { composeSlack } from '../../src/channels/slack/message.ts';
import { composeTelegram } from '../../src/channels/telegram/message.ts';
import { discord } from '../../src/channels/webhook/formats/discord.ts';
import type { WebhookBody } from '../../src/channels/webhook/formats/format.ts';
import { teams } from '../../src/channels/webhook/formats/teams.ts';
import { atOnce } from '../../src/chunks.ts';
import { digest, finding, SENT_AT } from '../../src/features/preview/findings.ts';
import { SCENES } from '../../src/features/preview/scenes.ts';
import { destinationOf } from '../support/alerts.ts';
import { readHtml } from '../support/mail-reader.ts';
import { parseTelegramHtml } from '../support/telegram-reader.ts';

const base: ComposeContext = { format: 'rich', presentation: createPresentation(), sentAt: SENT_AT };

const wordsOf = (text: string): string[] => text.match(/\S*[\p{L}\p{N}]\S*/gu) ?? [];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const slackText = (node: unknown): string => {
  if (Array.isArray(node)) return node.map(slackText).join('');
  if (!isObject(node) || node.type === 'actions') return '';
  const { text, fallback, elements } = node;
  const own = typeof text === 'string' ? text : isObject(text) ? slackText(text) : String(fallback ?? '');
  return `${own}${slackText(elements ?? [])}${String(node.type).startsWith('rich_text_') || node.type === 'header' ? '\n' : ''}`;
};

const teamsText = (node: unknown): string => {
  if (Array.isArray(node)) return node.map(teamsText).join('');
  if (!isObject(node) || node.isVisible === false) return '';
  const end = node.type === 'RichTextBlock' ? '\n' : '';
  return `${String(node.text ?? '')}${teamsText(node.inlines ?? node.items ?? [])}${end}`;
};

const firstIn = (body: WebhookBody | undefined): unknown => JSON.parse(String(body?.[0]?.text));

/** What is seen of a message before a tap. */
const KINDS: Record<string, (alerts: Alert[], context: ComposeContext) => string> = {
  slack: (alerts, context) => {
    const [message] = atOnce(composeSlack({ destination: destinationOf('slack', 'C024BE91L'), alerts }, context, true));
    return slackText(message?.body.blocks).replace(/<!date\^[^|]*\|([^>]*)>/g, '$1');
  },
  telegram: (alerts, context) => {
    const [message] = atOnce(composeTelegram({ destination: destinationOf('telegram', '-100123'), alerts }, context));
    const { text, entities } = parseTelegramHtml(message?.body.text ?? '');
    return entities
      .filter(({ type }) => type === 'expandable_blockquote')
      .toReversed()
      .reduce((shown, { offset, length }) => `${shown.slice(0, offset)}${shown.slice(offset + length)}`, text);
  },
  mail: (alerts, context) => {
    const [message] = atOnce(composeEmail({ destination: destinationOf('email', 'a@example.com'), alerts }, context));
    const html = (message?.body.html ?? '').replace(/<a class="button"[\s\S]*?<\/a>/g, '');
    // The first line is what mail programs show beside the subject.
    const [, shown = ''] = readHtml(html).text.split(/^.*\n/);
    return shown.replace(/\n(?:Details\n|The others\n|Sent by Tocsin)[\s\S]*$/, '');
  },
  discord: (alerts, context) => {
    const parcel = { destination: destinationOf('webhook', 'https://discord.com/api/webhooks/1/x'), alerts };
    const [message] = atOnce(discord.compose(parcel, context, { batch: 1 }));
    const { embeds } = firstIn(message?.body) as { embeds: { title: string; description: string }[] };
    // Nothing folds in Discord: the details, and the others of a digest, are an embed of their own.
    const shown = embeds.slice(0, 1).map(({ title, description }) => `${title}\n${description}`);
    return shown.join('\n').replace(/\]\(https:[^)]*\)/g, ']');
  },
  teams: (alerts, context) => {
    const parcel = { destination: destinationOf('webhook', 'https://teams.example.com/x'), alerts };
    const [message] = atOnce(teams.compose(parcel, context, { batch: 1 }));
    const { attachments } = firstIn(message?.body) as { attachments: { content: { body: unknown } }[] };
    return teamsText(attachments[0]?.content.body);
  },
};

const sceneAlerts = (name: string): Alert[] => SCENES.find((scene) => scene.name === name)?.alerts() ?? [];

/** Known for long: nothing is said of a first alert. */
const single = (): Alert[] =>
  sceneAlerts('single').map(({ context: { first: _first, ...known } = {}, ...alert }) => ({
    ...alert,
    context: known,
  }));

const OTHER = `0x${'8fb5262c'.repeat(5)}`;

/** As the service words it, with whole addresses, and a privileged call. */
const wordy = (): Alert[] =>
  ['Meridian Bridge', 'Juno Margin', 'Copper Perps', 'Saffron Yield', 'Tidepool DEX', 'Opal Staking'].map(
    (protocol, index) => {
      const alert = finding({
        ...{
          label: protocol,
          protocol,
          assets: [{ descriptor: 'Pool A', address: OTHER.replace('8', String(index)) }],
        },
        fired: {
          flashLoan: `Flash loan of ${6433420 - index} USDC taken from ${OTHER} and repaid in the same transaction`,
          drasticBalanceChange: `Balance of ${OTHER} changed by ${25 + index}% within one block`,
        },
        hash: `0x${'7ac9e1f0'.repeat(8)}`,
        ...{ origin: OTHER, method: index === 0 ? 'transferOwnership' : 'swap' },
      });
      return { ...alert, context: { adminOf: [], privilegedOn: index === 0 ? ['Pool A'] : [] } };
    },
  );

describe.each(Object.entries(KINDS))('%s', (_kind, show) => {
  const shownOf = (alerts: Alert[], more: Partial<ComposeContext> = {}): string => show(alerts, { ...base, ...more });

  test('a single alert has fifty words at most', () => {
    const shown = shownOf(single());
    expect(shown).toContain('90%');
    expect(wordsOf(shown).length, shown).toBeLessThanOrEqual(50);
  });

  test.each([
    ['the scene', () => sceneAlerts('incident of six'), {}],
    ['what the service says', wordy, {}],
    ['grown', wordy, { grew: { times: 4, at: Date.parse(SENT_AT) + 4000 } }],
  ])('an incident of six protocols has seventy-five at most: %s', (_what, alerts, more) => {
    const shown = shownOf(alerts(), more);
    for (const { protocol } of alerts()) expect(shown).toContain(protocol);
    expect(shown).toContain('6 protocols · one transaction');
    expect(shown.match(/\d+%|\d+ (?:WETH|USDC)/g)?.length).toBeGreaterThanOrEqual(6);
    expect(wordsOf(shown).length, shown).toBeLessThanOrEqual(75);
  });

  test('a digest of twelve has a hundred and sixty at most', () => {
    const shown = shownOf(digest(12));
    expect(shown).toContain('Ownership was transferred');
    expect(wordsOf(shown).length, shown).toBeLessThanOrEqual(160);
  });
});
