/** The link by which a mail's reader acknowledges its alerts: above the details, in both of its parts. Pure. */
import type { MailParts } from './body.ts';
import { buttonHtml, RULE } from './page.ts';

const LABEL = 'Acknowledge';

/** Texts from outside are escaped, so the first rule is ours. Without one, the link is the last thing of the page. */
const inHtml = (html: string, url: string): string => {
  const rule = html.indexOf(RULE);
  const place = rule < 0 ? html.lastIndexOf('</body>') : rule;
  const link = `<p style="margin:14px 0 0">${buttonHtml(LABEL, url)}</p>\n`;
  return place < 0 ? `${html}${link}` : `${html.slice(0, place)}${link}${html.slice(place)}`;
};

/** Texts from outside are quoted, so this line is ours. */
const DETAILS = '\n\nDetails\n\n';

const inText = (text: string, url: string): string => {
  const line = `${LABEL}: ${url}`;
  const place = text.indexOf(DETAILS);
  return place < 0 ? `${text.trimEnd()}\n\n${line}\n` : `${text.slice(0, place)}\n\n${line}${text.slice(place)}`;
};

export const withAcknowledgeLink = <Parts extends MailParts>(parts: Parts, url: string): Parts => {
  const { text, html } = parts;
  return { ...parts, text: inText(text, url), ...(html === undefined ? {} : { html: inHtml(html, url) }) };
};
