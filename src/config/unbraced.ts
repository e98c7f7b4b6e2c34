/** Says where a secret of the config is the name of a variable, as shells write it: only braces make it the value. */
import { readText } from './read.ts';
import type { Config } from './schema.ts';
import { collectSecrets } from './secrets.ts';

/** In upper case only: a secret that merely begins with the sign is not shown. */
const NAME = /^\$[A-Z_][A-Z0-9_]*$/;
const LARGEST_FILE_BYTES = 1_048_576;

/** It stands in the file as it is; `$$` in front of it would say that it is meant. */
const isWritten = (secret: string, text: string): boolean => new RegExp(`(?<!\\$)\\${secret}(?!\\w)`).test(text);

/** One sentence for each variable. */
export const unbracedOf = (file: string, config: Config): string[] => {
  const secrets = new Set(collectSecrets(config).filter((secret) => NAME.test(secret)));
  if (secrets.size === 0) return [];
  const read = readText(file, LARGEST_FILE_BYTES);
  return [...secrets]
    .filter((secret) => read.ok && isWritten(secret, read.text))
    .map(
      (secret) => `a secret is the text ${secret} itself: write $\{${secret.slice(1)}} for the value of that variable`,
    );
};
