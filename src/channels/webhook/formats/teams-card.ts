/**
 * Adaptive cards as Teams takes them from a workflow. Text from outside stands in a `TextRun`, which knows no markdown.
 * Source: https://adaptivecards.io/explorer/TextRun.html,
 * https://learn.microsoft.com/microsoftteams/platform/task-modules-and-cards/cards/cards-reference and
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using (28 kB)
 */
import { shorten } from '../../../text.ts';
import type { Line, Piece } from '../../content/content.ts';
import type { Tone } from '../../content/severity.ts';
import type { WebhookRequest } from './format.ts';

/** Teams refuses 28 kB, counted after it has added to the card: by about a fifth (MicrosoftDocs/msteams-docs#11274). */
export const CARD_BYTES = 20_000;

export interface Run {
  type: 'TextRun';
  text: string;
  weight?: 'Bolder';
  size?: 'Medium';
  isSubtle?: true;
  fontType?: 'Monospace';
  selectAction?: { type: 'Action.OpenUrl'; url: string };
}

export type Block =
  | { type: 'RichTextBlock'; inlines: readonly Run[]; spacing?: 'None' | 'Small' | undefined }
  | {
      type: 'Container';
      items: readonly Block[];
      style?: 'attention' | 'warning' | 'good' | 'accent' | 'emphasis' | 'default';
      bleed?: true;
      id?: string;
      isVisible?: false;
      spacing?: 'Small';
    };

export type Action =
  | { type: 'Action.OpenUrl'; title: string; url: string }
  | { type: 'Action.ToggleVisibility'; title: string; targetElements: readonly string[] };

const STYLES: Record<Tone, 'attention' | 'warning' | 'good' | 'accent' | 'default'> = {
  critical: 'attention',
  suspicious: 'warning',
  calm: 'good',
  news: 'accent',
  trouble: 'warning',
  test: 'default',
};

type Look = Omit<Run, 'type' | 'text'>;

/** `{{DATE(...)}}` and `{{TIME(...)}}` would be drawn as a time, but not in two runs. */
const DRAWN = /(?<=\{)(?=\{\s*(?:DATE|TIME)\b)/i;

/** An empty text is no run. */
export const run = (text: string, look: Look = {}): Run[] =>
  text === '' ? [] : text.split(DRAWN).map((part) => ({ type: 'TextRun', text: part, ...look }));

/** Linked where there is a URL that Teams takes. */
export const linkRun = (text: string, url: string | undefined, look: Look = {}): Run[] =>
  url !== undefined && URL.parse(url)?.protocol === 'https:'
    ? run(text, { ...look, selectAction: { type: 'Action.OpenUrl', url } })
    : run(text, look);

/** Of a value from outside, which may be as long as it likes. */
export const VALUE_LIMIT = 300;

const runOf = ({ text, url, code, copy }: Piece): Run[] => {
  if (url !== undefined) return linkRun(text, url);
  return code ? run(shorten(copy ?? text, VALUE_LIMIT), { fontType: 'Monospace' }) : run(text);
};

/** One line; nothing where it is empty. */
export const block = (inlines: readonly Run[], spacing?: 'None' | 'Small'): Block[] =>
  inlines.length === 0 ? [] : [{ type: 'RichTextBlock', inlines, spacing }];

/** A line of several parts. */
export const small = (...parts: readonly Run[][]): Block[] => block(parts.flat(), 'Small');

export const lineBlock = (line: Line): Block[] => small(...line.map(runOf));

/** The coloured head of a card. */
export const headBlock = (tone: Tone, title: string): Block => ({
  type: 'Container',
  style: STYLES[tone],
  bleed: true,
  items: block(run(title, { weight: 'Bolder', size: 'Medium' })),
});

/** What is said by others. */
export const quoteBlock = (items: readonly Block[]): Block[] =>
  items.length === 0 ? [] : [{ type: 'Container', style: 'emphasis', items, spacing: 'Small' }];

const ACTIONS_MAX = 6;

/** `fallback`: for a client that draws no cards. */
export const cardRequest = (
  fallback: string,
  body: readonly Block[],
  actions: readonly Action[] = [],
): WebhookRequest => ({
  text: JSON.stringify({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          fallbackText: fallback,
          msteams: { width: 'Full' },
          body,
          ...(actions.length === 0 ? {} : { actions: actions.slice(0, ACTIONS_MAX) }),
        },
      },
    ],
  }),
});

export const fitsCard = ({ text }: WebhookRequest): boolean => Buffer.byteLength(text) <= CARD_BYTES;
