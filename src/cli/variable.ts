/** An argument that is a variable of the config, such as `${WEBHOOK_URL}`: its value shows in no list of processes. */
import { dirname } from 'node:path';
import { withEnvFile } from '../config/env-file.ts';
import { createInterpolate, type Environment } from '../config/interpolate.ts';
import { UsageError } from '../errors.ts';

const VARIABLE = /^\$\{[A-Za-z_]\w*\}$/;

/** The variable's value, from the environment or the file beside `config`; any other text as it is. Throws a `UsageError`. */
export const withVariable = (text: string, option: string, config: string, env: Environment): string => {
  if (!VARIABLE.test(text)) return text;
  const { environment, hint } = withEnvFile(config, env);
  const { text: value, problems } = createInterpolate(environment, dirname(config), { hint })(text);
  if (problems.length > 0) throw new UsageError(`${option} ${problems.join('; ')}`);
  return value;
};
