/** What a locked phone shows of a message, drawn as HTML: a few lines, and nothing that can be tapped. */
import type { HumanKind } from '../../src/alert.ts';
import { textIn } from '../../src/channels/content/foreign.ts';
import { bodyAsJson, unescapeHtml } from '../../src/sandbox/screens/reader.ts';
import { unescapeSlack } from '../../src/sandbox/screens/slack.ts';
import { escapeHtml } from '../../src/text.ts';

export type LockScreenBodies = Record<HumanKind, unknown>;

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

const mailCard = (body: unknown): string => {
  const { subject, html } = bodyAsJson(body);
  const lines = [[textIn(subject), 1] as const, [mailBeginning(textIn(html)), 2] as const];
  return card('MAIL', 'Tocsin', lines);
};

const CARDS: Readonly<Record<HumanKind, (body: unknown) => string>> = {
  slack: (body) => card('SLACK', 'Tocsin in #alerts', [[slackPush(body), 3]]),
  telegram: (body) => card('TELEGRAM', 'Alerts · Tocsin', [[telegramPush(body), 4]]),
  email: mailCard,
};

const KINDS = Object.keys(CARDS) as HumanKind[];

/** `bodyOf`: of each kind's message. */
export const lockScreenBodies = (bodyOf: (kind: HumanKind) => unknown): LockScreenBodies =>
  Object.fromEntries(KINDS.map((kind) => [kind, bodyOf(kind)])) as LockScreenBodies;

export const lockScreenHtml = (bodies: LockScreenBodies): string =>
  `<article class="lock">${KINDS.map((kind) => CARDS[kind](bodies[kind])).join('')}</article>`;

export const LOCK_STYLE = `
.lock{width:370px;padding:12px 10px;background:#2f2c4a;font:15px/20px 'Liberation Sans',Arial,'Noto Color Emoji',sans-serif;color:#000}
.lock .card{margin:8px 0;padding:10px 12px;border-radius:16px;background:#dedfe6}
.lock .app{display:flex;justify-content:space-between;color:#55565c;font-size:12px}
.lock .line{display:-webkit-box;-webkit-box-orient:vertical;overflow:hidden;white-space:pre-line;overflow-wrap:anywhere}
`;
