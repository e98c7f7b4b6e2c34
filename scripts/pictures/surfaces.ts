/** The places where people read messages: each draws the messages of some scenes. A new kind of message is one more entry. */
import type { HumanKind } from '../../src/alert.ts';
import { SENT_AT } from '../../src/features/preview/findings.ts';
import { mailHeadHtml } from '../../src/sandbox/screens/page.ts';
import type { Reader } from '../../src/sandbox/screens/reader.ts';
import { slackHtml } from '../../src/sandbox/screens/slack.ts';
import { telegramHtml } from '../../src/sandbox/screens/telegram.ts';
import { terminalHtml } from './terminal.ts';

/** Somebody in Berlin, right after it was sent. */
export const READER: Reader = { now: Date.parse(SENT_AT) + 2000, timeZone: 'Europe/Berlin' };

export type Scheme = 'light' | 'dark';

interface PanelFrame {
  /** Of its surface: for the style sheet. */
  name: string;
  width: number;
  scheme: Scheme;
}

/** Messages as HTML, or whole documents, which get a window of their own, with what stands above each. */
export type Panel = PanelFrame &
  ({ messages: readonly string[] } | { documents: readonly { head: string; html: string }[] });

export interface Surface {
  /** Of its pictures' folder. */
  name: string;
  title: string;
  kind: HumanKind;
  /** Rows of panels. */
  rows(bodies: readonly unknown[], reader: Reader): Panel[][];
}

const both = (rowOf: (scheme: Scheme) => Panel[]): Panel[][] => [rowOf('light'), rowOf('dark')];

const slack: Surface = {
  ...{ name: 'slack', title: 'Slack', kind: 'slack' },
  rows: (bodies, reader) => {
    const messages = bodies.map((body) => slackHtml(body, reader));
    return both((scheme) => [700, 360].map((width) => ({ name: 'slack-page', width, scheme, messages })));
  },
};

const telegram: Surface = {
  ...{ name: 'telegram', title: 'Telegram', kind: 'telegram' },
  rows: (bodies, reader) => {
    const messages = bodies.map((body) => telegramHtml(body, reader));
    const page = (scheme: Scheme): Panel => ({ name: 'telegram-page', width: 400, scheme, messages });
    return [[page('light'), page('dark')]];
  },
};

const htmlOf = (body: unknown): string =>
  typeof body === 'object' && body !== null && 'html' in body && typeof body.html === 'string' ? body.html : '';

const mail: Surface = {
  ...{ name: 'mail', title: 'Mail', kind: 'email' },
  rows: (bodies) => {
    const documents = bodies.map((body) => ({ head: mailHeadHtml(body), html: htmlOf(body) }));
    return both((scheme) => [900, 360].map((width) => ({ name: 'mail-page', width, scheme, documents })));
  },
};

const text: Surface = {
  ...{ name: 'text', title: 'Mail as text, in a terminal', kind: 'email' },
  rows: (bodies) => [[{ name: 'terminal-page', width: 680, scheme: 'dark', messages: bodies.map(terminalHtml) }]],
};

const BY_KIND = {
  slack: [slack],
  telegram: [telegram],
  email: [mail, text],
} satisfies Record<HumanKind, readonly Surface[]>;

export const SURFACES: readonly Surface[] = Object.values(BY_KIND).flat();
