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
  /** `CRITICAL · Lending Pool`: said beside the subject where that is an earlier mail's, see `thread.ts`. */
  what?: string;
  /** ISO 8601. */
  date: string;
  /** The same for all mails of a thread, see `thread.ts`. */
  threadId: string;
  /** Somebody should be woken by it: mail programs show it as important. */
  isUrgent: boolean;
  /** For List-Id, so that people can filter by protocol: a label for a domain name, and the protocol's name. */
  list: { label: string; name: string };
}
