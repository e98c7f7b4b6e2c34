/** `tocsin init`: asks for the service, the channels that its protocols use and a fallback, tries each answer, and writes a config with which the daemon runs. */

import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { askEverything, markOf } from '../app/online-check.ts';
import { kindFacts } from '../channels/registry.ts';
import { envFileOf, withEnvFile } from '../config/variables.ts';
import { messageOf, UsageError } from '../errors.ts';
import { hangingOn } from '../features/routes/hanging.ts';
import { makeDirectory, replaceFile, replacePrivateFile } from '../private-file.ts';
import { cleanLine } from '../text.ts';
import { type Action, EXIT } from './context.ts';
import { askFallback, askService, askUsed, type Draft, demandAnswers, type Uses } from './init-answers.ts';
import { configText, envText, variable } from './init-config.ts';
import { type InitOptions, readConfig, type Setup, STOPPED } from './init-questions.ts';
import { kindOf } from './options.ts';
import { shellQuoted } from './terminal.ts';

const shellWord = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellQuoted(word));

/** The test messages that show whether alerts arrive: to the fallback, and to a protocol's own channels. */
const testsOf = ({ fallback, kinds }: Draft, uses: Uses): string[] => {
  const { address } = kindFacts(fallback ?? 'email').setup;
  const to = fallback && kinds.get(fallback)?.to;
  // An address that is a secret stays out of terminals, and of what they record.
  const shown = address.variable === undefined ? shellWord(to ?? '') : `'${variable(address.variable)}'`;
  const [protocol] = [...uses].filter(([kind]) => kinds.has(kind)).flatMap(([, protocols]) => protocols);
  return [
    ...(fallback === undefined ? [] : [`--channel ${fallback} --to ${shown}`]),
    ...(protocol === undefined ? [] : [`--protocol ${shellWord(cleanLine(protocol.name))}`]),
  ];
};

/** What was written, and what comes next. */
const nextSteps = (
  { options: { config: file }, context: { env }, variables: { given } }: Setup,
  draft: Draft,
  uses: Uses,
) => {
  const isDefault = file === (env.TOCSIN_CONFIG ?? 'config/tocsin.yaml');
  const config = isDefault ? '' : ` --config ${shellWord(file)}`;
  const envFile = envFileOf(file);
  const made = [...draft.kinds.keys()].flatMap((kind) => kindFacts(kind).setup.made?.variable ?? []);
  const shadowed = Object.keys(given).filter((name) => ![undefined, '', given[name]].includes(env[name]));
  return [
    `Wrote ${file}, and the secrets into ${envFile}, which only this user may read.`,
    ...(shadowed.length === 0
      ? []
      : [`${shadowed.join(' and ')} has another value in the environment, which wins: unset it there.`]),
    ...made.map((name) => `Receivers of webhooks need the signing secret ${name}, which stands in ${envFile}.`),
    '',
    'Next:',
    ...testsOf(draft, uses).map((goal) => `  tocsin test${config} ${goal}`),
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

/** The variables come first: a config without them would not start. Neither is ever there by half. */
const writeFiles = async ({ options, variables: { given } }: Setup, text: string): Promise<void> => {
  const { config: file } = options;
  const envFile = envFileOf(file);
  // Somebody else may have written one while the questions were answered.
  await refuseOverwrite(options);
  try {
    await makeDirectory(dirname(file), 0o755);
    await replacePrivateFile(envFile, envText(await readIfThere(envFile), given));
    // A daemon of another user reads it, and nobody else changes it. It holds no secret.
    await replaceFile(await realpath(file).catch(() => file), text, 0o644);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${file} cannot be written: ${messageOf(error)}`);
  }
};

/** What the whole config finds beyond the single answers. False where something of it fails. */
const checkWhole = async (setup: Setup, text: string): Promise<boolean> => {
  const { options, context } = setup;
  const parsed = readConfig(setup, text);
  if (!options.check) {
    for (const text of hangingOn(parsed)) context.warn(`note  ${cleanLine(text)}\n`);
    return true;
  }
  context.warn('\nAsking everything once more ...\n');
  const config = { ...parsed, dataDir: resolve(dirname(options.config), parsed.dataDir) };
  const findings = await askEverything(config, context.signal);
  if (context.signal.aborted) throw new UsageError(STOPPED);
  const shown = findings.filter(({ ok, isNote = false, subject }) => !ok || isNote || subject === 'redis');
  for (const one of shown) context.warn(`${markOf(one)}  ${cleanLine(`${one.subject}: ${one.detail}`)}\n`);
  return findings.every(({ ok }) => ok);
};

const welcome = (file: string): string =>
  `This writes ${file}: the monitoring service, each kind of channel that its protocols use, and a fallback.\nEach answer is tried at once. Ctrl-C ends it and writes nothing.\n\n`;

export const init: Action<InitOptions> = async (options, context) => {
  await refuseOverwrite(options);
  if (options.channel !== undefined) kindOf(options.channel);
  const setup: Setup = {
    options,
    context,
    variables: { known: withEnvFile(options.config, context.env).environment, given: {} },
  };
  demandAnswers(setup);
  if (context.ask !== undefined) context.warn(welcome(options.config));
  const envFile = basename(envFileOf(options.config));
  const draft: Draft = { service: {}, kinds: new Map(), allowed: [], envFile };
  const uses = await askService(setup, draft);
  for (const use of uses) await askUsed(setup, draft, use);
  await askFallback(setup, draft, uses);
  const text = configText(draft);
  const isRight = await checkWhole(setup, text);
  await writeFiles(setup, text);
  context.write(nextSteps(setup, draft, uses));
  if (isRight) return EXIT.done;
  context.warn('tocsin: what failed above is not mended yet; tocsin check --online tries it again\n');
  return EXIT.finding;
};
