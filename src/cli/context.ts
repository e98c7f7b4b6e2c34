/** What every command gets from the outside world, and how it says how it ended. */

/** Contract, section 1. */
export const EXIT = { done: 0, mistake: 1, finding: 2, temporary: 75 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface CommandContext {
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP. */
  signal: AbortSignal;
  /** From now on SIGHUP calls this and ends nothing, unless the terminal is gone. */
  onHangup(listener: () => void): void;
  /** Standard output is a terminal. */
  isTty: boolean;
  /** Standard error is a terminal, so that progress may be drawn there. */
  isErrorTty: boolean;
  /** To standard output. */
  write(text: string): void;
  /** To standard error. */
  warn(text: string): void;
  /** Puts a question to the person at the terminal; absent where nobody sits there. An end of input is an empty answer. */
  ask?(question: string): Promise<string>;
  /** Everything on standard input, up to its end. */
  readStdin(): Promise<Uint8Array>;
}

/** Options that every command takes. */
export interface CommonOptions {
  /** The config file. */
  config: string;
  json?: boolean;
}

export const writeJson = ({ write }: CommandContext, value: unknown): void =>
  write(`${JSON.stringify(value, null, 2)}\n`);
