/** `tocsin status`: what runs now, read from the daemons' Redis. */

import { openView } from '../app/view.ts';
import { loadConfig } from '../config/load.ts';
import type { StatusReport } from '../ops/status.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode, writeJson } from './context.ts';
import { renderStatusText } from './status-text.ts';

export const status = async (options: CommonOptions, context: CommandContext): Promise<ExitCode> => {
  const config = await loadConfig(options.config, context.env);
  const view = await openView(config);
  try {
    const report: StatusReport = await view.status();
    if (options.json === true) writeJson(context, report);
    else context.write(renderStatusText(report));
    return EXIT.done;
  } finally {
    await view.close();
  }
};
