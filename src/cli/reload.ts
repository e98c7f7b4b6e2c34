/** `tocsin reload`: the running daemons read their config again, and each says what came of it. */
import { askToReload, type DaemonAnswer } from '../app/reload.ts';
import { loadWithoutSecrets } from '../config/load.ts';
import { ConfigError, formatProblem } from '../errors.ts';
import { type Action, answer, EXIT, type ExitCode } from './context.ts';
import { durationOf } from './options.ts';

const indented = (lines: readonly string[]): string => lines.map((line) => `\n  ${line}`).join('');

/** The daemon may have noticed the change before it was asked. */
const unchangedText = ({ config }: DaemonAnswer): string => {
  if (config?.changed === undefined) return 'nothing has changed since it started';
  return `nothing has changed since ${config.since}, when this came into force:${indented(config.changed)}`;
};

const endText = (daemon: DaemonAnswer, timeout: string): string => {
  const { end } = daemon;
  if (end.outcome === 'reloaded') return `the new config is in force. Changed:${indented(end.changed)}`;
  if (end.outcome === 'unchanged') return unchangedText(daemon);
  if (end.outcome === 'refused') return `refused, and the old config stays in force:${indented(end.problems)}`;
  if (end.outcome === 'stopped') return 'stopped meanwhile';
  if (end.outcome === 'silent') return `no answer within ${timeout}; see its log, and tocsin status`;
  return 'cannot read its config again, as it is of an earlier version: restart it';
};

const textOf = (daemon: DaemonAnswer, timeout: string): string =>
  `${daemon.host} (pid ${daemon.pid}): ${endText(daemon, timeout)}\n`;

const exitOf = (answers: readonly DaemonAnswer[]): ExitCode => {
  const ends = answers.map(({ end }) => end);
  if (ends.some((end) => end.outcome === 'refused' && !end.isPassing)) return EXIT.mistake;
  const isDone = ends.every(({ outcome }) => ['reloaded', 'unchanged', 'stopped'].includes(outcome));
  return isDone && ends.some(({ outcome }) => outcome !== 'stopped') ? EXIT.done : EXIT.temporary;
};

/** Daemons may have secrets that this shell has not: only what is wrong here for certain is refused here. */
export const reload: Action<{ timeout: string }> = async (options, context) => {
  const timeoutMs = durationOf(options.timeout, '--timeout', '60s');
  try {
    const { config } = await loadWithoutSecrets(options.config, context.env);
    const answers = await askToReload(config, { timeoutMs, signal: context.signal });
    const daemons = answers.map(({ end, ...who }) => ({ ...who, ...end }));
    answer(context, options, { daemons }, () => answers.map((each) => textOf(each, options.timeout)).join(''));
    return exitOf(answers);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.map(formatProblem);
    answer(context, options, { problems }, () => `${problems.join('\n')}\n`);
    return EXIT.mistake;
  }
};
