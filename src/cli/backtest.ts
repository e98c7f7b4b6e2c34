/** `tocsin backtest`: the present config over real history; sends nothing and needs no Redis. */
import { knownNames } from '../app/names.ts';
import { loadConfig } from '../config/load.ts';
import { backtest as runBacktest } from '../features/backtest/backtest.ts';
import { openHistory } from '../features/replay/history.ts';
import { renderBacktest } from './backtest-text.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode, writeJson } from './context.ts';
import { parsePeriod } from './moment.ts';
import { createProgress } from './progress.ts';
import { unreadLines } from './replay-text.ts';

interface BacktestOptions extends CommonOptions {
  since: string;
  until?: string;
  protocol?: string;
}

export const backtest = async (options: BacktestOptions, context: CommandContext): Promise<ExitCode> => {
  const period = parsePeriod(options, Date.now());
  const config = await loadConfig(options.config, context.env);
  const history = openHistory(config, context.signal);
  const progress = createProgress(context);
  try {
    const protocols = await history.protocols(options.protocol);
    const onProgress = (done: number, of: number): void => progress.show(`${done} of ${of} lists read`);
    const report = await runBacktest({ config, history, protocols, period, onProgress });
    progress.end();
    if (options.json === true) writeJson(context, report);
    else context.show(renderBacktest(report, await knownNames(config), context.width));
    for (const line of unreadLines(report.unread)) context.warn(`tocsin: ${line}\n`);
    return report.unread.length === 0 ? EXIT.done : EXIT.mistake;
  } finally {
    progress.end();
    await history.close();
  }
};
