/** The texts that `tocsin init` writes: a small config with comments, and the file of variables beside it. */
import type { ChannelKind } from '../alert.ts';
import type { SetupAnswers } from '../channels/channel.ts';
import { kindFacts } from '../channels/registry.ts';
import { readEnvText } from '../config/variables.ts';
import { UsageError } from '../errors.ts';

export interface Plan {
  /** Of the service: `url` and `key`. */
  service: SetupAnswers;
  /** Of the kinds that are set up. */
  kinds: ReadonlyMap<ChannelKind, SetupAnswers>;
  /** Its `to` is among the answers of its kind. Left out: there is none. */
  fallback?: ChannelKind;
  /** URLs of webhooks that are no public https ones, and are sent to. */
  allowed: readonly string[];
  /** Where the values of its variables stand, as the file's reader finds it. */
  envFile: string;
}

/** The variable of the key, as `config/tocsin.example.yaml` and `docker-compose.yml` name it. */
export const SERVICE_KEY = 'TOCSIN_API_KEY';

/** A text in quotes, in which nothing is replaced. */
const quoted = (text: string): string => JSON.stringify(text.replaceAll('$', '$$$$'));
export const variable = (name: string): string => `\${${name}}`;

/** An entry for one address, as the config and the service write it. */
export const entryOf = (name: ChannelKind, to: string) =>
  /^https?:/i.test(to) ? { name, url: to } : { name, contacts: [to] };

const fallbackLines = ({ fallback: kind, kinds }: Plan): string[] => {
  if (kind === undefined) return [];
  const { address } = kindFacts(kind).setup;
  const { url, contacts = [] } = entryOf(kind, kinds.get(kind)?.to ?? '');
  const where = url === undefined ? `contacts: [${contacts.map(quoted).join(', ')}]` : `url: ${quoted(url)}`;
  return [
    "# Where an alert goes that no other channel has accepted in this time, and where Tocsin's own announcements go.",
    'fallback:',
    '  after: 60s',
    '  channels:',
    `    - { name: ${kind}, ${address.variable === undefined ? where : `url: "${variable(address.variable)}"`} }`,
    '',
  ];
};

const sectionLines = ({ kinds, allowed }: Plan): string[] =>
  [...kinds].flatMap(([kind, answers]) =>
    kindFacts(kind).setup.linesOf(answers, { quoted, secret: variable, allowed }),
  );

/** Its secrets are variables. */
export const configText = (plan: Plan): string =>
  [
    '# Tocsin reads the monitoring service below and sends its alerts to people and programs.',
    '# This is all that is needed; docs/configuration.md explains every key.',
    `# The values of \${NAME} come from the environment, or from ${plan.envFile} beside this file.`,
    '# After a change run `tocsin check --online`.',
    '',
    'services:',
    '  # Do not change the name later: a service with a new name is read afresh.',
    '  - name: main',
    `    baseUrl: ${quoted(plan.service.url ?? '')}`,
    `    apiKey: ${variable(SERVICE_KEY)}`,
    '',
    '# How each kind of channel is reached. Where the alerts of a protocol go, the service says.',
    'channels:',
    ...(plan.kinds.size === 0 ? ['  webhook: {}'] : sectionLines(plan)),
    '',
    ...fallbackLines(plan),
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
