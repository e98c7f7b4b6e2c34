/** Words, counts and times on the status page. */
import { type Html, html } from '../html.ts';
import { cleanLine } from '../text.ts';
import { ago, clockText } from '../time.ts';

/** Text from outside: isolated, so that its writing direction stays its own. */
export const name = (text: string): Html => html`<bdi>${cleanLine(text)}</bdi>`;
export const bad = (text: string): Html => html`<span class="bad">${cleanLine(text)}</span>`;
export const quiet = (text: string): Html => html`<span class="quiet">${text}</span>`;
export const count = (value: number): Html | number => (value === 0 ? quiet('0') : value);

export const moment = (at: string | undefined, now: string): Html =>
  at === undefined ? quiet('never') : html`<time datetime="${at}" title="${clockText(at)}">${ago(at, now)}</time>`;
