import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/errors.ts';
import { problemsOf, read, SERVICE, SMALL } from './samples.ts';

const FIVE_MISTAKES = `services:
  - name: main
    baseUrl: monitor.example.com
    apiKey: \${MONITOR_KEY}
    timout: 10s
poll:
  interval: 15
channels:
  webhook:
    allowHttp: maybe
`;

describe('a config that is right', () => {
  it('gets every default, durations as milliseconds', () => {
    expect(read(SMALL)).toMatchObject({
      services: [{ name: 'main', timeout: 10_000, pageSize: 100, arrayParams: 'repeat' }],
      redis: { prefix: 'tocsin' },
      dataDir: './data',
      poll: {
        interval: 'auto',
        requestsPerSecond: 4,
        overlap: 5_000,
        lookback: 900_000,
        sweepEvery: 60_000,
        startFrom: 'now',
        concurrency: 20,
        catalogEvery: 300_000,
      },
      alerts: {
        assessments: ['critical'],
        sources: ['inspections', 'notifications'],
        triggers: 'ignore',
        correlate: true,
      },
      protocols: { include: ['*'], exclude: [], overrides: {} },
      channels: {
        webhook: {
          allowHttp: false,
          allowNetworks: [],
          denyNetworks: [],
          timeout: 15_000,
          retry: { maxAge: 86_400_000 },
        },
      },
      ops: { listen: '127.0.0.1:9464' },
      log: { level: 'info' },
      chains: {},
    });
  });

  it('has no key for what was left out', () => {
    const config = read(SMALL);
    expect(Object.keys(config)).not.toContain('fallback');
    expect(Object.keys(config.redis)).toEqual(['prefix']);
    expect(Object.keys(config.channels)).toEqual(['webhook']);
  });

  it.each([
    ['now', 'now'],
    ['24h', { agoMs: 86_400_000 }],
    ['2026-01-31T08:00:00Z', { at: '2026-01-31T08:00:00.000Z' }],
    ['2026-01-31T08:00:00.5+02:00', { at: '2026-01-31T06:00:00.500Z' }],
  ])('reads startFrom: %s', (text, startFrom) => {
    expect(read(`${SMALL}poll: { startFrom: "${text}" }`).poll.startFrom).toEqual(startFrom);
  });

  it.each(['yesterday', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '5 minutes', ''])(
    'refuses startFrom: "%s"',
    (text) => {
      expect(problemsOf(`${SMALL}poll: { startFrom: "${text}" }`)).toEqual([
        expect.stringMatching(/^c\.yaml:3:20: poll\.startFrom: must be now, a duration back like 24h, or a date-time/),
      ]);
    },
  );

  it('keeps every digit of a chat id, written as number or text', () => {
    const overrides = (contacts: string) =>
      `${SERVICE}\nchannels: { telegram: { botToken: "1:a" } }\nprotocols: { overrides: { P: { channels: [{ name: telegram, contacts: ${contacts} }] } } }`;
    const contactsOf = (text: string) => read(text).protocols.overrides.P?.channels?.[0]?.contacts;
    expect(contactsOf(overrides('[-1001234567890123456, "-1001234567890123457", "-100/7", "@name", 42]'))).toEqual([
      '-1001234567890123456',
      '-1001234567890123457',
      '-100/7',
      '@name',
      '42',
    ]);
  });

  it('adds chains under numbers and texts', () => {
    const { chains } = read(
      `${SMALL}chains: { 8453: { name: Base }, "31337": { name: D, explorer: "https://e.example" } }`,
    );
    expect(chains).toEqual({ '8453': { name: 'Base' }, '31337': { name: 'D', explorer: 'https://e.example' } });
  });

  it('is not YAML 1.1: no, on and octals are taken as written', () => {
    expect(read(`${SMALL}protocols: { include: [no, on, y] }`).protocols.include).toEqual(['no', 'on', 'y']);
  });
});

describe('a config with mistakes', () => {
  it('reports five mistakes as five lines, each at its place', () => {
    expect(problemsOf(FIVE_MISTAKES)).toEqual([
      'c.yaml:3:14: services.0.baseUrl: must be an absolute http or https URL, without user and password (got "monitor.example.com")',
      'c.yaml:4:13: services.0.apiKey: names the variable MONITOR_KEY, which is not set',
      'c.yaml:5:5: services.0.timout: is not a known key; did you mean timeout?',
      'c.yaml:7:13: poll.interval: must be auto, or a whole number and a unit: 500ms, 15s, 10m, 24h or 7d (got 15)',
      'c.yaml:10:16: channels.webhook.allowHttp: must be true or false (got "maybe")',
    ]);
  });

  it('gives the same places with CRLF line ends and with a byte order mark', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tocsin-config-'));
    const file = join(directory, 'c.yaml');
    await writeFile(file, `\uFEFF${FIVE_MISTAKES.replaceAll('\n', '\r\n')}`);
    const error = await loadConfig(file, {}).catch((thrown: unknown) => thrown);
    await rm(directory, { recursive: true });
    expect(error).toBeInstanceOf(ConfigError);
    const hint = `: export it, or write it into ${file.replace(/yaml$/, 'env')}`;
    expect(String(error).replaceAll(hint, '').replaceAll(file, 'c.yaml')).toBe(
      `ConfigError: ${problemsOf(FIVE_MISTAKES).join('\n')}`,
    );
  });

  it.each([
    ['a missing key', 'services: [{ name: main, apiKey: k }]', '1:12: services.0.baseUrl: is required'],
    ['a missing section', '{}', '1:1: services: is required'],
    ['no services', 'services: []', '1:11: services: must list at least one service, else nothing is forwarded'],
    ['an empty section', `${SMALL}poll:`, '3:1: poll: is empty: give it a value or leave it out'],
    ['a section of another kind', `${SMALL}poll: [1]`, '3:7: poll: must be a map (got a list of 1)'],
    [
      'three secrets where two may be',
      `${SERVICE}\nchannels: { webhook: { secret: [${Array(3).fill(`whsec_${'A'.repeat(32)}`)}] } }`,
      '2:32: channels.webhook.secret: must be whsec_ and the base64 of 24 to 64 random bytes, or a list of two (got a list of 3)',
    ],
    [
      'a number for a pace',
      `${SERVICE}\nchannels: { webhook: { rateLimit: 0 } }`,
      '2:35: channels.webhook.rateLimit: must be a map like { perSecond: 1 } (got a number)',
    ],
    [
      "a number for a sender's pace",
      `${SERVICE}\nchannels: { telegram: { senderRateLimit: 0, botToken: "1:${'a'.repeat(35)}" } }`,
      '2:42: channels.telegram.senderRateLimit: must be a map like { perSecond: 1 } (got a number)',
    ],
    ['a text for a section', `${SMALL}poll: fast`, '3:7: poll: must be a map (got a text)'],
    ['a map for a text', `${SMALL}dataDir: {}`, '3:10: dataDir: must be a text (put quotes around digits) (got a map)'],
    ['a number for a text', `${SMALL}dataDir: 12`, '3:10: dataDir: must be a text (put quotes around digits) (got 12)'],
    [
      'a text for a number',
      `${SMALL}poll: { concurrency: "20" }`,
      '3:22: poll.concurrency: must be a whole number from 1 to 1000 (got "20")',
    ],
    [
      'a fraction',
      `${SMALL}poll: { concurrency: 1.5 }`,
      '3:22: poll.concurrency: must be a whole number from 1 to 1000 (got 1.5)',
    ],
    [
      'a number out of bounds',
      `${SMALL}poll: { concurrency: 0 }`,
      '3:22: poll.concurrency: must be a whole number from 1 to 1000 (got 0)',
    ],
    [
      'a wait no timer can keep',
      `${SMALL}poll: { interval: 25d }`,
      '3:19: poll.interval: must be from 100ms to 24d (got "25d")',
    ],
    [
      'a rate of nothing',
      `${SERVICE}\nchannels: { webhook: { rateLimit: { perSecond: 0 } } }`,
      '2:48: channels.webhook.rateLimit.perSecond: must be a number greater than 0 (got 0)',
    ],
    [
      'a word that is none of the choices',
      `${SMALL}log: { level: warning }`,
      '3:15: log.level: must be one of trace, debug, info, warn, error, fatal (got "warning")',
    ],
    [
      'a choice given twice',
      `${SMALL}alerts: { assessments: [ok, ok] }`,
      '3:24: alerts.assessments: must not name one twice',
    ],
    ['no choice at all', `${SMALL}alerts: { sources: [] }`, '3:20: alerts.sources: must name at least one'],
    [
      'a key of a free map',
      `${SMALL}chains: { base: { name: Base } }`,
      '3:11: chains.base: must be a chain id in decimal digits',
    ],
    [
      'a key that is almost right',
      `${SMALL}poll: { look_back: 1h }`,
      '3:9: poll.look_back: is not a known key; did you mean lookback?',
    ],
    ['a key like nothing', `${SMALL}zebra: 1`, '3:1: zebra: is not a known key'],
    [
      'a secret in the place of a key',
      `${SMALL}ops: { token_8d1f6a0c93be45: }`,
      '3:8: ops.(20 characters): is not a known key',
    ],
    ['a prototype as a key', `${SMALL}__proto__: { services: [] }`, '3:1: __proto__: is not allowed as a key'],
    ['a key that is a list', `${SMALL}? [a]\n: 1`, '3:3: config: has a key that is no text'],
    [
      'a variable as a key',
      `${SMALL}\${KEY}: 1`,
      `3:1: \${KEY}: holds a variable, and these are replaced in values only`,
    ],
    ['a key given twice', `${SMALL}log: {}\nops: {}\nlog: {}`, '5:1: log: is given twice, first on line 3'],
    [
      'a key given twice, once in quotes',
      `${SMALL}chains: { 1: { name: a }, "1": { name: b } }`,
      '3:27: chains.1: is given twice, first on line 3',
    ],
    [
      'an infinite number',
      `${SMALL}poll: { concurrency: .inf }`,
      '3:22: poll.concurrency: must be a whole number from 1 to 1000 (got Infinity)',
    ],
    [
      'a wrong listen address',
      `${SMALL}ops: { listen: 9464 }`,
      '3:16: ops.listen: must be host:port, like 127.0.0.1:9464 or [::1]:9464 (got 9464)',
    ],
    [
      'a token that is short',
      `${SMALL}ops: { token: guess }`,
      '3:15: ops.token: must have at least 16 characters (got a text)',
    ],
    [
      'two services of one name',
      `services:\n  - { name: a }\n  - { name: b }\n  - { name: a }`,
      '4:13: services.2.name: must be unique; services.0 has it already (got "a")',
    ],
  ])('names %s', (_, text, problem) => {
    expect(problemsOf(text)).toContain(`c.yaml:${problem}`);
  });

  it('reports a key given twice besides what is wrong with its value', () => {
    expect(problemsOf(`${SMALL}log: { level: loud }\nlog: {}`)).toEqual([
      expect.stringContaining('c.yaml:3:15: log.level: must be one of'),
      'c.yaml:4:1: log: is given twice, first on line 3',
    ]);
  });
});

describe('what is no configuration at all', () => {
  it.each([
    ['an empty text', ''],
    ['only comments', '# nothing\n\n# here\n'],
    ['an empty document', '---\n...\n'],
    ['null', '~'],
  ])('%s is an error', (_, text) => {
    expect(problemsOf(text).join()).toMatch(/^c\.yaml(:1:1)?: config: is empty/);
  });

  it('a config without channels is an error: it would look healthy and forward nothing', () => {
    const problem = 'must set up at least one kind of channel, else nothing is forwarded';
    expect(problemsOf(SERVICE)).toEqual([`c.yaml:1:1: channels: ${problem}`]);
    expect(problemsOf(`${SERVICE}\nchannels: {}`)).toEqual([`c.yaml:2:11: channels: ${problem}`]);
  });

  it.each([
    [
      'a bracket that is never closed',
      `${SMALL}poll: {`,
      /^c\.yaml:3:\d+: yaml: is not indented further .* or a \{ or \[ above is not closed/,
    ],
    ['a tab', `${SMALL}poll:\n\tinterval: 1s`, /^c\.yaml:4:1: yaml: is indented by a tab/],
    ['a second document', `${SMALL}---\na: 1`, /^c\.yaml:3:1: yaml: begins a second document/],
    ['a variable in braces without quotes', `services: [{ apiKey: \${KEY} }]`, /^c\.yaml:1:\d+: yaml: .*quotes$/],
    ['a value with a colon', `${SMALL}dataDir: a: b`, /^c\.yaml:3:\d+: yaml: has a second ": " on one line/],
    ['a reserved sign', `${SMALL}dataDir: @x`, /^c\.yaml:3:10: yaml: begins with a sign that YAML reserves/],
    ['an unknown tag', `${SMALL}dataDir: !env X`, /^c\.yaml:3:10: yaml: has a tag/],
    ['YAML 1.1', `%YAML 1.1\n---\n${SMALL}`, /^c\.yaml:1:1: yaml: must be YAML 1\.2$/],
    ['an unknown alias', `${SMALL}dataDir: *nowhere`, /^c\.yaml:3:10: dataDir: is an unknown alias$/],
    [
      'an alias of itself',
      `${SMALL}protocols: &p { overrides: *p }`,
      /is nested too deep, or holds itself by an alias/,
    ],
    ['a merge of itself', `${SMALL}poll: &p { <<: *p }`, /poll\.<<: is nested too deep, or holds itself by an alias/],
    [
      'a merge of no map',
      `${SMALL}poll: { <<: 5 }`,
      /^c\.yaml:3:9: poll\.<<: must be an alias of a map, or a list of them$/,
    ],
    ['a bottomless nest', '['.repeat(5000), /is nested too deep/],
  ])('%s is one clear problem', (_, text, problem) => {
    expect(problemsOf(text)).toContainEqual(expect.stringMatching(problem));
  });

  it('a bomb of aliases is refused', () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(9)}]`,
    );
    const problems = problemsOf(`l0: &l0 [a, b, c]\n${levels.join('\n')}\n`);
    expect(problems).toContainEqual(expect.stringContaining('is nested too deep, or holds itself by an alias'));
  });
});

describe('the file', () => {
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tocsin-config-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  const messageOf = (file: string): Promise<string> =>
    loadConfig(file, {}).then(
      () => 'loaded',
      (error: unknown) => (error instanceof ConfigError ? error.message : `not a ConfigError: ${error}`),
    );

  it('is loaded', async () => {
    const file = join(directory, 'small.yaml');
    await writeFile(file, SMALL);
    expect((await loadConfig(file, {})).services[0]?.apiKey.reveal()).toBe('key-1');
  });

  it('that is missing, a directory, too large or no text is a clear problem', async () => {
    const large = join(directory, 'large.yaml');
    await writeFile(large, '#'.repeat(1_048_577));
    const binary = join(directory, 'binary.yaml');
    await writeFile(binary, Buffer.from([0xff, 0xfe, 0x61, 0x00]));
    const missing = join(directory, 'missing.yaml');
    expect(await messageOf(missing)).toMatch(
      /missing\.yaml: config: cannot be read: there is no such file\. Make it: tocsin init .*example.* --config$/,
    );
    expect(await messageOf('missing.yaml')).toContain(`there is no such file in ${process.cwd()}. Make it`);
    expect(await messageOf(directory)).toBe(`${directory}: config: cannot be read: it is a directory`);
    expect(await messageOf(large)).toBe(`${large}: config: cannot be read: it is larger than 1024 KiB`);
    expect(await messageOf(binary)).toBe(`${binary}: config: cannot be read: it is not UTF-8 text`);
  });

  it('finds secret files beside it', async () => {
    const file = join(directory, 'with-secret.yaml');
    await writeFile(join(directory, 'key.txt'), 'key-from-file\r\n');
    await writeFile(file, SMALL.replace('key-1', `"\${file:key.txt}"`));
    expect((await loadConfig(file, {})).services[0]?.apiKey.reveal()).toBe('key-from-file');
  });
});

describe('anchors and merges', () => {
  it('read as if written out, own keys before merged ones, earlier merges before later ones', () => {
    const { channels } = read(`${SERVICE}
channels:
  slack: &base
    timeout: 5s
    concurrency: 7
    retry: &retry { maxAge: 2h }
  webhook:
    <<: [{ timeout: 6s }, *base]
    concurrency: 9
    retry: *retry
`);
    expect(channels.webhook).toMatchObject({ timeout: 6000, concurrency: 9, retry: { maxAge: 7_200_000 } });
  });

  it('point at what is wrong where it is written', () => {
    const problems = problemsOf(`${SERVICE}
channels:
  slack: &base
    timeout: 5
  webhook:
    <<: *base
`);
    expect(problems).toEqual([
      expect.stringMatching(/^c\.yaml:4:14: channels\.slack\.timeout: must be/),
      expect.stringMatching(/^c\.yaml:4:14: channels\.webhook\.timeout: must be/),
    ]);
  });
});
