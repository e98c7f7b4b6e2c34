/** Buttons that change something, for those who are signed in. */
import { type Html, html } from '../../html.ts';
import { cleanLine } from '../../text.ts';
import { nothing } from './text.ts';
import type { Viewer } from './view.ts';

export const hiddenField = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${cleanLine(value)}">`;

/** Asks the server for a page that asks once more. Nothing for those who only read. */
export const button = ({ csrf }: Viewer, action: string, text: string, fields: Record<string, string>): Html =>
  csrf === undefined
    ? nothing
    : html`<form method="post" action="/actions/${action}" class="inline">${hiddenField('csrf', csrf)}${Object.entries(
        fields,
      ).map(([name, value]) => hiddenField(name, value))}<button type="submit">${text}</button></form>`;
