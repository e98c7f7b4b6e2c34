/** What bare `tocsin` says on a terminal, below its help: what is missing, and the next step. */
import type { Environment } from '../config/interpolate.ts';
import { NO_SUCH_FILE, readText } from '../config/read.ts';
import { counted } from '../text.ts';
import { checkConfig } from './check.ts';

const LARGEST_FILE_BYTES = 1_048_576;

export const startText = async (file: string, environment: Environment): Promise<string> => {
  const read = readText(file, LARGEST_FILE_BYTES);
  if (!read.ok && read.why === NO_SUCH_FILE) {
    return `There is no ${file} yet: tocsin init writes one, and tocsin demo shows how it all works without one.`;
  }
  const { problems } = await checkConfig(file, environment);
  if (problems.length > 0) return `${file} has ${counted(problems.length, 'problem')}: tocsin check names them.`;
  return `${file} is right: tocsin run runs the daemon in the foreground, tocsin status shows what it does.`;
};
