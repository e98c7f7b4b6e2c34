/** How many words a reader gets of each scene: at a glance, and with what is folded away. */
import type { HumanKind } from '../../src/alert.ts';
import { SCENES } from '../../src/features/preview/scenes.ts';
import { slackHtml } from '../../src/sandbox/screens/slack.ts';
import { telegramHtml } from '../../src/sandbox/screens/telegram.ts';
import type { SceneChannels } from '../../test/support/scenes.ts';
import type { Artist } from './draw.ts';
import { READER } from './surfaces.ts';

export interface WordCount {
  glance: number;
  whole: number;
}

/** By scene, then by kind. */
export type WordCounts = Record<string, Record<string, WordCount>>;

interface Counted {
  name: string;
  html(body: unknown): string;
  /** Where the message itself stands. */
  message: string;
  /** What is folded away. */
  folded: string;
}

const htmlOf = (body: unknown): string =>
  typeof body === 'object' && body !== null && 'html' in body ? String(body.html) : '';

/** The last part of a mail, which has the details, or the others of a digest; and the small print at its end. */
const BELOW = '.card > hr:last-of-type ~ *, [role=contentinfo]';

const COUNTED: Readonly<Record<HumanKind, Counted>> = {
  slack: {
    ...{ name: 'slack', message: '.words', folded: '.attachment, .more' },
    html: (body) => slackHtml(body, READER),
  },
  telegram: {
    ...{ name: 'telegram', message: '.words', folded: 'blockquote[expandable]' },
    html: (body) => telegramHtml(body, READER),
  },
  email: { ...{ name: 'mail', message: 'body', folded: BELOW }, html: htmlOf },
};

export const wordsOf = (text: string): number => text.match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0;

export const countWords = async ({ textsIn }: Artist, { compose }: SceneChannels): Promise<WordCounts> => {
  const counts: WordCounts = {};
  for (const scene of SCENES) {
    const row: Record<string, WordCount> = {};
    for (const [kind, { name, html, message, folded }] of Object.entries(COUNTED) as [HumanKind, Counted][]) {
      const sum = { glance: 0, whole: 0 };
      const messages = compose(kind, scene);
      if (messages.length === 0) continue;
      for (const { body } of messages) {
        const { whole, glance } = await textsIn(html(body), { message, folded });
        sum.glance += wordsOf(glance);
        sum.whole += wordsOf(whole);
      }
      row[name] = sum;
    }
    counts[scene.name] = row;
  }
  return counts;
};
