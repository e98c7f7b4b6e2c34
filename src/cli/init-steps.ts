/** What `tocsin init` says at its end: what it wrote, and what comes next. */
import type { CommandContext } from './context.ts';
import type { Answers, InitOptions, Variables } from './init-answers.ts';
import { CHANNEL_SECRET, variable, WEBHOOK_URL } from './init-config.ts';

const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** `envFile`: the file of variables, where one was written. */
export const nextSteps = (
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
  // Whoever knows a webhook's URL may post to it: it stays out of terminals, and of what they record.
  const address = kind === 'webhook' ? `'${variable(WEBHOOK_URL)}'` : shellWord(to);
  const shadowed = Object.keys(given).filter((name) => ![undefined, '', given[name]].includes(context.env[name]));
  return [
    `Wrote ${file}${envFile === undefined ? '' : `, and the secrets into ${envFile}, which only this user may read`}.`,
    ...(shadowed.length === 0
      ? []
      : [`${shadowed.join(' and ')} has another value in the environment, which wins: unset it there.`]),
    ...(variables.given[CHANNEL_SECRET.webhook] === undefined
      ? []
      : [`The receiver needs the signing secret ${CHANNEL_SECRET.webhook}, which stands in ${envFile}.`]),
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
