/** A message as Slack shows it, drawn as HTML: about right in its colours and sizes, exact in its words. */
import { isObject, type JsonObject, type JsonValue } from '../json.ts';
import { bodyAsJson, escapeHtml, objectsIn, type Reader, slackDate, textIn, timeOf } from './reader.ts';

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
const mrkdwnHtml = (text: string, reader: Reader): string =>
  text
    .split(/```\n?([\s\S]*?)\n?```/)
    .map((part, index) => (index % 2 === 1 ? `<pre>${escapeHtml(unescapeSlack(part))}</pre>` : styled(part, reader)))
    .join('');

/** A text without markup: the three escapes of Slack hold there, too. */
const plainHtml = (text: string): string => escapeHtml(unescapeSlack(text));

/** A text object. */
const textHtml = (value: JsonValue | undefined, reader: Reader): string => {
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
const richTextHtml = ({ elements }: JsonObject, reader: Reader): string =>
  objectsIn(elements)
    .map((part) => partHtml(part, reader))
    .join('');

const buttonHtml = (button: JsonObject, reader: Reader): string =>
  `<span class="button ${escapeHtml(textIn(button.style))}">${textHtml(button.text, reader)}</span>`;

const sectionHtml = ({ text, fields, accessory }: JsonObject, reader: Reader): string => {
  const columns = objectsIn(fields).map((field) => `<div>${textHtml(field, reader)}</div>`);
  return [
    ...(accessory === undefined ? [] : objectsIn([accessory]).map((one) => buttonHtml(one, reader))),
    ...(text === undefined ? [] : [`<div>${textHtml(text, reader)}</div>`]),
    ...(columns.length === 0 ? [] : [`<div class="fields">${columns.join('')}</div>`]),
  ].join('');
};

const blockHtml = (block: JsonObject, reader: Reader): string => {
  const { elements, text } = block;
  switch (block.type) {
    case 'header':
      return `<h3>${textHtml(text, reader)}</h3>`;
    case 'divider':
      return '<hr>';
    case 'section':
      return `<section>${sectionHtml(block, reader)}</section>`;
    case 'context':
      return `<small>${objectsIn(elements)
        .map((element) => `<span>${textHtml(element, reader)}</span>`)
        .join('')}</small>`;
    case 'actions':
      return `<div class="actions">${objectsIn(elements)
        .map((element) => buttonHtml(element, reader))
        .join('')}</div>`;
    case 'rich_text':
      return `<section>${richTextHtml(block, reader)}</section>`;
    default:
      return `<section>${escapeHtml(`[${textIn(block.type)}] ${textIn(text)}`)}</section>`;
  }
};

const blocksHtml = (blocks: JsonValue | undefined, reader: Reader): string =>
  objectsIn(blocks)
    .map((block) => blockHtml(block, reader))
    .join('');

const COLORS: Readonly<Record<string, string>> = { good: '#2eb886', warning: '#daa038', danger: '#a30200' };

/**
 * An attachment is collapsed from so much on. Source: https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments,
 * which says it of `text`, and of everything in an attachment that it may be hidden behind "Show more"; of blocks outside it is not.
 */
const FOLDED = { characters: 700, breaks: 5 };

const isFolded = (html: string): boolean => {
  const text = html.replace(/<[^>]*>/g, '');
  return text.length >= FOLDED.characters || text.split('\n').length > FOLDED.breaks;
};

const attachmentHtml = ({ color, blocks, text }: JsonObject, reader: Reader): string => {
  const named = COLORS[textIn(color)] ?? textIn(color);
  const bar = /^#[0-9a-f]{3,6}$/i.test(named) ? named : '#dddddd';
  const shown = blocks === undefined ? mrkdwnHtml(textIn(text), reader) : blocksHtml(blocks, reader);
  const attachment = `<div class="attachment" style="border-left-color:${bar}">${shown}</div>`;
  return isFolded(shown) ? `<div class="folded">${attachment}</div><a class="more">Show more</a>` : attachment;
};

const fileHtml = ({ name, text }: JsonObject): string =>
  `<div class="file"><b>${escapeHtml(textIn(name))}</b><br>${textIn(text).length.toLocaleString('en')} characters, in the thread</div>`;

const FRAME = { app: 'Tocsin', avatar: 'T' };

/** One message, with who sent it and when. */
export const slackHtml = (body: unknown, reader: Reader): string => {
  const { text, blocks, attachments, file, mrkdwn } = bodyAsJson(body);
  const plain = mrkdwn === false ? plainHtml(textIn(text)) : mrkdwnHtml(textIn(text), reader);
  const shown = blocks === undefined && attachments === undefined ? `<section>${plain}</section>` : '';
  return `<article class="slack"><div class="avatar">${FRAME.avatar}</div><div class="message">
<header><b>${FRAME.app}</b> <span class="app">APP</span> <time>${timeOf(reader.now, reader, false)}</time></header>
<div class="words">${shown}${blocksHtml(blocks, reader)}${objectsIn(attachments)
    .map((one) => attachmentHtml(one, reader))
    .join('')}</div>${objectsIn([file ?? null])
    .map(fileHtml)
    .join('')}</div></article>`;
};

export const SLACK_STYLE = `
.slack{display:flex;gap:8px;padding:8px 16px;background:var(--page);color:var(--ink);font:15px/22px Lato,'Liberation Sans',Arial,'Noto Color Emoji',sans-serif}
.slack{--page:#fff;--ink:#1d1c1d;--soft:#616061;--link:#1264a3;--line:#dddddd;--code:#c01343;--paper:#f8f8f8;--press:#fff}
.dark .slack{--page:#1a1d21;--ink:#d1d2d3;--soft:#ababad;--link:#1d9bd1;--line:#565856;--code:#e8912d;--paper:#222529;--press:#222529}
.slack .avatar{flex:none;width:36px;height:36px;border-radius:4px;background:#4a154b;color:#fff;font-weight:700;line-height:36px;text-align:center}
.slack .message{min-width:0;flex:1;overflow-wrap:anywhere}
.slack .app{padding:0 3px;border-radius:2px;background:var(--line);font-size:10px}
.slack time{margin-left:4px;color:var(--soft);font-size:12px}
.slack a{color:var(--link);text-decoration:none}
.slack h3{margin:4px 0 6px;font-size:18px;line-height:24px;white-space:pre-wrap}
.slack section{margin:4px 0;white-space:pre-wrap}
.slack .fields{display:grid;grid-template-columns:1fr 1fr;gap:8px}
.narrow .slack .fields{grid-template-columns:1fr}
.slack small{display:flex;flex-wrap:wrap;gap:0 8px;margin:4px 0;color:var(--soft);font-size:13px;line-height:18px;white-space:pre-wrap}
.slack hr{margin:8px 0;border:0;border-top:1px solid var(--line)}
.slack .actions{display:flex;flex-wrap:wrap;gap:6px;margin:6px 0}
.slack .button{display:inline-block;padding:3px 11px;border:1px solid var(--line);border-radius:8px;background:var(--press);font-size:13px;font-weight:700}
.slack .button.primary{border-color:#007a5a;background:#007a5a;color:#fff}
.slack .button.danger{border-color:#e01e5a;background:#e01e5a;color:#fff}
.slack code{padding:2px 3px 1px;border:1px solid var(--line);border-radius:3px;background:var(--paper);color:var(--code);font:12px/1.5 'Liberation Mono',monospace}
.slack pre{margin:4px 0;padding:8px;border:1px solid var(--line);border-radius:4px;background:var(--paper);font:12px/1.5 'Liberation Mono',monospace;white-space:pre-wrap}
.slack blockquote,.slack .quote{display:block;margin:2px 0;padding-left:12px;border-left:4px solid var(--line);border-radius:2px}
.slack ul,.slack ol{margin:2px 0;padding-left:26px}
.slack .mention{border-radius:3px;background:#fde9b8;color:#1d1c1d}
.slack .attachment{margin:4px 0;padding:2px 0 2px 12px;border-left:4px solid;border-radius:4px}
.slack .folded{max-height:118px;overflow:hidden}
.slack .file{margin:6px 0;padding:8px 12px;border:1px solid var(--line);border-radius:8px;font-size:13px;line-height:18px}
`;
