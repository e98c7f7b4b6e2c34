/** Reads a card of Teams as a client draws it, folded parts included: what is shown, and what can be clicked. */
import type { Shown } from '../contract/contestant.ts';

interface Node {
  type?: string;
  text?: string;
  url?: string;
  inlines?: Node[];
  selectAction?: Node;
  [key: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** Of these Teams reads the text as markdown. */
const MARKDOWN = new Set(['TextBlock', 'Fact']);

const read = (value: unknown): Shown[] => {
  if (Array.isArray(value)) return value.flatMap(read);
  if (!isNode(value)) return [];
  const { type = '', text = '', url, inlines } = value;
  if (MARKDOWN.has(type)) return [{ text, active: [`markdown: ${text}`] }];
  if (inlines !== undefined) {
    const runs = inlines.flatMap(read);
    return [
      {
        text: runs
          .map((run) => run.text)
          .join('')
          .trimEnd(),
        active: runs.flatMap(({ active }) => active),
      },
    ];
  }
  if (type === 'TextRun') {
    const dates = /\{\{(?:DATE|TIME)\(/.test(text) ? [`date: ${text}`] : [];
    return [{ text, active: [...dates, ...(value.selectAction?.url === undefined ? [] : [value.selectAction.url])] }];
  }
  return [...(url === undefined ? [] : [{ text: '', active: [url] }]), ...Object.values(value).flatMap(read)];
};

export const readTeams = (message: unknown): Shown => {
  const parts = read(message);
  return {
    text: parts.map(({ text }) => text).join('\n'),
    active: parts.flatMap(({ active }) => active),
    // A link has the whole hash that its text shortens.
    files: parts.flatMap(({ active }) => active),
  };
};
