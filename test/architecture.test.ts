/** The tree is a picture of the program: who may import whom, values and types alike, and no circles. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CHANNEL_KINDS } from '../src/alert.ts';

const SRC = join(dirname(fileURLToPath(import.meta.url)), '../src');

interface Import {
  from: string;
  /** A path under src, or a package's name. */
  to: string;
  typeOnly: boolean;
  /** By `import(...)`, when it is needed. */
  isLazy: boolean;
}

const STATEMENT =
  /^(?:import|export)\s(?<clause>[^;]*?)\bfrom\s+'(?<to>[^']+)'|^import\s+'(?<bare>[^']+)'|\bimport\(\s*'(?<lazy>[^']+)'\s*\)/gm;

const importsOf = (file: string): Import[] =>
  [...readFileSync(join(SRC, file), 'utf8').matchAll(STATEMENT)].map(({ groups = {} }) => {
    const to = groups.to ?? groups.bare ?? groups.lazy ?? '';
    return {
      from: file,
      to: to.startsWith('.') ? posix.normalize(posix.join(posix.dirname(file), to)) : to,
      typeOnly: groups.clause?.startsWith('type ') ?? false,
      isLazy: groups.lazy !== undefined,
    };
  });

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .toSorted();
const IMPORTS = FILES.flatMap(importsOf).filter(({ to }) => !to.startsWith('node:'));
const OWN = new Set(FILES);

/** `poll/`, `features/mutes/`; a file that stands directly in src is a row of its own. */
const rowOf = (file: string): string => (file.includes('/') ? `${posix.dirname(file)}/` : file);

const GROUND = [
  'alert',
  'bounded-map',
  'chunks',
  'condition',
  'errors',
  'globs',
  'item',
  'net',
  'networks',
  'private-file',
  'program-path',
  'rarely',
  'secret',
  'text',
  'time',
  'version',
  'waiting',
].map((name) => `${name}.ts`);
const NOUNS = ['connection/', 'config/', 'redis/', 'queue/', 'ledger/', 'service/', 'channels/', 'channels/content/'];
const VERBS = ['poll/', 'dispatch/', 'deliver/'];

/** Which feature may know which other. It has no circle; announcements are the lowest. */
const FEATURES: Record<string, readonly string[]> = {
  announcements: [],
  correlation: [],
  cursors: [],
  board: [],
  standby: [],
  enrichment: [],
  routes: [],
  sample: [],
  trace: ['acknowledgement', 'names'],
  mutes: ['announcements', 'names'],
  names: [],
  conditions: ['announcements', 'approval', 'names', 'reload', 'routes'],
  'broken-destinations': ['announcements', 'conditions'],
  blindness: ['announcements', 'conditions'],
  fallback: ['announcements', 'names'],
  acknowledgement: ['announcements', 'mutes', 'names'],
  housekeeping: [],
  approval: ['announcements', 'fallback', 'names', 'routes'],
  storms: ['announcements'],
  suppression: ['approval', 'mutes'],
  recheck: [],
  watch: [],
  reload: [],
  replay: ['correlation', 'routes'],
  audit: [],
  backtest: ['approval', 'correlation', 'mutes', 'replay', 'routes', 'suppression'],
  status: ['acknowledgement', 'conditions', 'fallback', 'mutes', 'names', 'recheck', 'routes'],
  tripwire: ['announcements', 'conditions'],
  silence: ['announcements', 'conditions'],
  misfits: ['announcements', 'conditions'],
  page: ['acknowledgement', 'approval', 'audit', 'conditions', 'mutes', 'replay', 'routes', 'sample', 'trace'],
  watchdog: ['announcements', 'conditions'],
  // Its scenes say what each feature would.
  preview: [
    'acknowledgement',
    'announcements',
    'approval',
    'blindness',
    'fallback',
    'mutes',
    'broken-destinations',
    'sample',
    'silence',
    'storms',
    'tripwire',
    'watchdog',
  ],
};
const feature = (name: string): string => `features/${name}/`;

const SANDBOX = [
  ...['', 'service/', 'receivers/', 'screens/'],
  ...['formats/', 'slack/', 'smtp/', 'telegram/'].map((folder) => `receivers/${folder}`),
].map((folder) => `sandbox/${folder}`);
const EVERYTHING_INNER = [
  ...GROUND,
  'schema/',
  ...NOUNS,
  ...VERBS,
  ...Object.keys(FEATURES).map(feature),
  'ops/',
  'ops/page/',
];

/** What only wires the channels up: a kind must not know it. */
const channelFiles = (except: readonly string[]): string[] =>
  FILES.filter((file) => rowOf(file) === 'channels/' && !except.includes(file.slice('channels/'.length)));

/**
 * What each row may import besides itself: `folder/` (not what is below it), `file.ts`, or a package.
 * `type X` allows only `import type`.
 */
const ROWS: Record<string, readonly string[]> = {
  ...Object.fromEntries(GROUND.map((file) => [file, GROUND])),
  'networks.ts': ['ipaddr.js'],
  'version.ts': ['../package.json', 'program-path.ts'],

  'schema/': [...GROUND, 'zod'],
  'connection/': [...GROUND, 'schema/', 'undici'],
  'config/': [
    ...[...GROUND, 'schema/', 'connection/', 'channels/address.ts', 'zod', 'yaml'],
    'channels/content/presentation.ts',
    'channels/content/template.ts',
    // What each kind states of itself.
    ...['channels/registry.ts', 'type channels/channel.ts'],
    ...CHANNEL_KINDS.map((kind) => `channels/${kind}/config.ts`),
  ],
  'redis/': [...GROUND, 'connection/', 'ioredis'],
  'queue/': [...GROUND, 'redis/', 'bullmq', 'ioredis'],
  'ledger/': [...GROUND, 'redis/', 'type ioredis'],
  'service/': [...GROUND, 'connection/', 'undici'],
  'channels/': [...GROUND, 'schema/', 'connection/', 'channels/content/', 'undici', 'ipaddr.js', 'zod'],
  'channels/content/': [
    ...GROUND,
    'channels/chains.ts',
    'channels/digest-rank.ts',
    '@noble/hashes/sha3.js',
    'type liquidjs',
  ],
  ...Object.fromEntries(
    CHANNEL_KINDS.map((kind) => [
      `channels/${kind}/`,
      [
        ...GROUND,
        'schema/',
        'connection/',
        'channels/content/',
        ...channelFiles(['open.ts', 'registry.ts', 'rows.ts', 'pacing.ts']),
        'zod',
        ...(kind === 'webhook' ? ['channels/webhook/formats/'] : []),
      ],
    ]),
  ),
  'channels/webhook/formats/': [
    ...[...GROUND, 'channels/content/'],
    ...channelFiles(['open.ts', 'registry.ts', 'rows.ts', 'pacing.ts']),
  ],

  'poll/': [...GROUND, 'redis/', 'type ioredis'],
  'dispatch/': [...GROUND, 'queue/'],
  'deliver/': [...GROUND, 'redis/', 'queue/', 'ledger/', 'channels/channel.ts', 'type ioredis'],

  ...Object.fromEntries(
    Object.entries(FEATURES).map(([name, others]) => [
      feature(name),
      [...GROUND, ...NOUNS, ...VERBS, ...others.map(feature), 'type ops/', 'type ioredis', 'type pino'],
    ]),
  ),

  'ops/': [...GROUND, 'pino', 'prom-client'],
  'ops/page/': [...GROUND, 'ops/', 'type pino'],
  'app/': [...EVERYTHING_INNER, 'type pino', 'type ioredis'],
  'daemon.ts': [...EVERYTHING_INNER, 'app/', 'type pino'],
  'cli/': [
    ...[
      ...EVERYTHING_INNER,
      'app/',
      'daemon.ts',
      'sandbox/',
      'sandbox/service/',
      'sandbox/receivers/',
      'sandbox/screens/',
    ],
    ...[...CHANNEL_KINDS.map((kind) => `channels/${kind}/`), 'channels/webhook/formats/', 'commander', 'yaml', 'zod'],
  ],
  'main.ts': ['cli/', 'errors.ts'],

  // Its own literals, so that a mistake in decoding is not made on both sides.
  ...Object.fromEntries(SANDBOX.map((folder) => [folder, SANDBOX])),
};

/** What single files may import besides their row, each for a reason. */
const FILE_ROWS: Record<string, readonly string[]> = {
  // The one list of kinds.
  'channels/registry.ts': CHANNEL_KINDS.map((kind) => `channels/${kind}/`),
  ...Object.fromEntries(FILES.filter((file) => file.startsWith('features/page/')).map((f) => [f, ['ops/page/']])),
  // The page behind its links.
  'features/acknowledgement/link.ts': ['type ops/page/acknowledge.ts'],
  // Durations as the operator writes them.
  'features/mutes/new-mute.ts': ['schema/'],
  'features/conditions/known.ts': ['schema/'],
  'features/acknowledgement/annotation.ts': ['schema/'],
  'features/acknowledgement/press.ts': ['schema/'],
  // What opens from the config takes the config's types.
  'service/open.ts': ['type config/schema.ts'],
  // The clients and servers of the outer world, each where its owner is.
  ...Object.fromEntries(
    FILES.filter((file) => file.startsWith('channels/email/')).map((f) => [f, ['nodemailer', 'undici']]),
  ),
  ...Object.fromEntries(
    FILES.filter((file) => file.startsWith('channels/slack/')).map((f) => [
      f,
      ['@slack/web-api', 'type @slack/types', 'undici'],
    ]),
  ),
  ...Object.fromEntries(FILES.filter((file) => file.startsWith('channels/telegram/')).map((f) => [f, ['telegraf']])),
  // Loaded only where an endpoint for traces is named.
  'ops/spans.ts': [
    ...['api', 'context-async-hooks', 'exporter-trace-otlp-http', 'resources', 'sdk-trace'].map(
      (name) => `@opentelemetry/${name}`,
    ),
    'bullmq-otel',
  ],
  // Loaded only where the option is on and somebody asks.
  'features/board/open.ts': ['@bull-board/api', 'type @bull-board/api/dist/types.js'],
  'features/board/read-only-queue.ts': [
    '@bull-board/api/dist/queueAdapters/base.js',
    'type @bull-board/api/dist/types.js',
  ],
  'sandbox/receivers/smtp/mail.ts': ['postal-mime'],
  'sandbox/receivers/smtp/server.ts': ['smtp-server'],
  'sandbox/receivers/smtp/session.ts': ['type smtp-server'],
};

/** Only these rows may know the whole `Store`; everything else declares the few functions it needs. */
const KNOW_THE_STORE = ['app/', 'daemon.ts', 'cli/'];

const isAllowedBy = (allowed: readonly string[], { to, typeOnly }: Import): boolean =>
  allowed
    .filter((entry) => typeOnly || !entry.startsWith('type '))
    .map((entry) => entry.replace(/^type /, ''))
    .some((entry) => entry === to || (OWN.has(to) && entry === rowOf(to)));

const isAllowed = (one: Import): boolean =>
  rowOf(one.from) === rowOf(one.to) ||
  isAllowedBy([...(ROWS[rowOf(one.from)] ?? []), ...(FILE_ROWS[one.from] ?? [])], one);

const pairOf = ({ from, to }: Import): string => `${from} -> ${to}`;

/** The groups of names that reach each other along `edges`, as `a <-> b`. */
const circlesOf = (edges: readonly { from: string; to: string }[]): string[] => {
  const next = Map.groupBy(edges, ({ from }) => from);
  const reach = (start: string): Set<string> => {
    const seen = new Set<string>();
    const open = [start];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const { to } of next.get(at) ?? []) {
        if (seen.has(to)) continue;
        seen.add(to);
        open.push(to);
      }
    }
    return seen;
  };
  const reached = new Map([...next.keys()].map((name) => [name, reach(name)]));
  const circles = [...reached].flatMap(([name, others]) => {
    if (!others.has(name)) return [];
    return [
      [...others]
        .filter((other) => reached.get(other)?.has(name))
        .toSorted()
        .join(' <-> '),
    ];
  });
  return [...new Set(circles)].toSorted();
};

const OWN_IMPORTS = IMPORTS.filter(({ to }) => OWN.has(to));

describe('the tree', () => {
  test('was read: every relative import leads to a file', () => {
    expect(FILES.length).toBeGreaterThan(250);
    const isLost = ({ to }: Import): boolean => to.endsWith('.ts') && !OWN.has(to);
    expect(IMPORTS.filter(isLost).map(pairOf)).toEqual([]);
  });

  test('every folder has a row, and every row a folder', () => {
    const folders = new Set(FILES.map(rowOf));
    expect([...folders].filter((row) => !(row in ROWS))).toEqual([]);
    expect(Object.keys(ROWS).filter((row) => !folders.has(row))).toEqual([]);
  });

  test('every row imports only what the table allows, types too', () => {
    const broken = IMPORTS.filter((one) => !isAllowed(one)).map(pairOf);
    expect([...new Set(broken)]).toEqual([]);
  });

  test('only the composition and the commands know the whole store', () => {
    const knowing = IMPORTS.filter(({ to }) => to === 'app/store.ts');
    const broken = knowing.filter(({ from }) => !KNOW_THE_STORE.includes(rowOf(from))).map(pairOf);
    expect(broken).toEqual([]);
  });

  test('the environment is read in one place only', () => {
    const readers = FILES.filter((file) => /\bprocess\.env\b/.test(readFileSync(join(SRC, file), 'utf8')));
    expect(readers).toEqual(['main.ts']);
  });

  test('files and paths stay as the tree says', () => {
    const names = new Set(FILES.flatMap((file) => file.replace(/\.ts$/, '').split('/')));
    expect([...names].filter((name) => /^(utils?|helpers?|common|shared|misc|lib)$/.test(name))).toEqual([]);
  });
});

/** The packages that are loaded with a file, before anything of it runs. */
const packagesOf = (start: string): string[] => {
  const next = Map.groupBy(
    IMPORTS.filter(({ typeOnly, isLazy }) => !typeOnly && !isLazy),
    ({ from }) => from,
  );
  const seen = new Set([start]);
  // A set gives what is added while it is read.
  for (const file of seen) for (const { to } of next.get(file) ?? []) seen.add(to);
  return [...seen].filter((name) => !OWN.has(name) && !name.startsWith('.')).toSorted();
};

describe('a start waits only for the libraries that it needs', () => {
  const CLIENTS = ['@slack/web-api', 'nodemailer', 'telegraf'];

  test('one that asks for help', () => {
    expect(packagesOf('main.ts')).toEqual([]);
    expect(packagesOf('cli/program.ts')).toEqual(['commander']);
  });

  test('one of a command that reads Redis', () => {
    expect(packagesOf('cli/status.ts')).toEqual(['ioredis', 'yaml', 'zod']);
  });

  test('one of a daemon: of the channels what is configured', () => {
    expect(packagesOf('channels/slack/transport.ts')).toContain('@slack/web-api');
    expect(packagesOf('cli/run.ts').filter((name) => CLIENTS.includes(name))).toEqual([]);
  });
});

test('no daemon loads what Node has for fetch, as each import of node:http does', () => {
  const isImported = (file: string): boolean =>
    /^import (?!type )[^;]*from 'node:http'/m.test(readFileSync(join(SRC, file), 'utf8'));
  expect(FILES.filter(isImported)).toEqual(['sandbox/listener.ts']);
});

describe('circles', () => {
  test('no circle of imports, of values or of types', () => {
    expect(circlesOf(OWN_IMPORTS)).toEqual([]);
  });

  test('the list of features has no circle, and no line that nothing needs', () => {
    const listed = Object.entries(FEATURES).flatMap(([from, others]) => others.map((to) => ({ from, to })));
    expect(circlesOf(listed)).toEqual([]);
    const unknown = listed.filter(({ to }) => !(to in FEATURES));
    expect(unknown).toEqual([]);
    const isUsed = (from: string, to: string): boolean =>
      OWN_IMPORTS.some((one) => rowOf(one.from) === feature(from) && rowOf(one.to) === feature(to));
    expect(listed.filter(({ from, to }) => !isUsed(from, to))).toEqual([]);
  });

  test('the table has no circle of folders', () => {
    const edges = Object.entries(ROWS)
      .filter(([row]) => !SANDBOX.includes(row) && !GROUND.includes(row))
      .flatMap(([from, allowed]) => allowed.map((to) => ({ from, to: to.replace(/^type /, '') })))
      .filter(({ to }) => to.endsWith('/'));
    expect(circlesOf(edges)).toEqual([]);
  });

  test('are found', () => {
    const edges = ['a b', 'b c', 'c a', 'c d', 'e e'].map((edge) => edge.split(' '));
    expect(circlesOf(edges.map(([from = '', to = '']) => ({ from, to })))).toEqual(['a <-> b <-> c', 'e']);
  });
});

/** Names that `{ a, type B, c as d }` takes from another file; undefined for what takes everything. */
const namesIn = (clause: string): string[] | undefined => {
  const [, list] = /\{([^}]*)\}/.exec(clause) ?? [];
  return list?.split(',').map((name) =>
    name
      .trim()
      .replace(/^type /, '')
      .replace(/ as .*/, ''),
  );
};

test('what is exported is imported somewhere', () => {
  const root = join(SRC, '..');
  const used = new Map<string, Set<string> | 'all'>();
  for (const folder of ['src', 'test', 'bench', 'scripts']) {
    const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      const from = posix.join(folder, file);
      for (const { groups = {} } of readFileSync(join(root, from), 'utf8').matchAll(STATEMENT)) {
        const to = posix.normalize(posix.join(posix.dirname(from), groups.to ?? groups.lazy ?? ''));
        const names = namesIn(groups.clause ?? '');
        const known = used.get(to);
        if (names === undefined || known === 'all') used.set(to, 'all');
        else used.set(to, new Set([...(known ?? []), ...names]));
      }
    }
  }
  const exportsOf = (file: string): string[] =>
    [
      ...readFileSync(join(SRC, file), 'utf8').matchAll(
        /^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm,
      ),
    ]
      .map(([, name = '']) => name)
      .filter((name) => {
        const names = used.get(`src/${file}`);
        return names !== 'all' && !names?.has(name);
      });
  expect(FILES.flatMap((file) => exportsOf(file).map((name) => `${file}: ${name}`))).toEqual([]);
});
