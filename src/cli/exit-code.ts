/** What an error means for whoever started us: the exit code, and the words for it. */
import { CommanderError } from 'commander';
import { ConfigError, messageOf, ServiceError, UnavailableError, UsageError } from '../errors.ts';
import { forbiddenText, passingText } from '../redis/trouble.ts';
import { escapeInvisible } from '../text.ts';
import { EXIT } from './context.ts';

const isTemporary = ({ reason }: ServiceError): boolean =>
  ['limited', 'failed', 'unreachable', 'aborted'].includes(reason);

const endOf = (error: unknown): { code: number; text: string } => {
  // Commander has said why already; its help and version are no failures.
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? EXIT.done : EXIT.mistake, text: '' };
  if (error instanceof ConfigError) return { code: EXIT.mistake, text: error.message };
  if (error instanceof UsageError) return { code: EXIT.mistake, text: `tocsin: ${error.message}` };
  const isPassing = error instanceof UnavailableError || (error instanceof ServiceError && isTemporary(error));
  if (isPassing) return { code: EXIT.temporary, text: `tocsin: ${error.message}` };
  if (error instanceof ServiceError) return { code: EXIT.mistake, text: `tocsin: ${error.message}` };
  const forbidden = forbiddenText(error);
  if (forbidden !== undefined) return { code: EXIT.mistake, text: `tocsin: ${forbidden}` };
  const passing = passingText(error);
  if (passing !== undefined) return { code: EXIT.temporary, text: `tocsin: ${passing}` };
  return {
    code: EXIT.mistake,
    text: `tocsin: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`,
  };
};

/** The exit code, and the text that says why, made safe to show; empty where that is said already. */
export const exitCodeOf = (error: unknown): { code: number; text: string } => {
  const { code, text } = endOf(error);
  return { code, text: escapeInvisible(text) };
};
