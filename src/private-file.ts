/**
 * Directories and files that only their owner may read, and that stand where they seem to stand: through a link that
 * another user has planted, we would overwrite a file elsewhere.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from './errors.ts';

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS_MAY_WRITE = 0o002;

const hasCode = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException | undefined)?.code === code;

/** A link of our own or of root's is an operator's, who keeps the data elsewhere. */
const refusePlantedLink = async (directory: string): Promise<void> => {
  const found = await lstat(directory).catch(() => undefined);
  if (found?.isSymbolicLink() !== true || [0, process.getuid?.() ?? 0].includes(found.uid)) return;
  throw new UsageError(`${directory} is a link that another user has made (uid ${found.uid}): remove it`);
};

/** With its parents. Node's own way never ends where the parent is there and takes no directory, as in /proc. */
export const makeDirectory = async (directory: string, mode: number): Promise<void> => {
  const make = (): Promise<void> =>
    mkdir(directory, { mode }).catch(async (error: unknown) => {
      if ((await stat(directory).catch(() => undefined))?.isDirectory() !== true) throw error;
    });
  await make().catch(async (error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
    await makeDirectory(dirname(directory), mode);
    await make();
  });
};

/**
 * Makes the directory where it is missing, and closes it to others. False where they may write to it all the same: it
 * belongs to another user, as a container's volume may. Throws a `UsageError` where another user has planted a link.
 */
export const makePrivateDirectory = async (directory: string): Promise<boolean> => {
  await refusePlantedLink(directory);
  await makeDirectory(directory, DIRECTORY_MODE);
  await refusePlantedLink(directory);
  const { mode } = await stat(directory);
  if ((mode & 0o777) === DIRECTORY_MODE) return true;
  return chmod(directory, DIRECTORY_MODE).then(
    () => true,
    () => (mode & OTHERS_MAY_WRITE) === 0,
  );
};

/** A link in the place of the file is removed, never followed. */
const openHere = async (file: string, flags: number): Promise<FileHandle> => {
  const openIt = (): Promise<FileHandle> => open(file, flags | constants.O_CREAT | constants.O_NOFOLLOW, FILE_MODE);
  return openIt().catch(async (error: unknown) => {
    if (!hasCode(error, 'ELOOP')) throw error;
    await unlink(file);
    return openIt();
  });
};

/** A file that was there already may be another user's, who reads on what we write into it. */
const createFresh = async (file: string): Promise<FileHandle> => {
  await unlink(file).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });
  return open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, FILE_MODE);
};

const writeWith = async (handle: FileHandle, text: string, mode: number): Promise<void> => {
  try {
    await handle.chmod(mode);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/**
 * Writes the whole file, never half of it; on disk when it resolves. `mode`: whatever the umask is. A file that is mounted by
 * itself, as into a container, cannot be replaced: it is written over.
 */
export const replaceFile = async (file: string, text: string, mode: number): Promise<void> => {
  const fresh = `${file}.new`;
  await writeWith(await createFresh(fresh), text, mode);
  await rename(fresh, file).catch(async (error: unknown) => {
    await unlink(fresh);
    if (!hasCode(error, 'EBUSY')) throw error;
    const { O_WRONLY, O_TRUNC, O_NOFOLLOW } = constants;
    await writeWith(await open(file, O_WRONLY | O_TRUNC | O_NOFOLLOW), text, mode);
  });
};

/** The same for its owner alone. */
export const replacePrivateFile = (file: string, text: string): Promise<void> => replaceFile(file, text, FILE_MODE);

export const openPrivateLog = (file: string): Promise<FileHandle> =>
  openHere(file, constants.O_WRONLY | constants.O_APPEND);

/**
 * The kernel's lock of a directory (flock), over all containers of this machine: whoever has the handle holds it, a child
 * that inherits it too, until the last of them has closed it or ended, however it ended. Undefined where the directory or
 * the system has no such lock; Node has none, so the program `flock` asks for it.
 */
export const lockDirectory = async (directory: string, flock = 'flock'): Promise<FileHandle | 'taken' | undefined> => {
  const handle = await open(directory, constants.O_RDONLY);
  const child = spawn(flock, ['-n', '-x', '3'], { stdio: ['ignore', 'ignore', 'pipe', handle.fd] });
  let said = '';
  child.stderr?.on('data', (text) => {
    said += text;
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null)).once('close', resolve);
  });
  if (code === 0) return handle;
  await handle.close();
  // Of any other failure it complains.
  return code === 1 && said === '' ? 'taken' : undefined;
};
