/** `tocsin init`: asks for a service and a channel, tries them, and writes a config with which the daemon runs. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { askEverything, markOf, type OnlineFinding } from '../app/online-check.ts';
import { kindFacts } from '../channels/registry.ts';
import { parseConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { envFileOf, withEnvFile } from '../config/variables.ts';
import { ConfigError, messageOf, UsageError } from '../errors.ts';
import { fallbackRoutes, routeSettings } from '../features/routes/routes.ts';
import { replacePrivateFile } from '../private-file.ts';
import { type CommandContext, EXIT, type ExitCode } from './context.ts';
import {
  type Answers,
  askChannel,
  askService,
  askWhether,
  demandAnswers,
  type InitOptions,
  STOPPED,
  type Variables,
} from './init-answers.ts';
import { type ChannelAnswers, configText, envText, type ServiceAnswers, serviceText, variable } from './init-config.ts';
import { kindOf } from './options.ts';

// What `tocsin init` says at its end: what it wrote, and what comes next.

const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** `envFile`: the file of variables, where one was written. */
const nextSteps = (
  options: InitOptions,
  { channel: { kind, to } }: Answers,
  envFile: string | undefined,
  context: CommandContext,
  variables: Variables,
): string => {
  const { config: file } = options;
  const isDefault = file === (context.env.TOCSIN_CONFIG ?? 'config/tocsin.yaml');
  const config = isDefault ? '' : ` --config ${shellWord(file)}`;
  const { given } = variables;
  const { addressVariable, secret } = kindFacts(kind).setup;
  // An address that is a secret stays out of terminals, and of what they record.
  const address = addressVariable === undefined ? shellWord(to) : `'${variable(addressVariable)}'`;
  const shadowed = Object.keys(given).filter((name) => ![undefined, '', given[name]].includes(context.env[name]));
  return [
    `Wrote ${file}${envFile === undefined ? '' : `, and the secrets into ${envFile}, which only this user may read`}.`,
    ...(shadowed.length === 0
      ? []
      : [`${shadowed.join(' and ')} has another value in the environment, which wins: unset it there.`]),
    ...('make' in secret
      ? [`The receiver needs the signing secret ${secret.variable}, which stands in ${envFile}.`]
      : []),
    '',
    'Next:',
    `  tocsin test${config} --channel ${kind} --to ${address}`,
    '      sends a test message through the real queue',
    `  tocsin run${config}`,
    `      runs the daemon in the foreground; tocsin status${config} shows what it does`,
    ...(envFile === undefined || file !== 'config/tocsin.yaml'
      ? []
      : [`With containers: docker compose --env-file ${envFile} up -d`]),
    '',
  ].join('\n');
};

// What `tocsin init` writes: the config, and the file of variables beside it.

/** Throws where there is a config already, unless it may be replaced. */
const refuseOverwrite = async ({ config: file, force = false }: InitOptions): Promise<void> => {
  const isThere = await readFile(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
  if (!isThere || force) return;
  throw new UsageError(
    `there is a ${file} already, and it stays as it is: tocsin check --online tries it, tocsin init --force writes another, --config names another file`,
  );
};

/** One that cannot be read is not replaced: it may hold variables of others. */
const readIfThere = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });

/** Gives the file of variables, where it has any. They come first: a config without them would not start. */
const writeFiles = async (
  { config: file, force = false }: InitOptions,
  text: string,
  variables: Variables,
): Promise<string | undefined> => {
  const envFile = envFileOf(file);
  const hasGiven = Object.keys(variables.given).length > 0;
  try {
    await mkdir(dirname(file), { recursive: true });
    if (hasGiven) {
      const before = await readIfThere(envFile);
      await replacePrivateFile(envFile, envText(before, variables.given));
    }
    await writeFile(file, text, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${file} cannot be written: ${messageOf(error)}`);
  }
  return hasGiven ? envFile : undefined;
};

/** As the daemon reads it. */
const parse = (text: string, { config: file }: InitOptions, { known, given }: Variables): Config => {
  const config = parseConfig(text, file, { ...known, ...given });
  return { ...config, dataDir: resolve(dirname(file), config.dataDir) };
};

const show = ({ warn }: CommandContext, findings: readonly OnlineFinding[]): void => {
  for (const one of findings) warn(`${markOf(one)}  ${one.subject}: ${one.detail}\n`);
};

/** What may be wrong with the answers: problems of the config, and findings of the check. */
interface Trial {
  problems: string[];
  /** Of what was asked for. */
  findings: OnlineFinding[];
  /** Of what the answers have no part in, such as the Redis. */
  others: OnlineFinding[];
}

const ONLINE = { problems: [], findings: [], others: [] } satisfies Trial;

/** Tries what `text` has; `isAsked` tells the subjects that the answers are about. */
const attempt = async (
  text: string,
  options: InitOptions,
  variables: Variables,
  { signal, warn }: CommandContext,
  isAsked: (subject: string, config: Config) => boolean,
): Promise<Trial> => {
  try {
    const config = parse(text, options, variables);
    if (!options.check) return ONLINE;
    warn('Asking ...\n');
    const findings = await askEverything(config, signal);
    return {
      problems: [],
      findings: findings.filter(({ subject }) => isAsked(subject, config)),
      others: findings.filter(({ subject }) => !isAsked(subject, config)),
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { ...ONLINE, problems: error.problems.map(({ path, rule }) => `${path} ${rule}`) };
  }
};

const isService = (subject: string): boolean => subject.startsWith('service ');

const isOfChannel = (subject: string, config: Config): boolean => {
  const [own] = fallbackRoutes(config, routeSettings(config)).destinations;
  return subject.startsWith('channel ') || subject === `destination ${own?.kind} ${own?.label}`;
};

/** Where nobody can be asked for other answers, the first that does not work ends the command. */
const giveUp = ({ problems, findings }: Trial): never => {
  const [problem] = [...problems, ...findings.filter(({ ok }) => !ok).map(({ subject }) => `${subject} failed`)];
  const isOfTls = findings.some(({ ok, detail }) => !ok && detail.includes('channels.email.smtp.tls'));
  throw new UsageError(
    `${problem}; nothing was written. Mend it${isOfTls ? ', such as by --smtp-tls' : ''}, or give --no-check to write the config without asking`,
  );
};

/** Asks for one part until it works, or until the person keeps what does not. */
const settlePart = async <T>(
  context: CommandContext,
  question: (before: T | undefined) => Promise<T>,
  tryIt: (answers: T) => Promise<Trial>,
): Promise<{ answers: T; trial: Trial }> => {
  for (let before: T | undefined; ; ) {
    const answers = await question(before);
    before = answers;
    const trial = await tryIt(answers);
    if (context.signal.aborted) throw new UsageError(STOPPED);
    show(context, trial.findings);
    if (trial.problems.length === 0 && trial.findings.every(({ ok }) => ok)) return { answers, trial };
    for (const problem of trial.problems) context.warn(`FAIL  ${problem}\n`);
    if (context.ask === undefined) giveUp(trial);
    if (trial.problems.length > 0) continue;
    if (!(await askWhether(context, 'Give other answers? (n keeps these)', true))) return { answers, trial };
  }
};

/** The guard refuses it: the person may let it through. */
const isRefusedAddress = ({ findings }: Trial): boolean =>
  findings.some(({ ok, detail }) => !ok && /channels\.webhook\.allow/.test(detail));

const gather = async (options: InitOptions, variables: Variables, context: CommandContext) => {
  const { answers: service } = await settlePart(
    context,
    (before?: ServiceAnswers) => askService(options, context, variables, before),
    (answers) => attempt(serviceText(answers), options, variables, context, isService),
  );
  const envFile = basename(envFileOf(options.config));
  const { answers: channel, trial } = await settlePart(
    context,
    (before?: ChannelAnswers) => askChannel(options, context, variables, before),
    async (answers) => {
      const tryIt = (): Promise<Trial> =>
        attempt(configText(service, answers, envFile), options, variables, context, isOfChannel);
      const first = await tryIt();
      if (!isRefusedAddress(first)) return first;
      if (context.ask === undefined) {
        show(context, first.findings);
        throw new UsageError('this is no public https address; nothing was written. --allow-private allows it');
      }
      show(context, first.findings);
      if (!(await askWhether(context, 'It is no public https address. Allow it?', false))) return first;
      answers.isPrivate = true;
      return tryIt();
    },
  );
  const others = trial.others.filter(({ subject }) => !isService(subject));
  show(context, others);
  const failed = [...others, ...trial.findings].filter(({ ok }) => !ok);
  return { answers: { service, channel }, isClean: failed.length === 0 };
};

export const init = async (options: InitOptions, context: CommandContext): Promise<ExitCode> => {
  await refuseOverwrite(options);
  if (options.channel !== undefined) kindOf(options.channel);
  const variables: Variables = { known: withEnvFile(options.config, context.env).environment, given: {} };
  demandAnswers(options, context, variables);
  if (context.ask !== undefined) {
    context.warn(`This writes ${options.config}: one service and one channel. Ctrl-C ends it and writes nothing.\n\n`);
  }
  const { answers, isClean } = await gather(options, variables, context);
  const text = configText(answers.service, answers.channel, basename(envFileOf(options.config)));
  const envFile = await writeFiles(options, text, variables);
  context.write(nextSteps(options, answers, envFile, context, variables));
  if (isClean) return EXIT.done;
  context.warn('tocsin: what failed above is not mended yet; tocsin check --online tries it again\n');
  return EXIT.finding;
};
