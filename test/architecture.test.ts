/** The tree is a picture of the program: who may import whom, and no circles. The table is ARCHITECTURE.md's. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const SRC = join(dirname(fileURLToPath(import.meta.url)), '../src');

interface Import {
  from: string;
  /** A path under src, or a package's name. */
  to: string;
  typeOnly: boolean;
}

const STATEMENT =
  /^(?:import|export)\s(?<clause>[^;]*?)\bfrom\s+'(?<to>[^']+)'|^import\s+'(?<bare>[^']+)'|\bimport\('(?<lazy>[^']+)'\)/gm;

const importsOf = (file: string): Import[] =>
  [...readFileSync(join(SRC, file), 'utf8').matchAll(STATEMENT)].map(({ groups = {} }) => {
    const to = groups.to ?? groups.bare ?? groups.lazy ?? '';
    return {
      from: file,
      to: to.startsWith('.') ? posix.normalize(posix.join(posix.dirname(file), to)) : to.replace(/^node:/, ''),
      typeOnly: groups.clause?.startsWith('type ') ?? false,
    };
  });

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const VALUES = FILES.flatMap(importsOf).filter(({ typeOnly }) => !typeOnly);
const OWN = new Set(FILES);

const GROUND = ['alert.ts', 'errors.ts', 'globs.ts', 'html.ts', 'secret.ts'];
const CHANNEL_GROUND = [
  ...['address', 'chains', 'channel', 'content', 'digest', 'digest-file', 'http', 'incident-content', 'incidents'],
  ...['network', 'options', 'text'],
].map((name) => `channels/${name}.ts`);
const KINDS = ['email', 'telegram', 'slack', 'webhook'];
const kind = (name: string) => ({
  folder: `channels/${name}/`,
  may: [...GROUND, ...CHANNEL_GROUND, `channels/${name}/`, 'config/fields.ts'],
  packages: ['zod', 'undici', 'nodemailer', 'telegraf', '@slack/web-api'],
});

/** The longest folder that fits a file is its rule. */
const RULES: { folder: string; may: string[]; packages?: string[] }[] = [
  { folder: 'service/', may: [...GROUND, 'service/', 'version.ts'], packages: ['undici'] },
  { folder: 'poll/', may: [...GROUND, 'poll/'], packages: [] },
  { folder: 'dispatch/', may: [...GROUND, 'dispatch/', 'queue/'], packages: [] },
  { folder: 'queue/', may: [...GROUND, 'queue/'], packages: ['bullmq', 'ioredis'] },
  { folder: 'deliver/', may: [...GROUND, 'deliver/', 'queue/', 'channels/channel.ts'], packages: [] },
  { folder: 'channels/', may: [...GROUND, 'channels/', 'config/fields.ts'], packages: ['undici', 'ipaddr.js', 'zod'] },
  ...KINDS.map(kind),
  {
    folder: 'config/',
    may: [
      ...GROUND,
      'config/',
      'channels/address.ts',
      ...KINDS.flatMap((name) => [`channels/${name}/config.ts`, `channels/${name}/address.ts`]),
    ],
    packages: ['zod', 'yaml'],
  },
  { folder: 'ops/', may: [...GROUND, 'ops/', 'version.ts'], packages: ['pino', 'prom-client'] },
  { folder: 'sandbox/', may: ['sandbox/'], packages: ['smtp-server', 'postal-mime'] },
];

const ruleOf = (file: string) =>
  RULES.filter(({ folder }) => file.startsWith(folder)).toSorted((a, b) => b.folder.length - a.folder.length)[0];

const isPackage = (to: string): boolean => !to.includes('.ts') && !to.includes('.json');
const NODE_MODULE = new Set(process.getBuiltinModule('node:module').builtinModules);

describe('the tree', () => {
  test('was read: every relative import leads to a file', () => {
    expect(FILES.length).toBeGreaterThan(50);
    const broken = VALUES.filter(({ to }) => !isPackage(to) && !OWN.has(to) && to !== '../package.json');
    expect(broken).toEqual([]);
  });

  test('every folder imports only what the table allows', () => {
    const broken = VALUES.filter(({ from, to }) => {
      const rule = ruleOf(from);
      if (!rule) return false;
      if (isPackage(to))
        return !NODE_MODULE.has(to) && !NODE_MODULE.has(to.split('/')[0] ?? '') && !(rule.packages ?? []).includes(to);
      return !rule.may.some((allowed) => (allowed.endsWith('/') ? to.startsWith(allowed) : to === allowed));
    });
    expect(broken.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  test('verbs, channel kinds and the sandbox know nothing of the composition', () => {
    const inner = /^(alert|errors|globs|html|secret|service|poll|dispatch|queue|deliver|channels|config|ops|sandbox)\b/;
    const outer = /^(cli|wiring|daemon|main|lifecycle)\b/;
    expect(VALUES.filter(({ from, to }) => inner.test(from) && outer.test(to))).toEqual([]);
  });

  test('the environment is read in one place only', () => {
    const readers = FILES.filter((file) => /\bprocess\.env\b/.test(readFileSync(join(SRC, file), 'utf8')));
    expect(readers).toEqual(['main.ts']);
  });

  test('no circle of value imports', () => {
    const edges = Map.groupBy(
      VALUES.filter(({ to }) => OWN.has(to)),
      ({ from }) => from,
    );
    const done = new Set<string>();
    const visit = (file: string, path: readonly string[]): string[] => {
      if (path.includes(file)) return [[...path.slice(path.indexOf(file)), file].join(' -> ')];
      if (done.has(file)) return [];
      const found = (edges.get(file) ?? []).flatMap(({ to }) => visit(to, [...path, file]));
      done.add(file);
      return found;
    };
    expect(FILES.flatMap((file) => visit(file, []))).toEqual([]);
  });

  test('files and paths stay as the tree says', () => {
    const rooms = new Set(FILES.map((file) => relative('.', file).split('/')[0]));
    expect([...rooms].filter((room) => /^(utils?|helpers?|common|shared|misc|lib)(\.ts)?$/.test(room ?? ''))).toEqual(
      [],
    );
  });
});
