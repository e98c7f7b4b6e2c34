/** What a mail is made of. */

/** A text file that comes with a mail. */
export interface Attachment {
  filename: string;
  content: string;
}

export interface MailParts {
  text: string;
  /** Absent in the plainer formats. */
  html?: string;
  attachments?: Attachment[];
}

/** Everything of a mail but its addresses, which the transport puts on. */
export interface MailBody extends MailParts {
  subject: string;
  /** ISO 8601. */
  date: string;
  /** Mail programs put mails of one thread together. The same for a protocol at a destination. */
  threadId: string;
  /** Lets people sort by protocol: a label for a domain name, and the protocol's name. */
  list: { label: string; name: string };
}
