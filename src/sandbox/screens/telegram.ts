/**
 * A message as Telegram shows it, drawn as HTML: about right in its colours and sizes, exact in its words. Its markup is
 * HTML already; what a browser does not know of it is times, and quotes that unfold.
 */
import type { JsonObject } from '../json.ts';
import { bodyAsJson, escapeHtml, objectsIn, type Reader, telegramDate, textIn, timeOf } from './reader.ts';

const TIME = /<tg-time\s+unix="(\d+)"(?:\s+format="(\w*)")?\s*>([^<]*)<\/tg-time>/g;

const markedUp = (text: string, reader: Reader): string =>
  text
    .replace(TIME, (_whole, seconds: string, format: string | undefined, shown: string) =>
      telegramDate(Number(seconds), format ?? '', shown, reader),
    )
    .replace(/<tg-spoiler>/g, '<span class="spoiler">')
    .replace(/<\/tg-spoiler>/g, '</span>')
    // A line feed beside a block is the block's own in the apps.
    .replace(/\n(?=<(?:blockquote|pre))/g, '')
    .replace(/(<\/(?:blockquote|pre)>)\n/g, '$1');

const rowsOf = ({ reply_markup: markup }: JsonObject): string => {
  const keyboard = objectsIn([markup ?? null]).flatMap(({ inline_keyboard: rows }) =>
    Array.isArray(rows) ? rows : [],
  );
  return keyboard
    .map(
      (row) =>
        `<div class="row">${objectsIn(row)
          .map(({ text }) => `<span class="button">${escapeHtml(textIn(text))}</span>`)
          .join('')}</div>`,
    )
    .join('');
};

const fileHtml = ({ name, text }: JsonObject): string =>
  `<div class="file"><b>${escapeHtml(textIn(name))}</b><br>${textIn(text).length.toLocaleString('en')} characters</div>`;

const bubble = (inner: string, rows: string, reader: Reader): string =>
  `<article class="telegram"><div class="bubble"><div class="name">Tocsin</div>${inner}<time>${timeOf(reader.now, reader, false)}</time></div>${rows}</article>`;

export const telegramHtml = (body: unknown, reader: Reader): string => {
  const message = bodyAsJson(body);
  const { text, parse_mode: mode, file } = message;
  const show = (words: string): string =>
    `<div class="words">${mode === 'HTML' ? markedUp(words, reader) : escapeHtml(words)}</div>`;
  const files = objectsIn([file ?? null]).map(fileHtml);
  return bubble(`${files.join('')}${show(textIn(text))}`, rowsOf(message), reader);
};

export const TELEGRAM_STYLE = `
.telegram{padding:6px 8px;font:15px/20px Roboto,'Liberation Sans',Arial,'Noto Color Emoji',sans-serif}
.telegram{--page:#fff;--ink:#000;--soft:#8a9096;--link:#168acd;--name:#3a8fc9;--bar:#3a8fc9;--paper:#edf5fb;--press:rgba(60,110,70,.35)}
.dark .telegram{--page:#182533;--ink:#f5f5f5;--soft:#6d7f8f;--link:#6ab3f3;--name:#71baf2;--bar:#71baf2;--paper:#1f3347;--press:rgba(90,130,160,.3)}
.telegram .bubble{position:relative;padding:7px 10px 18px;border-radius:12px;background:var(--page);color:var(--ink);overflow-wrap:anywhere}
.telegram .name{color:var(--name);font-weight:700}
.telegram .words{white-space:pre-wrap}
.telegram a{color:var(--link);text-decoration:none}
.telegram code,.telegram pre{margin:0;color:var(--link);font:14px/20px 'Liberation Mono',monospace;white-space:pre-wrap}
.telegram blockquote{position:relative;margin:2px 0;padding:3px 18px 3px 8px;border-left:3px solid var(--bar);border-radius:4px;background:var(--paper);font-size:14px;line-height:18px}
.telegram blockquote[expandable]{max-height:54px;overflow:hidden}
.telegram blockquote[expandable]::after{content:'⌄';position:absolute;right:6px;bottom:2px;color:var(--bar);font-weight:700}
.telegram .spoiler{background:var(--soft);color:transparent}
.telegram time{position:absolute;right:10px;bottom:3px;color:var(--soft);font-size:12px}
.telegram .file{margin:4px 0;padding:6px 10px;border-radius:8px;background:var(--paper);font-size:14px}
.telegram .row{display:flex;gap:4px;margin-top:4px}
.telegram .row span{flex:1;padding:8px 6px;border-radius:8px;background:var(--press);color:#fff;font-size:14px;font-weight:700;text-align:center}
.telegram-page{background:#cfdcc0}
.telegram-page.dark{background:#0e1621}
`;
