/** The text part of a mail in a terminal, drawn as HTML. */
import { textIn } from '../../src/channels/content/foreign.ts';
import { bodyAsJson } from '../../src/sandbox/screens/reader.ts';
import { escapeHtml } from '../../src/text.ts';

/** Columns of the terminal. */
const COLUMNS = 80;

/** As a terminal breaks it: anywhere. */
const rowsOf = (line: string): string[] => line.match(new RegExp(`.{1,${COLUMNS}}`, 'gsu')) ?? [''];

/** The text part, as `less` shows it. */
export const terminalHtml = (body: unknown): string => {
  const { subject, text } = bodyAsJson(body);
  const lines = [`Subject: ${textIn(subject)}`, '', ...textIn(text).trimEnd().split('\n')].flatMap(rowsOf);
  return `<pre class="terminal">${escapeHtml(lines.join('\n'))}</pre>`;
};

export const TERMINAL_STYLE = `
.terminal{margin:0;padding:12px;border-bottom:12px solid #8a8a8a;background:#1b1d1e;color:#d8dadb;font:13px/18px 'Liberation Mono','DejaVu Sans Mono','Noto Color Emoji',monospace;white-space:pre}
`;
