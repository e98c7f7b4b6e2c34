/** A data directory on a disk of its own, which can be filled; where none can be mounted, a directory like any other. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mountSmallDisk, unmount, whyNoSmallDisk } from '../fault/small-disk.ts';

/** A daemon calls a disk nearly full on which less than 100 MB are free. */
const DISK = '120m';
const BALLAST_BYTES = 60_000_000;

export const openDataDir = async (onFinished: (stop: () => Promise<void>) => void) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'tocsin-disk-'));
  onFinished(() => rm(dataDir, { recursive: true, force: true }));
  if (whyNoSmallDisk() !== undefined) return { dataDir, fill: async () => {}, empty: async () => {} };
  mountSmallDisk(dataDir, DISK);
  onFinished(async () => unmount(dataDir));
  const ballast = join(dataDir, 'ballast');
  return { dataDir, fill: () => writeFile(ballast, Buffer.alloc(BALLAST_BYTES)), empty: () => rm(ballast) };
};
