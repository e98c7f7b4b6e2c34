/** Composed messages as people see them: a page that opens in a browser, and text for a terminal. */

import type { ReceiverKind } from '../receivers/received.ts';
import { bodyAsJson, escapeHtml, objectsIn, type Reader, textIn, unescapeHtml } from './reader.ts';
import { SLACK_STYLE, slackHtml } from './slack.ts';
import { TELEGRAM_STYLE, telegramHtml } from './telegram.ts';

/** What a mail program shows above the mail itself. */
export const mailHeadHtml = (body: unknown): string => {
  const { subject, attachments } = bodyAsJson(body);
  const files = objectsIn(attachments).map(
    ({ filename }) => `<span class="file">${escapeHtml(textIn(filename))}</span>`,
  );
  return `<article class="mail-head"><div class="subject">${escapeHtml(textIn(subject))}</div><div>Tocsin &lt;tocsin@harbor.example&gt; ${files.join(' ')}</div></article>`;
};

const MAIL_STYLE = `
.mail-head{padding:12px 16px;border-bottom:1px solid #d0d4d9;background:#fff;color:#202124;font:14px/20px Roboto,'Liberation Sans',Arial,'Noto Color Emoji',sans-serif;overflow-wrap:anywhere}
.dark .mail-head{border-color:#3c4043;background:#1f2023;color:#e8eaed}
.mail-head .subject{font-size:18px;line-height:24px}
.mail-head .file{padding:2px 8px;border:1px solid #8a8f94;border-radius:10px;font-size:12px}
`;

const mailHtml = (body: unknown): string => {
  const { html, text } = bodyAsJson(body);
  const shown = typeof html === 'string' ? html : `<pre>${escapeHtml(textIn(text))}</pre>`;
  return `${mailHeadHtml(body)}<iframe sandbox="" title="the mail" srcdoc="${escapeHtml(shown)}"></iframe>`;
};

const mailText = (body: unknown): string => {
  const { subject, text } = bodyAsJson(body);
  return `Subject: ${textIn(subject)}\n\n${textIn(text).trimEnd()}`;
};

const jsonText = (body: unknown): string => JSON.stringify(bodyAsJson(body), null, 2);

const PAGE_STYLE = `
body{margin:0;background:#fff}
main{max-width:720px;margin:0 auto}
iframe{width:100%;height:90vh;border:0}
pre{padding:12px;white-space:pre-wrap;overflow-wrap:anywhere}
`;

/** Breaks the line where a browser would. */
const BLOCK_END = /<\/(?:div|p|section|header|blockquote|pre|li|h\d|tr|article)>|<br ?\/?>|(?<=.)(?=<blockquote)/g;

const textOfHtml = (html: string): string =>
  unescapeHtml(
    html
      .replace(/<header>[\s\S]*?<\/header>|<div class="(?:avatar|name)">[^<]*<\/div>|<time>[^<]*<\/time>/g, '')
      .replace(BLOCK_END, '\n')
      .replace(/<span class="button[^>]*>([^<]*)<\/span>/g, '[$1] ')
      .replace(/<[^>]*>/g, ''),
  )
    .replace(/[^\S\n]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

interface Drawing {
  style: string;
  /** For a browser. */
  html(body: unknown, reader: Reader): string;
  /** For a terminal. Default: the text of the HTML. */
  text?(body: unknown): string;
}

const DRAWINGS: Readonly<Record<ReceiverKind, Drawing>> = {
  email: { style: MAIL_STYLE, html: mailHtml, text: mailText },
  slack: { style: SLACK_STYLE, html: slackHtml },
  telegram: { style: TELEGRAM_STYLE, html: telegramHtml },
  webhook: { style: '', html: (body) => `<pre>${escapeHtml(jsonText(body))}</pre>`, text: jsonText },
};

/** Of every kind's messages. */
export const SCREEN_STYLE = Object.values(DRAWINGS).reduce((all, { style }) => all + style, '');

/** One kind's messages as a whole HTML document that loads nothing. */
export const previewPage = (kind: ReceiverKind, bodies: readonly unknown[], reader: Reader): string => {
  const messages = bodies.map((body) => DRAWINGS[kind].html(body, reader)).join('\n');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tocsin: a preview for ${kind}</title><style>${PAGE_STYLE}${SCREEN_STYLE}</style></head>
<body class="${kind}-page"><main>${messages}</main></body></html>
`;
};

/** One message as plain text. */
export const previewText = (kind: ReceiverKind, body: unknown, reader: Reader): string =>
  DRAWINGS[kind].text?.(body) ?? textOfHtml(DRAWINGS[kind].html(body, reader));
