/** What a locked phone shows of a message, drawn as HTML: a few lines, and nothing that can be tapped. */
import { textIn } from '../../src/channels/content/foreign.ts';
import { bodyAsJson } from '../../src/sandbox/screens/reader.ts';
import { unescapeSlack } from '../../src/sandbox/screens/slack.ts';
import { escapeHtml, unescapeHtml } from '../../src/text.ts';

export interface LockScreenBodies {
  slack: unknown;
  telegram: unknown;
  email: unknown;
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', zwnj: '', shy: '' };

const decoded = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) =>
    name === undefined
      ? String.fromCodePoint(Number.parseInt(decimal ?? hex, decimal ? 10 : 16))
      : (NAMED[name] ?? whole),
  );

/** The first words of the body, hidden or not: what a list of mails shows beside the subject. */
const mailBeginning = (html: string): string =>
  decoded(html.replace(/^[\s\S]*<body[^>]*>/i, '').replace(/<[^>]*>/g, ' '))
    .replace(/[\u00ad\u200b-\u200f\u2007\ufeff]|\u034f/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/** Slack's text without its markup. */
const slackPush = (body: unknown): string =>
  unescapeSlack(
    textIn(bodyAsJson(body).text)
      .replace(/<[^<>|]*\|([^<>]*)>/g, '$1')
      .replace(/<([^<>]*)>/g, '$1'),
  );

const telegramPush = (body: unknown): string => {
  const { text, parse_mode: mode } = bodyAsJson(body);
  return mode === 'HTML' ? unescapeHtml(textIn(text).replace(/<[^>]*>/g, '')) : textIn(text);
};

const card = (app: string, from: string, lines: readonly (readonly [text: string, most: number])[]): string =>
  `<div class="card"><div class="app"><span>${app}</span><span>now</span></div><b>${escapeHtml(from)}</b>${lines
    .map(([text, most]) => `<div class="line" style="-webkit-line-clamp:${most}">${escapeHtml(text)}</div>`)
    .join('')}</div>`;

export const lockScreenHtml = ({ slack, telegram, email }: LockScreenBodies): string => {
  const mail = bodyAsJson(email);
  return `<article class="lock">${[
    card('SLACK', 'Tocsin in #alerts', [[slackPush(slack), 3]]),
    card('TELEGRAM', 'Alerts · Tocsin', [[telegramPush(telegram), 4]]),
    card('MAIL', 'Tocsin', [
      [textIn(mail.subject), 1],
      [mailBeginning(textIn(mail.html)), 2],
    ]),
  ].join('')}</article>`;
};

export const LOCK_STYLE = `
.lock{width:370px;padding:12px 10px;background:#2f2c4a;font:15px/20px 'Liberation Sans',Arial,'Noto Color Emoji',sans-serif;color:#000}
.lock .card{margin:8px 0;padding:10px 12px;border-radius:16px;background:#dedfe6}
.lock .app{display:flex;justify-content:space-between;color:#55565c;font-size:12px}
.lock .line{display:-webkit-box;-webkit-box-orient:vertical;overflow:hidden;white-space:pre-line;overflow-wrap:anywhere}
`;
