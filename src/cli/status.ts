/** `tocsin status`: what runs now, read from the daemons' Redis. Ends with 2 where something needs somebody. */

import { NoDaemonError } from '../errors.ts';
import type { StatusReport } from '../ops/status.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode, writeJson } from './context.ts';
import { renderStatusText } from './status-text.ts';
import { withView } from './with-view.ts';

export const status = async (options: CommonOptions, context: CommandContext): Promise<ExitCode> => {
  try {
    const report: StatusReport = await withView(options, context, (view) => view.status());
    if (options.json === true) writeJson(context, report);
    else context.show(renderStatusText(report, context.width));
    return report.needsSomebody.length === 0 ? EXIT.done : EXIT.finding;
  } catch (error) {
    if (!(error instanceof NoDaemonError)) throw error;
    context.warn(`tocsin: ${error.message}\n`);
    return EXIT.finding;
  }
};
