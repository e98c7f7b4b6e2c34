/** How far a long walk is, in one line of standard error that is drawn again; nothing where no terminal is. */
import { escapeInvisible } from '../text.ts';
import type { CommandContext } from './context.ts';

export interface Progress {
  /** Replaces the line that stands there. One line, without line feeds. */
  show(text: string): void;
  /** Takes the line away. May be called again. */
  end(): void;
}

interface ProgressContext {
  isErrorTty: boolean;
  raw: Pick<CommandContext['raw'], 'warn'>;
}

const CLEAR_LINE = '\r\u001b[K';

export const createProgress = ({ isErrorTty, raw: { warn } }: ProgressContext): Progress => {
  let isDrawn = false;
  return {
    show: (text) => {
      if (!isErrorTty) return;
      warn(`${CLEAR_LINE}${escapeInvisible(text)}`);
      isDrawn = true;
    },
    end: () => {
      if (isDrawn) warn(CLEAR_LINE);
      isDrawn = false;
    },
  };
};
