/** What a mail program shows of a mail besides its HTML, drawn as HTML. */

import { textIn } from '../../channels/outside.ts';
import { escapeHtml } from '../../html.ts';
import { bodyAsJson, objectsIn } from './json.ts';

/** What stands above the mail itself. */
export const mailHeadHtml = (body: unknown): string => {
  const { subject, attachments } = bodyAsJson(body);
  const files = objectsIn(attachments).map(
    ({ filename }) => `<span class="file">${escapeHtml(textIn(filename))}</span>`,
  );
  return `<article class="mail-head"><div class="subject">${escapeHtml(textIn(subject))}</div><div>Tocsin &lt;tocsin@harbor.example&gt; ${files.join(' ')}</div></article>`;
};

export const MAIL_STYLE = `
.mail-head{padding:12px 16px;border-bottom:1px solid #d0d4d9;background:#fff;color:#202124;font:14px/20px Roboto,'Liberation Sans',Arial,'Noto Color Emoji',sans-serif;overflow-wrap:anywhere}
.dark .mail-head{border-color:#3c4043;background:#1f2023;color:#e8eaed}
.mail-head .subject{font-size:18px;line-height:24px}
.mail-head .file{padding:2px 8px;border:1px solid #8a8f94;border-radius:10px;font-size:12px}
`;
