/** A directory on a disk of its own that can be filled; needs the right to mount. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const mount = (directory: string, size: string): void => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', directory], { stdio: 'ignore' });
};
export const unmount = (directory: string): void => {
  execFileSync('umount', ['--lazy', directory], { stdio: 'ignore' });
};

/** Puts a small disk at a directory. */
export const mountSmallDisk = (directory: string, size: string): void => {
  mkdirSync(directory, { recursive: true });
  mount(directory, size);
};

/** Why there can be none here; undefined where there can. */
export const whyNoSmallDisk = (): string | undefined => {
  const directory = mkdtempSync(join(tmpdir(), 'tocsin-mount-'));
  try {
    mountSmallDisk(directory, '64k');
    unmount(directory);
    return undefined;
  } catch {
    return 'mounting a tmpfs is not allowed here';
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

const PIECE = Buffer.alloc(4096);

const isFull = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOSPC';

/** Takes all that is left of the disk; the given function frees it. */
export const fill = (directory: string): (() => void) => {
  const file = join(directory, 'ballast');
  const ballast = openSync(file, 'w');
  try {
    for (;;) writeSync(ballast, PIECE);
  } catch (error) {
    if (!isFull(error)) throw error;
  } finally {
    closeSync(ballast);
  }
  return () => rmSync(file);
};
