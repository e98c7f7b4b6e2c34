/** Documents, texts and settings that name the kinds of channel name all of them: a new kind is missed here. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CHANNEL_KINDS, type ChannelKind, isHuman, KINDS_TEXT } from '../../src/alert.ts';
import { acknowledgesByLink, kindFacts } from '../../src/channels/registry.ts';
import { GUIDES, ROOT, readDocument } from './documents.ts';

/** As people call them. */
const NAMES: Record<ChannelKind, RegExp> = {
  email: /e-?mail/i,
  telegram: /\bTelegram\b/,
  slack: /\bSlack\b/,
  webhook: /webhook/i,
};

const named = (text: string, kinds: readonly ChannelKind[]): ChannelKind[] =>
  kinds.filter((kind) => NAMES[kind].test(text));

test.each([
  ['README.md', /forwards alerts[^.]*\./],
  ['ARCHITECTURE.md', /deliver --> channels.*/],
  ['package.json', /"description": .*/],
  ['src/cli/program.ts', /\.description\('Forwards.*/],
])('%s says what Tocsin sends to', (file, sentence) => {
  const [found = ''] = sentence.exec(readDocument(file)) ?? [];
  expect(named(found, CHANNEL_KINDS)).toEqual(CHANNEL_KINDS);
});

test('the glossary has every kind', () => {
  expect(/channel kind (.*)/.exec(readDocument('src/alert.ts'))?.[1]).toBe(KINDS_TEXT);
});

const sourcesIn = (folder: string): string[] => readdirSync(`${ROOT}/${folder}`).map((file) => `${folder}/${file}`);

/** What is true of two kinds with buttons is mostly true of each; what is not is to be added here, by its beginning. */
const ONLY_SOME: readonly string[] = [];

test('a sentence that names two kinds whose messages can be changed names all such kinds', () => {
  const kinds = CHANNEL_KINDS.filter((kind) => isHuman({ kind }) && !acknowledgesByLink(kind));
  const files = [
    ...GUIDES,
    'deploy/kubernetes/components/network-policy/network-policy.yaml',
    ...sourcesIn('src/cli'),
    ...sourcesIn('src/config'),
  ];
  const sentences = files.flatMap((file) => readDocument(file).split(/[.:;|](?=\s)|\n\s*\n/));
  const naming = sentences.filter((sentence) => named(sentence, kinds).length > 1);
  expect(naming.length).toBeGreaterThan(10);
  const short = naming.filter((sentence) => named(sentence, kinds).length < kinds.length).map((text) => text.trim());
  expect(short.filter((text) => !ONLY_SOME.some((beginning) => text.startsWith(beginning)))).toEqual([]);
});

test.each(['docker-compose.yml', 'docker-compose.ha.yml', 'deploy/kubernetes/secrets.env.example'])(
  '%s has the variable of every secret',
  (file) => {
    const variables = CHANNEL_KINDS.flatMap((kind) => {
      const { questions, made } = kindFacts(kind).setup;
      return [...questions, ...(made === undefined ? [] : [made])].flatMap(({ variable }) => variable ?? []);
    });
    expect(variables.filter((name) => !new RegExp(`^ *${name}[:=]`, 'm').test(readDocument(file)))).toEqual([]);
  },
);

test('docs/private-networks.md says of every kind which certificates it takes', () => {
  const text = readDocument('docs/private-networks.md');
  expect(CHANNEL_KINDS.filter((kind) => !text.includes(`\`channels.${kind}`))).toEqual([]);
});

test('the sandbox in docker-compose.yml is told to the daemon as config/demo.yaml asks', () => {
  const asked = [...readDocument('config/demo.yaml').matchAll(/\$\{(TOCSIN_SANDBOX_\w+)\}/g)].map(([, name]) => name);
  const text = readDocument('docker-compose.yml');
  expect(asked.filter((name) => !text.includes(`${name}:`))).toEqual([]);
});
