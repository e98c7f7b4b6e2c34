import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkConfig, runCheck } from '../../src/cli/check.ts';
import { configJsonSchema } from '../../src/cli/schema.ts';
import { SERVICE, SMALL } from '../config/samples.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tocsin-check-'));
});
afterAll(() => rm(directory, { recursive: true }));

const fileOf = async (text: string, mode = 0o600): Promise<string> => {
  const file = join(directory, 'c.yaml');
  await writeFile(file, text);
  await chmod(file, mode);
  return file;
};

const run = async (text: string, json: boolean): Promise<{ code: number; output: string }> => {
  const file = await fileOf(text);
  const written: string[] = [];
  const code = await runCheck({ config: file, json }, { env: {}, write: (part) => written.push(part) });
  return { code, output: written.join('').replaceAll(file, 'c.yaml') };
};

describe('check', () => {
  it('says in a few lines what the config would do', async () => {
    const file = await fileOf(SMALL);
    const { problems, summary } = await checkConfig(file, {});
    expect(problems).toEqual([]);
    expect(summary).toEqual([
      'services: main at monitor.example.com',
      `redis: embedded, under ${dirname(file)}/data`,
      `dataDir: ${dirname(file)}/data`,
      'forwards: inspections (critical) and notifications, as often as 4 requests a second allow',
      'protocols: *',
      'channels: webhook',
      'fallback: none',
      'ops: 127.0.0.1:9464',
      'note: webhooks go out unsigned, as channels.webhook.secret is not set',
    ]);
  });

  it('says where probes are answered apart from the page', async () => {
    const file = await fileOf(`${SMALL}ops: { listen: "0.0.0.0:9464" }\n`);
    const { summary } = await checkConfig(file, { TOCSIN_OPS_PROBES: '127.0.0.1:9466' });
    expect(summary).toContain('ops: 0.0.0.0:9464; probes at 127.0.0.1:9466 (from TOCSIN_OPS_PROBES)');
  });

  it('renders every template for every message that it is for, and names what is wrong with its line', async () => {
    const problemsOf = async (...templates: string[]) => {
      const file = await fileOf(`${SMALL}templates:\n${templates.map((one) => `  - ${one}\n`).join('')}`);
      return (await checkConfig(file, {})).problems.map((line) => line.replace(/^.*c\.yaml:/, ''));
    };
    const first = SMALL.split('\n').length + 1;
    expect(
      await problemsOf(
        '{ title: "{{ sign }} {{ protocol }}: wake up", text: "{{ severity }} {{ where }}" }',
        '{ title: "{{ sign }} {{ protocl }}" }',
        '{ text: "{% if severity == \'ODD\' %}{{ orign }}{% else %}{{ where }}{% endif %}" }',
        '{ text: "{% for one in detectors %}{{ one.mesage }}{% endfor %} {{ where }}" }',
        '{ text: "{% for a in (1..9999) %}{% for b in (1..9999) %}.{% endfor %}{% endfor %}" }',
        '{ title: "{{ title }} - {{ happened }}" }',
        '{ title: "{{ sign }} {{ title }}", types: [inspection.critical] }',
        '{ text: "{{ message }}", types: [inspection.critical] }',
        '{ title: "{{ sign }} {{ where }}", types: [tocsin.*] }',
        '{ text: "{{ detectors[0].name }}", types: [tocsin.*] }',
      ),
    ).toEqual([
      expect.stringMatching(
        `^${first + 1}:14: templates.1.title: must name fields that exist: {{ protocl }} is none; `,
      ),
      expect.stringMatching(`^${first + 2}:13: templates.2.text: must name fields that exist: {{ orign }} is none; `),
      expect.stringMatching(
        `^${first + 3}:13: templates.3.text: must fit .* fails for "single": undefined variable: one.mesage`,
      ),
      expect.stringMatching(`^${first + 4}:13: templates.4.text: must fit .* it does more than 20,000 steps`),
      expect.stringMatching(`^${first + 5}:14: templates.5.title: must not say {{ happened }} twice, as for "single"`),
      expect.stringMatching(`^${first + 6}:14: templates.6.title: must not say {{ sign }} twice`),
      expect.stringMatching(`^${first + 7}:13: templates.7.text: must fit .* for "single": it makes an empty text`),
      expect.stringMatching(`^${first + 9}:13: templates.9.text: must fit .* for ".*": undefined variable: `),
    ]);
  });

  it('says that alerts held for an approval reach nobody, unless there is a fallback', async () => {
    const gate = `${SMALL}destinations: { gate: true }\n`;
    const note = 'note: without a fallback, alerts that destinations.gate holds reach nobody until they are approved';
    expect((await checkConfig(await fileOf(gate), {})).summary).toContain(note);
    const fallback = 'fallback: { channels: [{ name: webhook, url: "https://a.example/x" }] }';
    expect((await checkConfig(await fileOf(`${gate}${fallback}`), {})).summary).not.toContain(note);
  });

  it('buttons without a gate are remarked on: who changes channels at the service could press them', async () => {
    const remarkOn = async (alerts: string, more = ''): Promise<string | undefined> => {
      const telegram = `${SERVICE}\nchannels: { slack: { botToken: x, appToken: xapp-x } }\nalerts: { ${alerts} }\n${more}`;
      return (await checkConfig(await fileOf(telegram), {})).summary.find((line) => line.includes('destinations.gate'));
    };
    expect(await remarkOn('acknowledge: false')).toBeUndefined();
    expect(await remarkOn('acknowledge: true')).toMatch(
      /acknowledge alerts there, which keeps these from the fallback$/,
    );
    expect(await remarkOn('acknowledge: true, muteByButton: true')).toMatch(/and mute their detectors everywhere/);
    const gate = 'destinations: { gate: true }\nfallback: { channels: [{ name: slack, contacts: [C1] }] }\n';
    expect(await remarkOn('acknowledge: true', gate)).toBeUndefined();
  });

  it('says what hangs on one token, where nothing else would help', async () => {
    const channels = 'channels: { slack: { botToken: xoxb-1 } }';
    const slack = `${SERVICE}\n${channels}\nfallback: { channels: [{ name: slack, contacts: [C0000001] }] }\n`;
    const note = 'note: Everything, the fallback included, hangs on one bot token (channels.slack.botToken): ';
    const { summary } = await checkConfig(await fileOf(slack), {});
    expect(summary).toContainEqual(expect.stringContaining(note));
  });

  it('says that others can read the secrets in it, and nothing where it holds none', async () => {
    const open = await checkConfig(await fileOf(SMALL.replace('key-1', 'hush-hush'), 0o644), {});
    expect(open.summary.at(-1)).toMatch(
      /^note: .*c\.yaml holds secrets, and every user of this machine can read it \(mode 0644\)/,
    );
    const variable = SMALL.replace('key-1', `"$\{API_KEY}"`);
    const closed = [
      await checkConfig(await fileOf(SMALL.replace('key-1', 'hush-hush'), 0o640), {}),
      await checkConfig(await fileOf(variable, 0o644), { API_KEY: 'hush-hush' }),
    ];
    for (const { problems, summary } of closed) {
      expect(problems).toEqual([]);
      expect(summary.join('\n')).not.toContain('every user');
    }
  });

  it('names a variable that stands for a secret without its braces, and no secret that only looks like one', async () => {
    const note = `note: a secret is the text $API_KEY itself: write $\{API_KEY} for the value of that variable`;
    const withKey = (key: string): Promise<string> => fileOf(SMALL.replace('key-1', () => key));
    expect((await checkConfig(await withKey('$API_KEY'), {})).summary).toContain(note);
    const meant = ['$$API_KEY', `"$\{API_KEY}"`, '$API_key'];
    for (const text of meant) {
      const { problems, summary } = await checkConfig(await withKey(text), { API_KEY: '$API_KEY' });
      expect(problems).toEqual([]);
      expect(summary.join('\n')).not.toContain('API_');
    }
  });

  it('says it of a larger one, without its secrets', async () => {
    const file = await fileOf(`${SMALL.replace('allowHttp: false', 'secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')}
redis: { url: "redis://:password@h" }
protocols: { include: ["a*", b], exclude: [ab], overrides: { b: { channels: [{ name: webhook, url: "https://a.example" }] } } }
fallback: { after: 2m, channels: [{ name: webhook, url: "https://a.example/token" }] }
`);
    expect((await checkConfig(file, {})).summary.slice(1, 7)).toEqual([
      'redis: one server, by redis.url',
      `dataDir: ${dirname(file)}/data`,
      'forwards: inspections (critical) and notifications, as often as 4 requests a second allow',
      'protocols: a*, b, without ab; 1 with channels of their own',
      'channels: webhook',
      'fallback: webhook after 2m',
    ]);
  });

  it('prints the problems, one a line, and gives exit code 1', async () => {
    expect(await run(`${SMALL}pol: {}\nlog: { level: loud }\n`, false)).toEqual({
      code: 1,
      output:
        'c.yaml:3:1: pol: is not a known key; did you mean poll?\n' +
        'c.yaml:4:15: log.level: must be one of trace, debug, info, warn, error, fatal (got "loud")\n',
    });
  });

  it('prints that there are none, and gives exit code 0', async () => {
    const { code, output } = await run(SMALL, false);
    expect(code).toBe(0);
    expect(output).toMatch(/^c\.yaml: no problems\nservices: main at/);
  });

  it('prints JSON for scripts', async () => {
    const { code, output } = await run('services: 5', true);
    expect(code).toBe(1);
    expect(JSON.parse(output)).toMatchObject({ problems: [expect.any(String), expect.any(String)], summary: [] });
  });
});

describe('schema', () => {
  const schema = configJsonSchema();

  it('is a JSON Schema of what the operator writes', () => {
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'Tocsin configuration',
      type: 'object',
      required: ['services'],
      additionalProperties: false,
    });
  });

  it('takes a variable wherever a value has a form', () => {
    expect(schema).toHaveProperty('properties.poll.properties.interval', {
      description: expect.stringMatching(/^Time between two polls of one protocol and source/),
      default: 'auto',
      anyOf: [
        { type: 'string', pattern: '^(auto|\\d{1,12}(ms|s|m|h|d))$' },
        { type: 'string', pattern: '\\$\\{' },
      ],
    });
    expect(schema).toHaveProperty(
      'properties.channels.properties.email.properties.smtp.properties.port.anyOf.0.type',
      'integer',
    );
  });

  it('has a description for every key', () => {
    const undescribed = (node: unknown, path: string): string[] => {
      if (typeof node !== 'object' || node === null) return [];
      const { properties = {}, items, additionalProperties } = node as Record<string, object>;
      return [
        ...Object.entries(properties).flatMap(([key, child]) => [
          ...('description' in child ? [] : [`${path}.${key}`]),
          ...undescribed(child, `${path}.${key}`),
        ]),
        ...undescribed(items, `${path}.*`),
        ...undescribed(additionalProperties, `${path}.*`),
      ];
    };
    expect(undescribed(schema, '')).toEqual([]);
  });
});
