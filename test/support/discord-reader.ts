/**
 * Reads a message of Discord as a client does: what is shown, and everything that can be clicked or that calls somebody.
 * By the rules of https://support.discord.com/hc/en-us/articles/210298617 and Discord's "Message Formatting".
 */
import type { Shown } from '../contract/contestant.ts';

interface Rule {
  at: RegExp;
  show(match: RegExpExecArray): string;
  active?(match: RegExpExecArray): string;
}

/** In this order, at each place of the text. */
const RULES: readonly Rule[] = [
  { at: /\\([^0-9A-Za-z\s])/y, show: ([, sign = '']) => sign },
  { at: /`([^`\n]+)`/y, show: ([, code = '']) => code },
  {
    at: /\[((?:\\.|[^\]\\])+)\]\((https?:\/\/[^\s()]+)\)/y,
    show: ([, label = '']) => readMarkup(label).text,
    active: ([, , url = '']) => url,
  },
  { at: /<t:(\d+)(?::[tTdDfFR])?>/y, show: ([, unix = '0']) => new Date(Number(unix) * 1000).toISOString() },
  { at: /<[^>\s]+>/y, show: ([all]) => all, active: ([all]) => all },
  { at: /(?:https?|steam|discord):\/\/[^\s<]+/y, show: ([all]) => all, active: ([all]) => all },
  { at: /@(?:everyone|here)/y, show: ([all]) => all, active: ([all]) => all },
  { at: /:\w+:/y, show: ([all]) => all, active: ([all]) => all },
  { at: /\*\*((?:\\.|[^*\\])+)\*\*/y, show: ([, bold = '']) => readMarkup(bold).text },
  { at: /\|\||\*|__?|~~|`/y, show: () => '', active: ([all]) => `unescaped ${all}` },
];

/** No rule begins with any of these. */
const PLAIN = /[^\\`[<hsd@:*|_~]+/y;

const readMarkup = (text: string): Shown => {
  let shown = '';
  const active: string[] = [];
  for (let at = 0; at < text.length; ) {
    PLAIN.lastIndex = at;
    const [plain = ''] = PLAIN.exec(text) ?? [];
    shown += plain;
    at += plain.length;
    const rule = RULES.find((one) => {
      one.at.lastIndex = at;
      return one.at.test(text);
    });
    if (rule === undefined) {
      shown += text[at] ?? '';
      at += 1;
      continue;
    }
    rule.at.lastIndex = at;
    const match = rule.at.exec(text);
    if (match === null) throw new Error('it matched before');
    shown += rule.show(match);
    if (rule.active) active.push(rule.active(match));
    at += match[0].length;
  }
  return { text: shown, active };
};

/** A line that begins a heading, a list or a quotation; of quotations the text is read on. */
const readLine = (line: string): Shown => {
  const quoted = /^> (.*)$/s.exec(line)?.[1];
  if (quoted !== undefined) return readLine(quoted);
  const block = /^\s*(?:#{1,3} |-# |>>> |[-*+] |\d+[.)] )/.exec(line)?.[0];
  const { text, active } = readMarkup(line);
  return { text, active: block === undefined ? active : [...active, `block ${block}`] };
};

const readText = (text: string): Shown => {
  const lines = text.split('\n').map(readLine);
  return { text: lines.map((line) => line.text).join('\n'), active: lines.flatMap(({ active }) => active) };
};

interface DiscordMessage {
  content?: string;
  embeds?: { title?: string; description?: string }[];
}

export const readDiscord = ({ content = '', embeds = [] }: DiscordMessage): Shown => {
  const parts = [content, ...embeds.flatMap(({ title = '', description = '' }) => [title, description])].map(readText);
  return {
    text: parts.map(({ text }) => text).join('\n'),
    active: parts.flatMap(({ active }) => active),
    // A link has the whole hash that its text shortens.
    files: parts.flatMap(({ active }) => active),
  };
};
