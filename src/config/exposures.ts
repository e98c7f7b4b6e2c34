/** Who else on this machine can read the secrets of a config, or change the files that it comes from. */
import { realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { collectSecrets } from './remarks.ts';
import type { Config } from './schema.ts';
import { LARGEST_CONFIG_BYTES, readText } from './variables.ts';

interface ReadConfig {
  config: Config;
  file: string;
  /** Every file that was read for it: itself, the variables beside it, and those of `${file:}`. */
  files: readonly string[];
}

const OTHERS_MAY_READ = 0o004;
const OTHERS_MAY_WRITE = 0o002;
/** In such a directory, as /tmp, nobody replaces a file of somebody else's. */
const STICKY = 0o1000;
/** A shorter value may stand in the file as another word. */
const SHORTEST_SECRET = 6;
/** What is mounted there is for one container or one service alone, whatever its mode is. */
const OWN_MOUNTS = '/run/';

const EVERYBODY = 'every user of this machine';

const modeText = (mode: number): string => `mode ${(mode & 0o7777).toString(8).padStart(4, '0')}`;

const modeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mode ?? 0;

/** A pipe can be read once only, and has been. */
const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** The URL of a Redis without a password, which is no secret; elsewhere it is one, as it may have a password. */
const isOpenRedis = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^rediss?:$/.test(url.protocol) && url.password + url.search === '';
};

/** Where everybody can read a secret: a file of one secret, or a file in which one stands beside other values. */
const readableOf = ({ config, file, files }: ReadConfig): string[] => {
  const secrets = collectSecrets(config).filter((text) => text.length >= SHORTEST_SECRET && !isOpenRedis(text));
  const holdsSecret = (each: string): boolean => {
    const read = readText(each, LARGEST_CONFIG_BYTES);
    return read.ok && secrets.some((secret) => read.text.includes(secret));
  };
  return files
    .filter((each) => (modeOf(each) & OTHERS_MAY_READ) !== 0 && !resolve(each).startsWith(OWN_MOUNTS))
    .filter((each) => holdsSecret(each))
    .map((each) => {
      const mend = each === file ? 'chmod 600, or use variables' : 'chmod 600';
      return `${each} holds secrets, and ${EVERYBODY} can read it (${modeText(modeOf(each))}): ${mend}`;
    });
};

/** The directories above a file, also above what a link leads to. */
const directoriesAbove = (file: string): string[] => {
  const above = (path: string): string[] => (dirname(path) === path ? [] : [dirname(path), ...above(dirname(path))]);
  return [...new Set([resolve(file), realpathSync(file)].flatMap(above))];
};

const changeableOf = (files: readonly string[]): string[] => {
  const own = files
    .filter((each) => (modeOf(each) & OTHERS_MAY_WRITE) !== 0)
    .map((each) => `${EVERYBODY} can change ${each} (${modeText(modeOf(each))}): chmod o-w ${each}`);
  const directories = [...new Set(files.flatMap(directoriesAbove))];
  const open = directories
    .filter((each) => (modeOf(each) & (OTHERS_MAY_WRITE | STICKY)) === OTHERS_MAY_WRITE)
    .map((each) => {
      const replaced = files.find((file) => directoriesAbove(file).includes(each));
      return `${EVERYBODY} can replace ${replaced}, as they may write to ${each} (${modeText(modeOf(each))}): chmod o-w ${each}`;
    });
  return [...own, ...open];
};

/**
 * A sentence for each way in which any other user can read the secrets of a config, or change what the daemon does. Users
 * of the same group count as friends.
 */
export const exposuresOf = (read: ReadConfig): string[] => {
  const files = read.files.filter(isFile);
  return [...readableOf({ ...read, files }), ...changeableOf(files)];
};
