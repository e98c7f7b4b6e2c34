/** A mail as its reader gets it. */
import PostalMime, { type Attachment } from 'postal-mime';

export interface SmtpRaw {
  envelope: { from: string; to: string[] };
  /** Lower-cased names; the last of several. */
  headers: Record<string, string>;
  subject: string;
  text: string;
  html: string;
  /** With its angle brackets; empty where there is none. */
  messageId: string;
  attachments: { filename: string; mimeType: string; content: Buffer }[];
  /** The message as it came. */
  source: string;
}

const bytesOf = (content: Attachment['content']): Buffer => {
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof ArrayBuffer
    ? Buffer.from(content)
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
};

export const parseMail = async (source: Buffer, envelope: SmtpRaw['envelope']): Promise<SmtpRaw> => {
  const mail = await PostalMime.parse(source);
  return {
    envelope,
    headers: Object.fromEntries(mail.headers.map(({ key, value }) => [key, value])),
    subject: mail.subject ?? '',
    text: mail.text ?? '',
    html: mail.html ?? '',
    messageId: mail.messageId ?? '',
    attachments: mail.attachments.map(({ filename, mimeType, content }) => ({
      filename: filename ?? '',
      mimeType,
      content: bytesOf(content),
    })),
    source: source.toString(),
  };
};

/** Subject, text (or the HTML where there is none) and attached files. */
export const readableMail = ({ subject, text, html, attachments }: SmtpRaw): string =>
  [subject, text || html, ...attachments.map(({ content }) => content.toString())].join('\n');
