/** The text of an input: a file, or standard input where `-` is given for one. */
import { readText } from '../config/read.ts';
import { UnavailableError, UsageError } from '../errors.ts';
import type { CommandContext } from './context.ts';

/** Interfaces of contracts are long; what is larger is another file. */
const LARGEST_BYTES = 16 * 1024 * 1024;

/** Stands for standard input where a file is due. */
export const STANDARD_INPUT = '-';

const unreadable = (option: string, source: string, why: string) =>
  new UsageError(`${option} ${source} cannot be read: ${why}`);

const decode = (bytes: Uint8Array, option: string): string => {
  if (bytes.length > LARGEST_BYTES) {
    throw unreadable(option, STANDARD_INPUT, `it is larger than ${LARGEST_BYTES / 1024} KiB`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(option, STANDARD_INPUT, 'it is not UTF-8 text');
  }
};

/** UTF-8, at most 16 MiB. Throws a `UsageError` that names `option`, and an `UnavailableError` when it is stopped. */
export const readInputText = async (
  option: string,
  source: string,
  { readStdin, signal }: Pick<CommandContext, 'readStdin' | 'signal'>,
): Promise<string> => {
  if (source !== STANDARD_INPUT) {
    const read = readText(source, LARGEST_BYTES);
    if (read.ok) return read.text;
    throw unreadable(option, source, read.why);
  }
  const bytes = await readStdin().catch((error: unknown) => {
    throw signal.aborted ? new UnavailableError('stopped while standard input was read') : error;
  });
  return decode(bytes, option);
};
