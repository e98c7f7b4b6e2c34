/** Says where everybody on this machine can read a secret in the config file, or in the file of variables beside it. */
import { statSync } from 'node:fs';
import { envFileOf } from './env-file.ts';
import { readText } from './read.ts';
import type { Config } from './schema.ts';
import { collectSecrets } from './secrets.ts';

const OTHERS_MAY_READ = 0o004;
/** A shorter value may stand in the file as another word. */
const SHORTEST_SECRET = 6;
const LARGEST_FILE_BYTES = 1_048_576;

/** What everybody may do with the file, in octal digits; undefined where others may not read it. */
const openMode = (file: string): string | undefined => {
  const found = statSync(file, { throwIfNoEntry: false });
  // A pipe can be read once only, and has been.
  if (found?.isFile() !== true || (found.mode & OTHERS_MAY_READ) === 0) return undefined;
  return (found.mode & 0o777).toString(8).padStart(4, '0');
};

/** A sentence; nothing where the files hold no secret themselves, or are closed to others. */
export const exposureOf = (file: string, config: Config): string | undefined => {
  const secrets = collectSecrets(config).filter(({ length }) => length >= SHORTEST_SECRET);
  for (const each of [file, envFileOf(file)]) {
    const mode = openMode(each);
    const read = mode === undefined ? undefined : readText(each, LARGEST_FILE_BYTES);
    if (read?.ok !== true || !secrets.some((secret) => read.text.includes(secret))) continue;
    const mend = each === file ? 'chmod 600, or use variables' : 'chmod 600';
    return `${each} holds secrets, and every user of this machine can read it (mode ${mode}): ${mend}`;
  }
  return undefined;
};
