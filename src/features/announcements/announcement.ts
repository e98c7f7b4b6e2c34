/** What the item of an announcement holds: its whole text, and for a kind that can show more the parts of it. */

/** An entry of a list, such as an alert that a mute hid. */
export interface Listed {
  /** ISO 8601. */
  at: string;
  /** As messages say it: `CRITICAL`. */
  severity: string;
  /** From outside. */
  protocol: string;
  /** Names of detectors, from outside. */
  detectors?: string[];
  /** What it is, where no detector says so. */
  what?: string;
  txHash?: string;
  chainId?: string;
  /** The service's own id, where it names no transaction. */
  itemId?: string;
}

export interface AnnouncementText {
  /** The whole as plain text without secrets, the list in it. The first line stands alone, and no line begins with text from outside. */
  message: string;
  /** The message without its list. */
  lead?: string;
  listed?: readonly Listed[];
}

/** What a line of advice begins with. No text from outside stands in such a line. */
export const TO_DO = 'To do: ';

/** A name of the service's as one word of a command; a word to replace where a shell would take it for more than a name. */
export const shellName = (name: string): string =>
  /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$/u.test(name) ? `"${name}"` : 'NAME';

/** Behind `run: ` to the end of the line, or in backticks. */
const COMMANDS = /\brun: (tocsin [^`]+)$|`(tocsin [^`]+)`/g;

/** The commands that the message says to run, each once. */
export const commandsIn = (message: string): string[] => [
  ...new Set(
    message
      .split('\n')
      .filter((line) => line.startsWith(TO_DO))
      .flatMap((line) => [...line.matchAll(COMMANDS)].flatMap(([, whole, quoted]) => whole ?? quoted ?? [])),
  ),
];
