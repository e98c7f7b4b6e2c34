import { expect, test } from 'vitest';
import { createDiskWatch } from '../../../src/features/reload/reloader.ts';

const setUp = () => {
  const disk: { read: string; now: string | undefined; asked: number } = { read: 'a', now: 'a', asked: 0 };
  const look = createDiskWatch({
    readPrint: () => disk.read,
    diskPrint: async () => disk.now,
    onChanged: () => {
      disk.asked += 1;
      disk.read = disk.now ?? '';
    },
  });
  return { disk, look };
};

test('a change is read once it has settled, and once', async () => {
  const { disk, look } = setUp();
  await look();
  disk.now = 'half';
  await look();
  disk.now = 'whole';
  await look();
  expect(disk.asked).toBe(0);
  await look();
  await look();
  expect(disk).toMatchObject({ asked: 1, read: 'whole' });
});

test('what was there at the start, and what was changed back, is not read', async () => {
  const { disk, look } = setUp();
  await look();
  await look();
  disk.now = 'b';
  await look();
  disk.now = 'a';
  await look();
  await look();
  expect(disk.asked).toBe(0);
});

test('what cannot be looked at is left alone', async () => {
  const { disk, look } = setUp();
  disk.now = undefined;
  expect(await look()).toBeUndefined();
  await look();
  expect(disk.asked).toBe(0);
});
