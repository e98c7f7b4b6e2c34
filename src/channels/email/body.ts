/** What a mail is made of. */

/** An attached text file. */
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

/** A mail without its addresses, which the transport adds. */
export interface MailBody extends MailParts {
  subject: string;
  /** ISO 8601. */
  date: string;
  /** The same for a protocol at a destination, so that mail programs group its mails. */
  threadId: string;
  /** For List-Id, so that people can filter by protocol: a label for a domain name, and the protocol's name. */
  list: { label: string; name: string };
}
