/** What a mail program and a terminal show of a mail besides its HTML, drawn as HTML. */
import { escapeHtml } from '../../html.ts';
import { bodyAsJson, objectsIn, textIn } from './json.ts';

/** Columns of the terminal. */
const COLUMNS = 80;

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', zwnj: '', shy: '' };

const decode = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) =>
    name === undefined
      ? String.fromCodePoint(Number.parseInt(decimal ?? hex, decimal ? 10 : 16))
      : (NAMED[name] ?? whole),
  );

/** The first words of the body, hidden or not: what a list of mails shows beside the subject. */
export const mailBeginning = (html: string): string =>
  decode(html.replace(/^[\s\S]*<body[^>]*>/i, '').replace(/<[^>]*>/g, ' '))
    .replace(/[\u00ad\u200b-\u200f\u2007\ufeff]|\u034f/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/** What stands above the mail itself. */
export const mailHeadHtml = (body: unknown): string => {
  const { subject, attachments } = bodyAsJson(body);
  const files = objectsIn(attachments).map(
    ({ filename }) => `<span class="file">${escapeHtml(textIn(filename))}</span>`,
  );
  return `<article class="mail-head"><div class="subject">${escapeHtml(textIn(subject))}</div><div>Tocsin &lt;tocsin@harbor.example&gt; ${files.join(' ')}</div></article>`;
};

/** As a terminal breaks it: anywhere. */
const rowsOf = (line: string): string[] => line.match(new RegExp(`.{1,${COLUMNS}}`, 'gsu')) ?? [''];

/** The text part, as `less` shows it. */
export const terminalHtml = (body: unknown): string => {
  const { subject, text } = bodyAsJson(body);
  const lines = [`Subject: ${textIn(subject)}`, '', ...textIn(text).trimEnd().split('\n')].flatMap(rowsOf);
  return `<pre class="terminal">${escapeHtml(lines.join('\n'))}</pre>`;
};

export const MAIL_STYLE = `
.mail-head{padding:12px 16px;border-bottom:1px solid #d0d4d9;background:#fff;color:#202124;font:14px/20px Roboto,'Liberation Sans',Arial,'Noto Color Emoji',sans-serif;overflow-wrap:anywhere}
.dark .mail-head{border-color:#3c4043;background:#1f2023;color:#e8eaed}
.mail-head .subject{font-size:18px;line-height:24px}
.mail-head .file{padding:2px 8px;border:1px solid #8a8f94;border-radius:10px;font-size:12px}
.terminal{margin:0;padding:12px;border-bottom:12px solid #8a8a8a;background:#1b1d1e;color:#d8dadb;font:13px/18px 'Liberation Mono','DejaVu Sans Mono','Noto Color Emoji',monospace;white-space:pre}
`;
