/** `tocsin audit`: compares what the services list with what became of it, and queues differences again. */

import { openAuditCommand } from '../app/audit-command.ts';
import { loadConfig } from '../config/load.ts';
import { isBalanced, sumOf } from '../features/audit/balance.ts';
import { renderAudit } from './audit-text.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode, writeJson } from './context.ts';
import { parseMoment } from './moment.ts';

interface AuditOptions extends CommonOptions {
  since: string;
  dryRun?: boolean;
}

export const audit = async (options: AuditOptions, context: CommandContext): Promise<ExitCode> => {
  const since = parseMoment(options.since, '--since', Date.now());
  const config = await loadConfig(options.config, context.env);
  const command = await openAuditCommand(config, context.signal);
  try {
    const report = await command.audit(since, options.dryRun !== true);
    const balanced = report.protocols.every(isBalanced);
    if (options.json === true) writeJson(context, { balanced, totals: sumOf(report.protocols), ...report });
    else context.show(renderAudit(report, context.width));
    if (!balanced) return EXIT.finding;
    return report.unaudited.length > 0 ? EXIT.temporary : EXIT.done;
  } finally {
    await command.close();
  }
};
