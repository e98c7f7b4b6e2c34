/** How far a long walk is, in one line of standard error that is drawn again; nothing where no terminal is. */
import type { CommandContext } from './context.ts';

export interface Progress {
  /** Replaces the line that stands there. One line, without line feeds. */
  show(text: string): void;
  /** Takes the line away. May be called again. */
  end(): void;
}

const CLEAR_LINE = '\r\u001b[K';

export const createProgress = ({ isErrorTty, warn }: Pick<CommandContext, 'isErrorTty' | 'warn'>): Progress => {
  let isDrawn = false;
  return {
    show: (text) => {
      if (!isErrorTty) return;
      warn(`${CLEAR_LINE}${text}`);
      isDrawn = true;
    },
    end: () => {
      if (isDrawn) warn(CLEAR_LINE);
      isDrawn = false;
    },
  };
};
