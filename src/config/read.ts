/** Reads a small file, or says in words why it cannot be read. */
import { readFileSync, statSync } from 'node:fs';

export type ReadResult = { ok: true; text: string } | { ok: false; why: string };

export const NO_SUCH_FILE = 'there is no such file';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: NO_SUCH_FILE,
  ENOTDIR: NO_SUCH_FILE,
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  EISDIR: 'it is a directory',
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';

const decode = (bytes: Buffer): ReadResult => {
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { ok: false, why: 'it is not UTF-8 text' };
  }
};

/** Pipes are read too, so that a file may come from a decrypting program. */
export const readBytes = (
  file: string,
  limitBytes: number,
): { ok: true; bytes: Buffer } | { ok: false; why: string } => {
  try {
    const stat = statSync(file);
    if (stat.isCharacterDevice() || stat.isBlockDevice()) return { ok: false, why: 'it is a device' };
    const bytes = stat.size > limitBytes ? undefined : readFileSync(file);
    if (bytes === undefined || bytes.length > limitBytes) {
      return { ok: false, why: `it is larger than ${limitBytes / 1024} KiB` };
    }
    return { ok: true, bytes };
  } catch (error) {
    const code = codeOf(error);
    return { ok: false, why: REASONS[code] ?? code };
  }
};

/** The same as UTF-8 text; a byte order mark is dropped. */
export const readText = (file: string, limitBytes: number): ReadResult => {
  const read = readBytes(file, limitBytes);
  return read.ok ? decode(read.bytes) : read;
};
