/** Slack's markup as HTML, as far as our messages could use it. */
import type { JsonObject, JsonValue } from '../../alert.ts';
import { textIn } from '../../channels/outside.ts';
import { escapeHtml } from '../../html.ts';
import { isObject, objectsIn } from './json.ts';
import { type Reader, slackDate } from './reader.ts';

/** A text without Slack's three escapes. */
export const unescapeSlack = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

const linkHtml = (url: string, inner: string): string => `<a href="${escapeHtml(url)}">${inner}</a>`;

/** A day and an hour to a link, a mention or a date, `<...>`. */
const angleHtml = (inside: string, reader: Reader): string => {
  const [, seconds = '', format = '', url, fallback = ''] =
    /^!date\^(\d+)\^([^^|]*)(?:\^([^|]*))?\|(.*)$/s.exec(inside) ?? [];
  if (seconds !== '') {
    const shown = escapeHtml(slackDate(Number(seconds), format, reader) ?? unescapeSlack(fallback));
    return url === undefined ? shown : linkHtml(unescapeSlack(url), shown);
  }
  const [target = '', label] = inside.split(/\|(.*)/s);
  if (/^[!@#]/.test(target)) return `<span class="mention">${escapeHtml(unescapeSlack(label ?? target))}</span>`;
  return linkHtml(unescapeSlack(target), escapeHtml(unescapeSlack(label ?? target)));
};

const STYLES: readonly [pattern: RegExp, tag: string][] = [
  [/(^|[\s([{>])\*(?=\S)([^*\n]*?\S)\*(?=$|[\s).,:;!?\]}<])/gm, 'b'],
  [/(^|[\s([{>])_(?=\S)([^_\n]*?\S)_(?=$|[\s).,:;!?\]}<])/gm, 'i'],
  [/(^|[\s([{>])~(?=\S)([^~\n]*?\S)~(?=$|[\s).,:;!?\]}<])/gm, 's'],
];

const styled = (text: string, reader: Reader): string => {
  const parts = text.split(/(<[^<>]*>|`[^`\n]+`)/).map((part) => {
    if (part.startsWith('<') && part.endsWith('>')) return angleHtml(part.slice(1, -1), reader);
    if (/^`[^`]+`$/.test(part)) return `<code>${escapeHtml(unescapeSlack(part.slice(1, -1)))}</code>`;
    return escapeHtml(unescapeSlack(part));
  });
  const html = STYLES.reduce(
    (shown, [pattern, tag]) => shown.replace(pattern, `$1<${tag}>$2</${tag}>`),
    parts.join(''),
  );
  return html.replace(/^&gt; ?(.*)$/gm, '<span class="quote">$1</span>');
};

/** `mrkdwn`. Nothing in a fence is formatting. */
export const mrkdwnHtml = (text: string, reader: Reader): string =>
  text
    .split(/```\n?([\s\S]*?)\n?```/)
    .map((part, index) => (index % 2 === 1 ? `<pre>${escapeHtml(unescapeSlack(part))}</pre>` : styled(part, reader)))
    .join('');

/** A text without markup: the three escapes of Slack hold there, too. */
export const plainHtml = (text: string): string => escapeHtml(unescapeSlack(text));

/** A text object. */
export const textHtml = (value: JsonValue | undefined, reader: Reader): string => {
  if (!isObject(value)) return '';
  return value.type === 'mrkdwn' ? mrkdwnHtml(textIn(value.text), reader) : plainHtml(textIn(value.text));
};

const TAGS: Readonly<Record<string, string>> = { bold: 'b', italic: 'i', strike: 's', underline: 'u', code: 'code' };

const withStyle = (html: string, style: JsonValue | undefined): string =>
  Object.entries(isObject(style) ? style : {}).reduce(
    (inner, [name, isOn]) => (isOn === true && TAGS[name] ? `<${TAGS[name]}>${inner}</${TAGS[name]}>` : inner),
    html,
  );

const elementHtml = (element: JsonObject, reader: Reader): string => {
  const { type, style } = element;
  if (type === 'link') {
    const url = textIn(element.url);
    return linkHtml(url, withStyle(escapeHtml(textIn(element.text) || url), style));
  }
  if (type === 'date') {
    const shown = slackDate(Number(element.timestamp), textIn(element.format), reader) ?? textIn(element.fallback);
    return withStyle(escapeHtml(shown), style);
  }
  if (type === 'text') return withStyle(escapeHtml(textIn(element.text)), style);
  const named = element.range ?? element.user_id ?? element.channel_id ?? element.name ?? element.value;
  return `<span class="mention">${escapeHtml(textIn(named))}</span>`;
};

const elementsHtml = ({ elements }: JsonObject, reader: Reader): string =>
  objectsIn(elements)
    .map((each) => elementHtml(each, reader))
    .join('');

const partHtml = (part: JsonObject, reader: Reader): string => {
  switch (part.type) {
    case 'rich_text_quote':
      return `<blockquote>${elementsHtml(part, reader)}</blockquote>`;
    case 'rich_text_preformatted':
      return `<pre>${elementsHtml(part, reader)}</pre>`;
    case 'rich_text_list': {
      const tag = part.style === 'ordered' ? 'ol' : 'ul';
      const items = objectsIn(part.elements).map((item) => `<li>${elementsHtml(item, reader)}</li>`);
      return `<${tag}>${items.join('')}</${tag}>`;
    }
    default:
      return `<div class="rich">${elementsHtml(part, reader)}</div>`;
  }
};

/** The parts of a `rich_text` block. */
export const richTextHtml = ({ elements }: JsonObject, reader: Reader): string =>
  objectsIn(elements)
    .map((part) => partHtml(part, reader))
    .join('');
