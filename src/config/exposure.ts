/** Says where everybody on this machine can read a secret in the config file. */
import { statSync } from 'node:fs';
import { readText } from './read.ts';
import type { Config } from './schema.ts';
import { collectSecrets } from './secrets.ts';

const OTHERS_MAY_READ = 0o004;
/** A shorter value may stand in the file as another word. */
const SHORTEST_SECRET = 6;
const LARGEST_FILE_BYTES = 1_048_576;

/** A sentence; nothing where the file holds no secret itself, or is closed to others. */
export const exposureOf = (file: string, config: Config): string | undefined => {
  const found = statSync(file, { throwIfNoEntry: false });
  // A pipe can be read once only, and has been.
  if (found?.isFile() !== true || (found.mode & OTHERS_MAY_READ) === 0) return undefined;
  const read = readText(file, LARGEST_FILE_BYTES);
  const secrets = collectSecrets(config).filter(({ length }) => length >= SHORTEST_SECRET);
  if (!read.ok || !secrets.some((secret) => read.text.includes(secret))) return undefined;
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  return `${file} holds secrets, and every user of this machine can read it (mode ${mode}): chmod 600, or use variables`;
};
