/** The bytes or the text of an input: a file, or standard input where `-` is given for one. */
import { readBytes } from '../config/read.ts';
import { UnavailableError, UsageError } from '../errors.ts';
import type { CommandContext } from './context.ts';

/** Interfaces of contracts are long; what is larger is another file. */
const LARGEST_BYTES = 16 * 1024 * 1024;

/** Stands for standard input where a file is due. */
export const STANDARD_INPUT = '-';

const unreadable = (option: string, source: string, why: string) =>
  new UsageError(`${option} ${source} cannot be read: ${why}`);

/** At most 16 MiB. Throws a `UsageError` that names `option`, and an `UnavailableError` when it is stopped. */
export const readInputBytes = async (
  option: string,
  source: string,
  { readStdin, signal }: Pick<CommandContext, 'readStdin' | 'signal'>,
): Promise<Buffer> => {
  if (source !== STANDARD_INPUT) {
    const read = readBytes(source, LARGEST_BYTES);
    if (read.ok) return read.bytes;
    throw unreadable(option, source, read.why);
  }
  const bytes = await readStdin().catch((error: unknown) => {
    throw signal.aborted ? new UnavailableError('stopped while standard input was read') : error;
  });
  if (bytes.length <= LARGEST_BYTES) return Buffer.from(bytes);
  throw unreadable(option, source, `it is larger than ${LARGEST_BYTES / 1024} KiB`);
};

/** The same as UTF-8 text. */
export const readInputText = async (
  option: string,
  source: string,
  context: Pick<CommandContext, 'readStdin' | 'signal'>,
): Promise<string> => {
  const bytes = await readInputBytes(option, source, context);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(option, source, 'it is not UTF-8 text');
  }
};
