/** For commands that read or change what the daemons keep in Redis. */

import { openView } from '../app/view.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { CommandContext, CommonOptions } from './context.ts';

export type View = Awaited<ReturnType<typeof openView>>;

/** Closes what it opened, however `work` ends. Throws an `UnavailableError` where no such Redis answers. */
export const withView = async <T>(
  options: CommonOptions,
  { env }: Pick<CommandContext, 'env'>,
  work: (view: View, config: Config) => Promise<T>,
): Promise<T> => {
  const config = await loadConfig(options.config, env);
  const view = await openView(config);
  try {
    return await work(view, config);
  } finally {
    await view.close();
  }
};
