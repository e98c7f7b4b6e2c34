/**
 * Writes what stands for exactly one image or package into the files that name it: the digests of base images into
 * Dockerfile, the compose files and the manifests, and hashes into package-lock.json. What cannot be had stays as it is, and is named.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf } from './image-digests.ts';
import { fillIntegrity, type LockFile } from './lock-integrity.ts';

const ROOT = process.argv[2] ?? join(import.meta.dirname, '..');
const WITH_IMAGES = [
  ...['Dockerfile', 'docker-compose.yml', 'docker-compose.ha.yml'],
  ...['deploy/kubernetes/redis.yaml', 'deploy/kubernetes/components/ha/redis.yaml'],
];
const LOCK_FILE = 'package-lock.json';
/** An image with a tag, and the digest that it may have already. Stages and our own image have no tag. */
const IMAGE = /^(FROM +|\s*image: +)((?:[\w.-]+(?::\d+)?\/)*[\w.-]+:[\w.-]+)(?:@sha256:[0-9a-f]{64})?(?=\s|$)/gm;
/** As for the commands: what is wrong may pass. */
const TEMPORARY = 75;

const say = (text: string): void => {
  process.stdout.write(`pin: ${text}\n`);
};

const writeChanged = async (file: string, before: string, after: string): Promise<void> => {
  if (after !== before) await writeFile(join(ROOT, file), after);
};

/** By image; one whose registry gives none is left out. */
const digestsOf = async (images: readonly string[]): Promise<Map<string, string>> => {
  const digests = new Map<string, string>();
  for (const image of images) {
    try {
      digests.set(image, await digestOf(image));
      say(`${image} is ${digests.get(image)}`);
    } catch (error) {
      const { message, cause } = error as Error;
      say(`${image} stays as it is: ${cause instanceof Error ? `${message} (${cause.message})` : message}`);
      process.exitCode = TEMPORARY;
    }
  }
  return digests;
};

const pinImages = async (): Promise<void> => {
  const texts = await Promise.all(WITH_IMAGES.map((file) => readFile(join(ROOT, file), 'utf8')));
  const images = texts.flatMap((text) => [...text.matchAll(IMAGE)].map(([, , image = '']) => image));
  const digests = await digestsOf([...new Set(images)]);
  for (const [index, file] of WITH_IMAGES.entries()) {
    const text = texts[index] ?? '';
    const pinned = text.replace(IMAGE, (whole, before: string, image: string) =>
      digests.has(image) ? `${before}${image}@${digests.get(image)}` : whole,
    );
    await writeChanged(file, text, pinned);
  }
};

const pinPackages = async (): Promise<void> => {
  const text = await readFile(join(ROOT, LOCK_FILE), 'utf8');
  const lock: LockFile = JSON.parse(text);
  const { filled, missing } = await fillIntegrity(lock);
  for (const each of filled) say(`${each} has a hash now`);
  for (const each of missing) say(`${each} stays without a hash: the registry gives none`);
  if (filled.length > 0) await writeChanged(LOCK_FILE, text, `${JSON.stringify(lock, null, 2)}\n`);
};

await pinImages();
await pinPackages();
