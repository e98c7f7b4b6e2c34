/** `tocsin webhook verify` and `sample`, as a receiver's developer types them; a library of others is the judge. */
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deriveSecret } from '../../src/channels/webhook/receiver-settings.ts';
import { payloadJsonSchema, payloadSchema } from '../../src/channels/webhook/schema.ts';
import { runInProcess } from './in-process.ts';

const secretOf = (fill: string): string => `whsec_${Buffer.alloc(32, fill).toString('base64')}`;
const SECRET = secretOf('a');
const BODY = '{"type":"inspection.critical","timestamp":"2026-11-20T10:07:31.002Z","data":{"price":"1 €"}}';

let room = '';
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), 'tocsin-webhook-'));
});
afterAll(() => rm(room, { recursive: true, force: true }));

const fileOf = async (name: string, content: string | Buffer): Promise<string> => {
  const file = join(room, name);
  await writeFile(file, content);
  return file;
};

interface Surroundings {
  env?: Record<string, string>;
  stdin?: string | Buffer;
}

const run = (args: readonly string[], { env = {}, stdin = '' }: Surroundings = {}) =>
  runInProcess(['webhook', ...args], { env: { TOCSIN_CONFIG: join(room, 'none.yaml'), ...env }, stdin });

/** The headers of a webhook, signed by the reference library. */
const signed = (body: string, { at = new Date(), fills = ['a'] }: { at?: Date; fills?: string[] } = {}) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': fills.map((fill) => new Webhook(secretOf(fill)).sign('msg_1', at, body)).join(' '),
});

type Headers = Record<string, string>;

const optionsOf = (headers: Headers): string[] =>
  Object.entries(headers).flatMap(([name, value]) => [`--${name.replace('webhook-', '')}`, value]);

const verify = async (body: string | Buffer, headers: Headers, ...more: string[]) =>
  run(['verify', ...optionsOf(headers), ...more], { env: { TOCSIN_WEBHOOK_SECRET: SECRET }, stdin: body });

describe('verify', () => {
  test('what the reference library signed is valid, with one secret or among two', async () => {
    for (const fills of [['a'], ['b', 'a'], ['a', 'b']]) {
      const { code, out } = await verify(BODY, signed(BODY, { fills }));
      expect(out).toMatch(/^ok {4}headers: .*\nok {4}timestamp: .*\nok {4}signature: .*\nvalid\n$/);
      expect(code).toBe(0);
    }
  });

  test('any bytes may be a body', async () => {
    const body = Buffer.from([0xff, 0x00, 0x0a, 0x80]);
    const at = new Date();
    const headers = { ...signed('', { at }), 'webhook-signature': '' };
    const key = Buffer.alloc(32, 'a');
    const text = Buffer.concat([Buffer.from(`msg_1.${headers['webhook-timestamp']}.`), body]);
    headers['webhook-signature'] = `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
    expect(await verify(body, headers)).toMatchObject({ code: 0 });
  });

  test.each([
    [
      'another secret',
      BODY,
      signed(BODY, { fills: ['b'] }),
      /FAIL {2}signature: made with another secret, or a value was changed/,
    ],
    ['a body that lost its end', BODY.slice(0, -2), signed(BODY), /signature: .*no JSON, was cut or changed/],
    ['a changed value', BODY.replace('1 €', '2  €'), signed(BODY), /FAIL {2}signature: made with another secret/],
    ['another id', BODY, { ...signed(BODY), 'webhook-id': 'msg_2' }, /FAIL {2}signature: made with another secret/],
    ['an id that nobody sends', BODY, { ...signed(BODY), 'webhook-id': 'msg.1' }, /FAIL {2}headers: webhook-id has a/],
    ['a line break at its end', `${BODY}\r\n`, signed(BODY), /signature: made with this secret, but .* line break/],
    ['spaces in its JSON', JSON.stringify(JSON.parse(BODY), null, 2), signed(BODY), /this secret, but .* rewritten/],
    ['its signs escaped', BODY.replace('€', '\\u20ac'), signed(BODY), /this secret, but .* rewritten/],
    ['no signature', BODY, { ...signed(BODY), 'webhook-signature': '' }, /FAIL {2}headers: missing: webhook-signature/],
    [
      'a torn signature',
      BODY,
      { ...signed(BODY), 'webhook-signature': 'v1,abc v1a,x' },
      /signature: none is of the form/,
    ],
    [
      'milliseconds',
      BODY,
      { ...signed(BODY), 'webhook-timestamp': String(Date.now()) },
      /timestamp: is in milliseconds/,
    ],
    ['no number', BODY, { ...signed(BODY), 'webhook-timestamp': 'now' }, /timestamp: is not a number of seconds/],
  ])('%s is found', async (_what, body, headers, said) => {
    const { code, out } = await verify(body, headers);
    expect(out).toMatch(said);
    expect(out).toMatch(/\nnot valid\n$/);
    expect(out).not.toContain(SECRET.slice(6));
    expect(code).toBe(2);
  });

  test('a secret that was used undecoded is found', async () => {
    const headers = signed(BODY);
    const text = `msg_1.${headers['webhook-timestamp']}.${BODY}`;
    const signature = `v1,${createHmac('sha256', SECRET).update(text).digest('base64')}`;
    const { out } = await verify(BODY, { ...headers, 'webhook-signature': signature });
    expect(out).toMatch(/made with the secret's text/);
  });

  test.each([
    [-400_000, /FAIL {2}timestamp: 40[01]s old, and the tolerance is 5m/],
    [-864_000_000, /FAIL {2}timestamp: 10d old/],
    [402_000, /FAIL {2}timestamp: 40[12]s in the future/],
  ])('%d ms away is too far, and its signature is good all the same', async (differenceMs, said) => {
    const headers = signed(BODY, { at: new Date(Date.now() + differenceMs) });
    const { code, out } = await verify(BODY, headers);
    expect(out).toMatch(said);
    expect(out).toMatch(/ok {4}signature/);
    expect(code).toBe(2);
    expect((await verify(BODY, headers, '--tolerance', '11d')).code).toBe(0);
  });

  const HEAD = (headers: Headers, end: string) =>
    ['POST /in HTTP/1.1', ...Object.entries(headers).map(([name, value]) => `${name.toUpperCase()}:  ${value} `)]
      .map((line) => `${line}${end}`)
      .join('');

  test('headers come from a file as HTTP has them, the body after them, from a file or standard input', async () => {
    const secret = ['--secret', SECRET];
    const body = await fileOf('body.json', BODY);
    for (const end of ['\r\n', '\n']) {
      const head = HEAD(signed(BODY), end);
      const headers = await fileOf('head.txt', head);
      const whole = await fileOf('whole.txt', `${head}${end}${BODY}`);
      expect(await run(['verify', body, '--headers', headers, ...secret])).toMatchObject({ code: 0 });
      expect(await run(['verify', '--headers', headers, ...secret], { stdin: BODY })).toMatchObject({ code: 0 });
      expect(await run(['verify', '--headers', whole, ...secret])).toMatchObject({ code: 0 });
      const piped = { stdin: `${head}${end}${BODY}` };
      expect(await run(['verify', '--headers', '-', ...secret], piped)).toMatchObject({ code: 0 });
      const verbose = await fileOf('verbose.txt', head.replace(/^(?=.)/gm, '> '));
      expect(await run(['verify', body, '--headers', verbose, ...secret])).toMatchObject({ code: 0 });
    }
  });

  test('as JSON', async () => {
    const { code, out } = await verify(BODY, signed(BODY), '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ valid: true, checks: [{ ok: true }, { ok: true }, { ok: true }] });
  });

  const config = (webhook: string) => `
services: [{ name: main, baseUrl: "https://monitor.example.com/api", apiKey: key-1 }]
channels: { webhook: { ${webhook} } }
`;

  test('the config says whose secret it was, without a secret path', async () => {
    const webhook = `secret: [${secretOf('n')}, ${secretOf('o')}], secrets: { "https://hooks.example/s3cr3t": ${SECRET} }`;
    const file = await fileOf('tocsin.yaml', config(webhook));
    const told = async (fill: string) => {
      const args = ['verify', ...optionsOf(signed(BODY, { fills: [fill] })), '--config', file];
      return (await run(args, { stdin: BODY })).out;
    };
    expect(await told('o')).toMatch(/signature: made with channels\.webhook\.secret, number 2\n/);
    const own = await told('a');
    expect(own).toMatch(/signature: made with channels\.webhook\.secrets of hooks\.example \([0-9a-f]{4}\)/);
    expect(own).not.toContain('s3cr3t');
    expect(await told('x')).toMatch(/not valid/);
  });

  test.each([
    [[], {}, /no secret: give --secret/],
    [['--secret', 'whsec_c2hvcnQ='], {}, /--secret must be whsec_/],
    [[], { TOCSIN_WEBHOOK_SECRET: 'hush' }, /TOCSIN_WEBHOOK_SECRET must be whsec_/],
    [['--secret', SECRET, '--tolerance', 'long'], {}, /--tolerance must be a duration/],
    [
      ['/nowhere/body.json', ...optionsOf(signed(BODY)), '--secret', SECRET],
      {},
      /the body .* cannot be read: there is no such file/,
    ],
    [['-', '--headers', '-', '--secret', SECRET], {}, /either the headers or the body/],
    [['--headers', '-', '--secret', SECRET], {}, /the body is missing/],
    [['body.json', '--secret', SECRET], {}, /give --headers FILE, or --id, --timestamp and --signature/],
    [['--id', 'msg_1', '--secret', SECRET], {}, /give --headers FILE, or --id, --timestamp and --signature/],
  ])('%j %j is a slip of the hand', async (args, env, said) => {
    const { code, out, err } = await run(['verify', ...args], { env });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(said);
    expect(err).not.toContain('hush');
  });
});

describe('sample', () => {
  const TYPES = ['test.sample', 'inspection.critical', 'inspection.vanished', 'notification.created', 'batch'];

  test.each([...TYPES, 'tocsin.destination.broken'])('%s is signed, and as the schema has it', async (type) => {
    const { code, out } = await run(['sample', '--type', type, '--secret', SECRET, '--json']);
    expect(code).toBe(0);
    const { url, headers, body } = JSON.parse(out);
    expect(url).toBe('http://127.0.0.1:8080/');
    expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({ type });
    expect(payloadSchema.safeParse(JSON.parse(body)).error).toBeUndefined();
  });

  test('is a command that a shell takes as it is meant', async () => {
    const url = "https://hooks.example/it's?a=b&c=$d";
    const { out } = await run(['sample', '--url', url, '--secret', SECRET]);
    const echo = out.replace('curl', "printf '%s\\n'");
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', echo]);
    const words = stdout.trimEnd().split('\n');
    expect(words[0]).toBe("https://hooks.example/it's?a=b&c=$d");
    const headers = Object.fromEntries(
      words.flatMap((word, index) => (words[index - 1] === '-H' ? [word.split(': ') as [string, string]] : [])),
    );
    expect(new Webhook(SECRET).verify(words.at(-1) ?? '', headers)).toEqual(JSON.parse(words.at(-1) ?? ''));
  });

  test.each([
    ['pagerduty', 'inspection.critical', /"routing_key":"ROUTING_KEY","event_action":"trigger"/],
    ['opsgenie', 'inspection.downgraded', /8080\/incident_[0-9a-f]{32}\/close\?identifierType=alias/],
    ['opsgenie', 'inspection.upgraded', /curl -X PUT '?http:\/\/127\.0\.0\.1:8080\/incident_[0-9a-f]{32}\/priority/],
    ['opsgenie', 'test.sample', /-H 'authorization: GenieKey API_KEY'/],
    ['alertmanager', 'inspection.critical', /"alertname":"TocsinInspection"/],
    ['discord', 'notification.created', /"allowed_mentions":\{"parse":\[\]\}/],
    ['teams', 'tocsin.trouble.begun', /application\/vnd\.microsoft\.card\.adaptive/],
  ])('as %s %s needs no secret, and has no signature', async (format, type, said) => {
    const { code, out } = await run(['sample', '--format', format, '--type', type]);
    expect(code).toBe(0);
    expect(out).toMatch(said);
    expect(out).not.toContain('webhook-signature');
  });

  test('as cloudevents it is signed, too', async () => {
    const { out } = await run(['sample', '--format', 'cloudevents', '--secret', SECRET, '--json']);
    const { headers, body } = JSON.parse(out);
    expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({ specversion: '1.0', type: 'tocsin.test.sample' });
  });

  test('of the config the secret of that receiver is taken', async () => {
    const webhook = `secret: ${secretOf('o')}, secrets: { hooks.example: [${SECRET}, ${secretOf('b')}] }`;
    const file = await fileOf(
      'sample.yaml',
      `services: [{ name: main, baseUrl: "https://m.example", apiKey: k }]\nchannels: { webhook: { ${webhook} } }\n`,
    );
    const { out } = await run(['sample', '--config', file, '--url', 'https://hooks.example/in', '--json']);
    const { headers, body } = JSON.parse(out);
    for (const fill of ['a', 'b']) expect(new Webhook(secretOf(fill)).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(secretOf('o')).verify(body, headers)).toThrow();
  });

  test.each([
    [['--type', 'inspection.odd'], /--type must be one of test\.sample, /],
    [['--format', 'pager'], /--format must be one of standard, .*\(got 'pager'\)/],
    [['--url', 'hooks.example'], /--url must be an http or https URL/],
  ])('%j is a slip of the hand', async (args, said) => {
    const { code, err } = await run(['sample', '--secret', SECRET, ...args]);
    expect(code).toBe(1);
    expect(err).toMatch(said);
  });
});

describe('secret', () => {
  const URL_A = 'https://hooks.example/s3cr3t';
  const URL_B = 'https://hooks.example/other';
  const fileWith = (webhook: string) =>
    fileOf(
      'secret.yaml',
      `services: [{ name: main, baseUrl: "https://m.example", apiKey: k }]\nchannels: { webhook: { ${webhook} } }\n`,
    );
  const derived = (more = '') =>
    fileWith(`secret: [${secretOf('n')}, ${secretOf('o')}], deriveSecrets: true, secrets: { ${more} }`);

  test('what it prints verifies what that URL gets, and nothing else', async () => {
    const config = ['--config', await derived()];
    const { code, out } = await run(['secret', 'https://HOOKS.example:443/s3cr3t#top', ...config]);
    expect(code).toBe(0);
    const [newer = '', older = '', ...others] = out.trimEnd().split('\n');
    expect(others).toEqual([]);
    const sampleOf = async (url: string) => JSON.parse((await run(['sample', '--url', url, '--json', ...config])).out);
    const { body, headers } = await sampleOf(URL_A);
    for (const one of [newer, older]) expect(new Webhook(one).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(secretOf('n')).verify(body, headers)).toThrow();
    const other = await sampleOf(URL_B);
    for (const one of [newer, older]) expect(() => new Webhook(one).verify(other.body, other.headers)).toThrow();
    const json = JSON.parse((await run(['secret', URL_A, '--json', ...config])).out);
    expect(json).toEqual({ url: URL_A, secrets: [newer, older] });
  });

  test('verify takes the secret of the URL that it is told', async () => {
    const config = ['--config', await derived()];
    const { body, headers } = JSON.parse((await run(['sample', '--url', URL_A, '--json', ...config])).out);
    const { 'content-type': _type, ...signatureHeaders } = headers;
    const verifyAt = (...more: string[]) =>
      run(['verify', ...optionsOf(signatureHeaders), ...more, ...config], { stdin: body });
    const own = await verifyAt('--url', URL_A);
    expect(own.out).toMatch(
      /signature: made with the secret of hooks\.example \([0-9a-f]{4}\), number 1 and .*, number 2/,
    );
    expect(own).toMatchObject({ code: 0 });
    expect(own.out).not.toContain('s3cr3t');
    const other = await verifyAt('--url', URL_B);
    expect(other.out).toMatch(/signature: made with another secret, or a value was changed/);
    expect(await verifyAt()).toMatchObject({ code: 1, err: expect.stringMatching(/give --url: .*deriveSecrets/) });
  });

  test('a receiver that has a secret of its own keeps it, and the one to come can be printed', async () => {
    const config = ['--config', await derived(`hooks.example: ${SECRET}`)];
    expect(await run(['secret', URL_A, ...config])).toMatchObject({ code: 0, out: `${SECRET}\n` });
    const plain = ['--config', await fileWith(`secret: ${secretOf('n')}`)];
    const future = await run(['secret', URL_A, '--derived', ...plain]);
    expect(future).toMatchObject({ code: 0, err: '' });
    expect((await run(['secret', URL_A, '--derived', '--config', await derived(`hooks.example: ${SECRET}`)])).out).toBe(
      `${future.out}${deriveSecret(secretOf('o'), URL_A)}\n`,
    );
  });

  test.each([
    [URL_A, `secret: ${SECRET}`, /hooks\.example \([0-9a-f]{4}\) has no secret of its own: .*deriveSecrets/],
    [URL_A, `secrets: { other.example: ${SECRET} }`, /no secret for hooks\.example/],
    [URL_A, '', /has no channels\.webhook\.secret/],
    ['hooks.example', `secret: ${SECRET}, deriveSecrets: true`, /the URL must be an http or https URL/],
  ])('of %s with { %s } there is none to print', async (url, webhook, said) => {
    const { code, out, err } = await run(['secret', url, '--config', await fileWith(webhook)]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(said);
    expect(err).not.toContain(SECRET);
    expect(err).not.toContain('s3cr3t');
  });
});

test('schema --webhook prints the schema of the bodies', async () => {
  const { out } = await runInProcess(['schema', '--webhook']);
  expect(JSON.parse(out)).toEqual(payloadJsonSchema());
});
