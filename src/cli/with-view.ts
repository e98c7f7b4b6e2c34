/** For commands that read or change what the daemons keep in Redis. */

import { openView } from '../app/view.ts';
import { loadWithoutSecrets } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { formatProblem } from '../errors.ts';
import type { CommandContext, CommonOptions } from './context.ts';

export type View = Awaited<ReturnType<typeof openView>>;

/** Where the addresses of destinations stand. */
const ROUTES = /^(protocols|fallback|destinations)\b/;

/** Closes what it opened, however `work` ends. Throws an `UnavailableError` where no such Redis answers. */
export const withView = async <T>(
  options: CommonOptions,
  { env, warn }: Pick<CommandContext, 'env' | 'warn'>,
  work: (view: View, config: Config) => Promise<T>,
): Promise<T> => {
  const { config, missing } = await loadWithoutSecrets(options.config, env);
  for (const problem of missing.filter(({ path }) => ROUTES.test(path))) {
    warn(`tocsin: ${formatProblem(problem)}; destinations by it are not shown as they are\n`);
  }
  const view = await openView(config);
  try {
    return await work(view, config);
  } finally {
    await view.close();
  }
};
