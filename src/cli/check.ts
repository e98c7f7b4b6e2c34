/** `tocsin check`, the part without requests: the configuration file, and what it would make the daemon do. */

import { summariesOf } from '../channels/registry.ts';
import { exposuresOf } from '../config/exposures.ts';
import { type LoadedConfig, loadConfig, loadFile } from '../config/load.ts';
import { configNotes, unbracedOf } from '../config/remarks.ts';
import type { Config } from '../config/schema.ts';
import { type Environment, LARGEST_CONFIG_BYTES, NO_SUCH_FILE, readText } from '../config/variables.ts';
import { ConfigError, type ConfigProblem, formatProblem } from '../errors.ts';
import { hangingOn } from '../features/routes/hanging.ts';
import { formatDuration } from '../schema/fields.ts';
import { cleanLine, counted } from '../text.ts';
import { type Action, answer, type CommandContext, type CommonOptions, EXIT, type ExitCode } from './context.ts';

interface CheckResult {
  /** `file:line:col: path: rule (got ...)`, by their order in the file; empty where the file is right. */
  problems: string[];
  /** What the file says, a line a section; empty where there are problems. No secrets. */
  summary: string[];
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? url;

/** Says it where a value comes from a variable that stands for a key of the file. */
const fromVariable = ({ variableOf }: LoadedConfig, ...path: string[]): string => {
  const variable = variableOf(path);
  return variable === undefined ? '' : ` (from ${variable})`;
};

const redisLine = (loaded: LoadedConfig): string => {
  const { redis, dataDir } = loaded.config;
  if (redis.url !== undefined) return `one server, by ${loaded.variableOf(['redis', 'url']) ?? 'redis.url'}`;
  if (redis.sentinel !== undefined) return `${redis.sentinel.name}, by ${redis.sentinel.nodes.length} Sentinels`;
  return redis.cluster === undefined ? `embedded, under ${dataDir}` : 'Cluster';
};

const forwardsLine = ({ alerts }: Config): string =>
  alerts.sources
    .map((source) => (source === 'inspections' ? `inspections (${alerts.assessments.join(', ')})` : 'notifications'))
    .join(' and ');

const protocolsLine = ({ protocols: { include, exclude, overrides } }: Config): string => {
  const own = Object.keys(overrides).length;
  const except = exclude.length === 0 ? '' : `, without ${exclude.join(', ')}`;
  return `${include.join(', ')}${except}${own === 0 ? '' : `; ${own} with channels of their own`}`;
};

const fallbackLine = ({ fallback }: Config): string =>
  fallback === undefined
    ? 'none'
    : `${fallback.channels.map(({ name }) => name).join(', ')} after ${formatDuration(fallback.after)}`;

const notes = ({ alerts, channels: { webhook }, destinations: { gate }, fallback }: Config): string[] => [
  ...(webhook !== undefined && webhook.secret === undefined && Object.keys(webhook.secrets).length === 0
    ? ['note: webhooks go out unsigned, as channels.webhook.secret is not set']
    : []),
  ...(gate && fallback === undefined
    ? ['note: without a fallback, alerts that destinations.gate holds reach nobody until they are approved']
    : []),
  ...(alerts.acknowledge && !gate
    ? [
        `note: without destinations.gate, who can change channels at the service can add a chat of their own and acknowledge alerts there, which keeps these from the fallback${alerts.muteByButton ? ', and mute their detectors everywhere, as alerts.muteByButton is on' : ''}`,
      ]
    : []),
];

const everyLine = ({ poll: { interval, requestsPerSecond } }: Config): string =>
  interval === 'auto'
    ? `as often as ${requestsPerSecond} requests a second allow`
    : `every ${formatDuration(interval)}`;

/** Variables count where a section names no proxy. Not their values: they may hold a password. */
const proxyLines = ({ proxyVariables }: Config): string[] => {
  if (proxyVariables === undefined) return [];
  const keys = [proxyVariables.https?.key, proxyVariables.http?.key].filter((key) => key !== undefined);
  return [`proxy: by ${keys.join(' and ')}, where a section names no proxy`];
};

const probesText = (loaded: LoadedConfig): string => {
  const { probes } = loaded.config.ops;
  return probes === undefined ? '' : `; probes at ${probes}${fromVariable(loaded, 'ops', 'probes')}`;
};

/** The configuration in a few lines, for the person who has just written it. */
const summarise = (loaded: LoadedConfig, { config } = loaded): string[] => [
  `services: ${config.services.map(({ name, baseUrl }) => `${name} at ${hostOf(baseUrl)}`).join(', ')}`,
  `redis: ${redisLine(loaded)}`,
  `dataDir: ${config.dataDir}${fromVariable(loaded, 'dataDir')}`,
  `forwards: ${forwardsLine(config)}, ${everyLine(config)}`,
  `protocols: ${protocolsLine(config)}`,
  `channels: ${summariesOf(config.channels).join('; ')}`,
  `fallback: ${fallbackLine(config)}`,
  `ops: ${config.ops.listen}${fromVariable(loaded, 'ops', 'listen')}${probesText(loaded)}`,
  ...proxyLines(config),
  ...notes(config),
  ...hangingOn(config).map((text) => `note: ${text}`),
  ...configNotes(config, Date.now()).map((note) => `note: ${note}`),
];

/** The templates are rendered only where there are some: that takes a while. */
const templateProblemsOf = async ({ config, problemsOf }: LoadedConfig): Promise<ConfigProblem[]> => {
  if (config.templates.length === 0) return [];
  const { templateProblems } = await import('../features/preview/templates.ts');
  return problemsOf(templateProblems(config.templates, config));
};

/** Reads the file and reports every problem at once; only what is no mistake of the operator's is thrown. */
export const checkConfig = async (file: string, environment: Environment): Promise<CheckResult> => {
  try {
    const files: string[] = [];
    const loaded = loadFile(file, environment, { onFile: (each) => files.push(each) });
    const { config } = loaded;
    const problems = await templateProblemsOf(loaded);
    if (problems.length > 0) throw new ConfigError(problems);
    const remarks = [...unbracedOf(file, config), ...exposuresOf({ config, file, files })];
    return { problems: [], summary: [...summarise(loaded), ...remarks.map((each) => `note: ${each}`)] };
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems.map(formatProblem), summary: [] };
    throw error;
  }
};

/** Prints the result; every problem is the operator's mistake. */
export const runCheck = async (
  { config: file, json = false }: CommonOptions,
  { env, write }: Pick<CommandContext, 'env' | 'write'>,
): Promise<ExitCode> => {
  const result = await checkConfig(file, env);
  const { problems, summary } = result;
  const lines = problems.length > 0 ? problems : [`${file}: no problems`, ...summary];
  write(`${json ? JSON.stringify(result) : lines.join('\n')}\n`);
  return problems.length > 0 ? EXIT.mistake : EXIT.done;
};

/** The `check` command: the file first, and only where it is right everything that it names. */
export const check: Action<{ online?: boolean }> = async (options, context) => {
  if (options.online !== true) return runCheck(options, context);
  const { env, show, signal } = context;
  const config = await loadConfig(options.config, env);
  const { askEverything, markOf } = await import('../app/online-check.ts');
  const findings = await askEverything(config, signal);
  const text = () => findings.map((one) => `${markOf(one)}  ${cleanLine(`${one.subject}: ${one.detail}`)}\n`).join('');
  answer(context, options, findings, text, show);
  return findings.every(({ ok }) => ok) ? EXIT.done : EXIT.finding;
};

/** What bare `tocsin` says on a terminal, below its help: what is missing, and the next step. */
export const startText = async (file: string, environment: Environment): Promise<string> => {
  const read = readText(file, LARGEST_CONFIG_BYTES);
  if (!read.ok && read.why === NO_SUCH_FILE) {
    return `There is no ${file} yet: tocsin init writes one, and tocsin demo shows how it all works without one.`;
  }
  const { problems } = await checkConfig(file, environment);
  if (problems.length > 0) return `${file} has ${counted(problems.length, 'problem')}: tocsin check names them.`;
  return `${file} is right: tocsin run runs the daemon in the foreground, tocsin status shows what it does.`;
};
