/** `tocsin init`: asks for a service and a channel, tries them, and writes a config with which the daemon runs. */

import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { askEverything, markOf, type OnlineFinding } from '../app/online-check.ts';
import { kindFacts } from '../channels/registry.ts';
import { parseConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { envFileOf, withEnvFile } from '../config/variables.ts';
import { ConfigError, messageOf, UsageError } from '../errors.ts';
import { fallbackRoutes, routeSettings } from '../features/routes/routes.ts';
import { replacePrivateFile } from '../private-file.ts';
import { type Action, EXIT } from './context.ts';
import {
  askChannel,
  askService,
  askWhether,
  demandAnswers,
  type InitOptions,
  type Setup,
  STOPPED,
} from './init-answers.ts';
import { type ChannelAnswers, configText, envText, type ServiceAnswers, serviceText, variable } from './init-config.ts';
import { kindOf } from './options.ts';
import { shellQuoted } from './terminal.ts';

const shellWord = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellQuoted(word));

/** What was written, and what comes next. */
const nextSteps = (
  { options: { config: file }, context: { env }, variables: { given } }: Setup,
  channel: ChannelAnswers,
) => {
  const isDefault = file === (env.TOCSIN_CONFIG ?? 'config/tocsin.yaml');
  const config = isDefault ? '' : ` --config ${shellWord(file)}`;
  const envFile = envFileOf(file);
  const { addressVariable, secret } = kindFacts(channel.kind).setup;
  // An address that is a secret stays out of terminals, and of what they record.
  const address = addressVariable === undefined ? shellWord(channel.to) : `'${variable(addressVariable)}'`;
  const shadowed = Object.keys(given).filter((name) => ![undefined, '', given[name]].includes(env[name]));
  return [
    `Wrote ${file}, and the secrets into ${envFile}, which only this user may read.`,
    ...(shadowed.length === 0
      ? []
      : [`${shadowed.join(' and ')} has another value in the environment, which wins: unset it there.`]),
    ...('make' in secret
      ? [`The receiver needs the signing secret ${secret.variable}, which stands in ${envFile}.`]
      : []),
    '',
    'Next:',
    `  tocsin test${config} --channel ${channel.kind} --to ${address}`,
    '      sends a test message through the real queue',
    `  tocsin run${config}`,
    `      runs the daemon in the foreground; tocsin status${config} shows what it does`,
    ...(file === 'config/tocsin.yaml' ? [`With containers: docker compose --env-file ${envFile} up -d`] : []),
    '',
  ].join('\n');
};

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

/** The variables come first: a config without them would not start. */
const writeFiles = async ({ options, variables: { given } }: Setup, text: string): Promise<void> => {
  const { config: file, force = false } = options;
  const envFile = envFileOf(file);
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o755 });
    await replacePrivateFile(envFile, envText(await readIfThere(envFile), given));
    await writeFile(file, text, { flag: force ? 'w' : 'wx' });
    // Whatever the umask is: a daemon of another user reads it, and nobody else changes it. It holds no secret.
    await chmod(file, 0o644);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${file} cannot be written: ${messageOf(error)}`);
  }
};

const show = ({ context: { warn } }: Setup, findings: readonly OnlineFinding[]): void => {
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

/** Tries what `text` has, as the daemon reads it; `isAsked` tells the subjects that the answers are about. */
const attempt = async (
  { options, context, variables: { known, given } }: Setup,
  text: string,
  isAsked: (subject: string, config: Config) => boolean,
): Promise<Trial> => {
  const trial: Trial = { problems: [], findings: [], others: [] };
  try {
    const parsed = parseConfig(text, options.config, { ...known, ...given });
    const config = { ...parsed, dataDir: resolve(dirname(options.config), parsed.dataDir) };
    if (!options.check) return trial;
    context.warn('Asking ...\n');
    for (const finding of await askEverything(config, context.signal)) {
      (isAsked(finding.subject, config) ? trial.findings : trial.others).push(finding);
    }
    return trial;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { ...trial, problems: error.problems.map(({ path, rule }) => `${path} ${rule}`) };
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
  setup: Setup,
  question: (setup: Setup, before: T | undefined) => Promise<T>,
  tryIt: (answers: T) => Promise<Trial>,
): Promise<{ answers: T; trial: Trial }> => {
  const { context } = setup;
  for (let before: T | undefined; ; ) {
    const answers = await question(setup, before);
    before = answers;
    const trial = await tryIt(answers);
    if (context.signal.aborted) throw new UsageError(STOPPED);
    show(setup, trial.findings);
    if (trial.problems.length === 0 && trial.findings.every(({ ok }) => ok)) return { answers, trial };
    for (const problem of trial.problems) context.warn(`FAIL  ${problem}\n`);
    if (context.ask === undefined) giveUp(trial);
    if (trial.problems.length > 0) continue;
    if (!(await askWhether(context, 'Give other answers? (n keeps these)', true))) return { answers, trial };
  }
};

/** Where the guard refuses the address, the person may let it through. */
const tryChannel = async (setup: Setup, service: ServiceAnswers, channel: ChannelAnswers): Promise<Trial> => {
  const { context, options } = setup;
  const tryIt = () => attempt(setup, configText(service, channel, basename(envFileOf(options.config))), isOfChannel);
  const first = await tryIt();
  if (!first.findings.some(({ ok, detail }) => !ok && /channels\.webhook\.allow/.test(detail))) return first;
  show(setup, first.findings);
  if (context.ask === undefined) {
    throw new UsageError('this is no public https address; nothing was written. --allow-private allows it');
  }
  if (!(await askWhether(context, 'It is no public https address. Allow it?', false))) return first;
  channel.isPrivate = true;
  return tryIt();
};

export const init: Action<InitOptions> = async (options, context) => {
  await refuseOverwrite(options);
  if (options.channel !== undefined) kindOf(options.channel);
  const variables = { known: withEnvFile(options.config, context.env).environment, given: {} };
  const setup: Setup = { options, context, variables };
  demandAnswers(setup);
  if (context.ask !== undefined) {
    context.warn(`This writes ${options.config}: one service and one channel. Ctrl-C ends it and writes nothing.\n\n`);
  }
  const { answers: service } = await settlePart(setup, askService, (answers) =>
    attempt(setup, serviceText(answers), isService),
  );
  const { answers: channel, trial } = await settlePart(setup, askChannel, (answers) =>
    tryChannel(setup, service, answers),
  );
  const others = trial.others.filter(({ subject }) => !isService(subject));
  show(setup, others);
  await writeFiles(setup, configText(service, channel, basename(envFileOf(options.config))));
  context.write(nextSteps(setup, channel));
  if ([...others, ...trial.findings].every(({ ok }) => ok)) return EXIT.done;
  context.warn('tocsin: what failed above is not mended yet; tocsin check --online tries it again\n');
  return EXIT.finding;
};
