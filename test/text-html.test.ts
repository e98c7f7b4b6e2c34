import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unescapeHtml } from '../src/sandbox/screens/reader.ts';
import { escapeHtml, html } from '../src/text.ts';
import { anyCharacter } from './support/texts.ts';

test('values are escaped, and HTML that was made here is not', () => {
  const name = `<b title="x">O'Neil & Co</b>`;
  expect(html`<p>${name}</p>`.html).toBe('<p>&lt;b title=&quot;x&quot;&gt;O&#39;Neil &amp; Co&lt;/b&gt;</p>');
  expect(html`<ul>${['a', '<'].map((one) => html`<li>${one}</li>`)}</ul>`.html).toBe(
    '<ul><li>a</li><li>&lt;</li></ul>',
  );
});

test('any text comes back as it was', () => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => unescapeHtml(escapeHtml(text)) === text));
  expect(unescapeHtml('&amp;lt; &nbsp;')).toBe('&lt; &nbsp;');
});
