/** The texts that `tocsin init` writes: a small config with comments, and the file of variables beside it. */
import type { ChannelKind } from '../alert.ts';
import type { SetupAnswers } from '../channels/channel.ts';
import { kindFacts } from '../channels/registry.ts';
import { readEnvText } from '../config/variables.ts';
import { UsageError } from '../errors.ts';

export interface ServiceAnswers {
  baseUrl: string;
}

export interface ChannelAnswers extends SetupAnswers {
  kind: ChannelKind;
}

/** The variable of the key, as `config/tocsin.example.yaml` and `docker-compose.yml` name it. */
export const SERVICE_KEY = 'TOCSIN_API_KEY';

/** A text in quotes, in which nothing is replaced. */
const quoted = (text: string): string => JSON.stringify(text.replaceAll('$', '$$$$'));
export const variable = (name: string): string => `\${${name}}`;

const addressOf = ({ kind, to }: ChannelAnswers): string => {
  const { addressVariable } = kindFacts(kind).setup;
  return addressVariable === undefined
    ? `{ name: ${kind}, contacts: [${quoted(to)}] }`
    : `{ name: ${kind}, url: "${variable(addressVariable)}" }`;
};

const sectionLines = (channel: ChannelAnswers): string[] => {
  const { secret, linesOf } = kindFacts(channel.kind).setup;
  return linesOf(channel, { quoted, secret: variable(secret.variable) });
};

/** What is needed to ask the service alone. */
export const serviceText = ({ baseUrl }: ServiceAnswers): string =>
  `services: [{ name: main, baseUrl: ${quoted(baseUrl)}, apiKey: "${variable(SERVICE_KEY)}" }]\nchannels: { webhook: {} }\n`;

/** Its secrets are variables. `envFile`: where they stand, as the file's reader finds it. */
export const configText = (service: ServiceAnswers, channel: ChannelAnswers, envFile: string): string =>
  [
    '# Tocsin reads the monitoring service below and sends its alerts to people and programs.',
    '# This is all that is needed; docs/configuration.md explains every key.',
    `# The values of \${NAME} come from the environment, or from ${envFile} beside this file.`,
    '# After a change run `tocsin check --online`.',
    '',
    'services:',
    '  # Do not change the name later: a service with a new name is read afresh.',
    '  - name: main',
    `    baseUrl: ${quoted(service.baseUrl)}`,
    `    apiKey: ${variable(SERVICE_KEY)}`,
    '',
    '# How each kind of channel is reached. Where the alerts of a protocol go, the service says.',
    'channels:',
    ...sectionLines(channel),
    '',
    "# Where an alert goes that no other channel has accepted in this time, and where Tocsin's own announcements go.",
    'fallback:',
    '  after: 60s',
    '  channels:',
    `    - ${addressOf(channel)}`,
    '',
  ].join('\n');

/** As Compose and shells read it, too. Throws a `UsageError` where they would read another value. */
const envLine = (name: string, value: string): string => {
  const forms = [`${name}=${value}`, `${name}='${value}'`, `${name}="${value}"`];
  const [plain, single, double] = forms as [string, string, string];
  const form = /^[\w./:@%+=,-]*$/.test(value) ? plain : value.includes("'") ? double : single;
  const isLost = /[\n\r]/.test(value) || (form === double && /["$`\\]/.test(value));
  if (isLost || readEnvText(form)[name] !== value) {
    throw new UsageError(`the value of ${name} cannot be written into a file of variables: export ${name} instead`);
  }
  return form;
};

const withVariables = (before: string, variables: Readonly<Record<string, string>>): string => {
  const kept = before.split('\n').filter((line) => !Object.hasOwn(variables, line.split('=')[0]?.trim() ?? ''));
  const head = before === '' ? ['# Secrets of tocsin.yaml beside this file. Keep it out of version control.'] : kept;
  const lines = Object.entries(variables).map(([name, value]) => envLine(name, value));
  return `${[...head, ...lines]
    .filter((line, index, all) => line !== '' || index < all.length - 1)
    .join('\n')
    .replace(/\n{2,}/g, '\n')}\n`;
};

/** The file's text with these variables set; its other lines stay. Throws a `UsageError` where a reader would lose one. */
export const envText = (before: string, variables: Readonly<Record<string, string>>): string => {
  const text = withVariables(before, variables);
  const read = readEnvText(text);
  const due = Object.entries({ ...readEnvText(before), ...variables });
  const lost = due.filter(([name, value]) => read[name] !== value).map(([name]) => name);
  if (lost.length === 0) return text;
  throw new UsageError(
    `the file of variables that is there has a value over several lines, or a quote that is not closed, and ${lost.join(' and ')} would be lost: mend that line`,
  );
};
