/** `tocsin init`: from nothing to a config with which a test message arrives. */
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CHANNEL_KINDS } from '../../src/alert.ts';
import { kindFacts } from '../../src/channels/registry.ts';
import { variable } from '../../src/cli/init-config.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { runInProcess } from './in-process.ts';

const startWorld = async () => {
  const sandbox = createSandbox({ protocols: [{ name: 'Lending Pool', channels: [] }] });
  onTestFinished(sandbox.stop);
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-init-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return { addresses: await sandbox.start(), sandbox, file: join(directory, 'conf/tocsin.yaml'), directory };
};

const modeOf = async (file: string): Promise<number> => (await stat(file)).mode & 0o777;
const isMissing = (file: string): Promise<boolean> =>
  stat(file).then(
    () => false,
    () => true,
  );

/** As a shell may have it: nothing is kept from others, or everything. */
const withUmask = (mask: number): void => {
  const before = process.umask(mask);
  onTestFinished(() => void process.umask(before));
};

test('asks until it works, and what it writes passes check and sends a test message', async () => {
  withUmask(0o000);
  const { addresses, sandbox, file, directory } = await startWorld();
  const { service, telegram } = addresses;
  const typed = ['no-url', service.url, 'bad-key', 'perhaps', 'y', service.url, service.apiKey];
  const answers = [...typed, 'telgram', 'telegram', telegram.botToken, '-1001'];
  const env = { TOCSIN_CONFIG: file, TOCSIN_DATA_DIR: join(directory, 'data') };
  const written = await runInProcess(['init', '--api-url', telegram.apiRoot], { env, answers });
  expect(written).toMatchObject({ code: 0, out: expect.stringContaining('tocsin test --channel telegram --to -1001') });
  expect(written.err).toContain('it must be an absolute http or https URL');
  expect(written.err).toContain('it must be y or n\n');
  expect(written.err).toContain('FAIL  service main: main: GET protocols: 401');
  expect(written.err).toContain("(got 'telgram'); did you mean 'telegram'?");
  expect(written.err).toContain('ok    channel telegram');
  expect(written.err).toContain(
    'note  destinations: Everything, the fallback included, hangs on channels.telegram.botToken: ',
  );
  const text = await readFile(file, 'utf8');
  const variables = join(directory, 'conf/tocsin.env');
  for (const secret of [service.apiKey, telegram.botToken]) {
    expect(text).not.toContain(secret);
    expect(written.out + written.err).not.toContain(secret);
    expect(await readFile(variables, 'utf8')).toContain(secret);
  }
  expect(await modeOf(variables)).toBe(0o600);
  expect(await modeOf(file)).toBe(0o644);
  expect((await modeOf(dirname(file))) & 0o022).toBe(0);
  for (const args of [['check'], ['check', '--online'], ['test', '--channel', 'telegram', '--to', '-1001']]) {
    expect({ args, ...(await runInProcess(args, { env })) }).toMatchObject({ args, code: 0 });
  }
  expect(sandbox.received().map(({ kind }) => kind)).toEqual(['telegram']);
});

test('its help names every variable that it takes an answer from', async () => {
  const { out } = await runInProcess(['init', '--help'], { env: {} });
  const named = CHANNEL_KINDS.flatMap((kind) => {
    const { secret, addressVariable } = kindFacts(kind).setup;
    return ['question' in secret ? secret.variable : [], addressVariable ?? []].flat();
  });
  expect(named.filter((name) => !out.includes(`$${name}`))).toEqual([]);
});

test('without a terminal everything that is missing is named at once', async () => {
  const { file } = await startWorld();
  const env = { TOCSIN_CONFIG: file };
  const nothing = await runInProcess(['init'], { env });
  expect(nothing.code).toBe(1);
  expect(nothing.err).toMatch(/--service URL, --channel .*, --to ADDRESS, the variable TOCSIN_API_KEY/);
  const email = await runInProcess(['init', '--channel', 'email', '--smtp-user', 'u'], { env });
  expect(email.err).toMatch(/--from ADDRESS, --smtp HOST:PORT, .*TOCSIN_API_KEY, the variable SMTP_PASSWORD/);
});

test('options and variables do without questions; what does not work is not written', async () => {
  const { addresses, file } = await startWorld();
  const { service, slack } = addresses;
  const args = ['init', '--service', service.url, '--channel', 'slack', '--to', 'C024BE91L', '--api-url', slack.apiUrl];
  const env = { TOCSIN_CONFIG: file, TOCSIN_API_KEY: service.apiKey, SLACK_TOKEN: 'xoxb-wrong' };
  const refused = await runInProcess(args, { env });
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringMatching(/FAIL {2}channel slack: .*nothing was written/s),
  });
  expect(await isMissing(file)).toBe(true);
  const right = { ...env, SLACK_TOKEN: slack.botToken };
  expect(await runInProcess(args, { env: right })).toMatchObject({ code: 0 });
  expect(await runInProcess(['check', '--online'], { env: { TOCSIN_CONFIG: file } })).toMatchObject({ code: 0 });
});

test('a webhook in a private network is written with both keys, once it is allowed', async () => {
  const { addresses, file } = await startWorld();
  const { service } = addresses;
  const to = 'http://127.0.0.1:1/hook';
  const args = ['init', '--service', service.url, '--channel', 'webhook', '--to', to];
  const env = { TOCSIN_CONFIG: file, TOCSIN_API_KEY: service.apiKey };
  const refused = await runInProcess(args, { env });
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('--allow-private allows it') });
  const asked = await runInProcess(args, { env, answers: ['y'] });
  expect(asked).toMatchObject({ code: 0, out: expect.stringContaining('WEBHOOK_SECRET') });
  expect(asked.out).toMatch(/^ +tocsin test --channel webhook --to '\$\{WEBHOOK_URL\}'$/m);
  expect(`${asked.out}${asked.err}`).not.toContain('/hook');
  const text = await readFile(file, 'utf8');
  expect(text).toContain('allowHttp: true');
  expect(text).toContain('allowNetworks: ["127.0.0.1"]');
  expect(text).not.toContain('/hook');
  expect(await runInProcess(['check'], { env })).toMatchObject({ code: 0 });
});

test('the test message that it proposes needs nothing to be exported, and shows no URL', async () => {
  const { addresses, sandbox, file, directory } = await startWorld();
  const { service, webhook } = addresses;
  const env = { TOCSIN_CONFIG: file, TOCSIN_DATA_DIR: join(directory, 'data') };
  const args = ['init', '--service', service.url, '--channel', 'webhook', '--allow-private'];
  const secrets = {
    TOCSIN_API_KEY: service.apiKey,
    WEBHOOK_SECRET: webhook.secret,
    WEBHOOK_URL: `${webhook.url}/s3cret`,
  };
  expect(await runInProcess(args, { env: { ...env, ...secrets } })).toMatchObject({ code: 0 });
  const sent = await runInProcess(['test', '--channel', 'webhook', '--to', variable('WEBHOOK_URL')], { env });
  expect(sent).toMatchObject({ code: 0, out: expect.stringContaining('delivered in') });
  expect(sent.out).not.toContain('s3cret');
  expect(sandbox.received().map(({ kind, destination }) => [kind, destination])).toEqual([['webhook', '/s3cret']]);
  const unknown = await runInProcess(['test', '--channel', 'webhook', '--to', variable('NO_SUCH_URL')], { env });
  expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('NO_SUCH_URL, which is not set: export it') });
});

test('the URL of a webhook may come from a variable, and what is in a file of variables is never lost', async () => {
  const { addresses, file } = await startWorld();
  const env = {
    TOCSIN_CONFIG: file,
    TOCSIN_API_KEY: addresses.service.apiKey,
    WEBHOOK_URL: 'https://h.example.com/s3cret',
  };
  const args = ['init', '--no-check', '--service', addresses.service.url, '--channel', 'webhook'];
  const { WEBHOOK_URL: _, ...without } = env;
  const refused = await runInProcess(args, { env: without });
  expect(refused.err).toContain('needs --to ADDRESS or the variable WEBHOOK_URL');
  const variables = file.replace(/yaml$/, 'env');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(variables, "OTHER='not closed\n");
  const broken = await runInProcess(args, { env: { ...env, TOCSIN_API_KEY: 'k$y' } });
  expect(broken).toMatchObject({ code: 1, err: expect.stringContaining('mend that line') });
  expect(await readFile(variables, 'utf8')).toBe("OTHER='not closed\n");
  await writeFile(variables, 'OTHER=kept\n');
  const { code, out } = await runInProcess(args, { env });
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`--to '${variable('WEBHOOK_URL')}'`) });
  expect(out).not.toContain('s3cret');
  expect(await readFile(variables, 'utf8')).toMatch(/^OTHER=kept\n.*WEBHOOK_URL=https:\/\/h\.example\.com\/s3cret/s);
});

test('e-mail is written without asking anybody, with every text as it was given', async () => {
  const { file } = await startWorld();
  const env = { TOCSIN_CONFIG: file, TOCSIN_API_KEY: 'k$e{y}', SMTP_PASSWORD: `pa'ss #w%rd=` };
  const given = ['--service', 'https://m.example.com/api', '--to', 'oncall@example.com', '--smtp', 'relay.example.com'];
  const sender = ['--from', 'Tocsin $HOME <t@example.com>', '--smtp-user', 'a # $u'];
  const args = ['init', '--no-check', '--channel', 'email', ...given, ...sender];
  expect(await runInProcess(args, { env })).toMatchObject({ code: 0 });
  const variables = await readFile(file.replace(/yaml$/, 'env'), 'utf8');
  expect(variables).toContain("TOCSIN_API_KEY='k$e{y}'");
  expect(variables).toContain(`SMTP_PASSWORD="pa'ss #w%rd="`);
  const { code, out } = await runInProcess(['check'], { env: { TOCSIN_CONFIG: file } });
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('email by relay.example.com:587') });
});

test('a config that is there stays, except with --force; other variables stay in any case', async () => {
  withUmask(0o077);
  const { addresses, file, directory } = await startWorld();
  const { service, slack } = addresses;
  const env = { TOCSIN_API_KEY: service.apiKey, SLACK_TOKEN: slack.botToken };
  const there = join(directory, 'there.yaml');
  await writeFile(there, 'mine: true\n');
  await writeFile(join(directory, 'there.env'), 'OTHER=1\nSLACK_TOKEN=older\n');
  const args = ['init', '--no-check', '--service', service.url, '--channel', 'slack', '--to', 'C1', '--config', there];
  const refused = await runInProcess(args, { env });
  expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/there\.yaml already.*--force/) });
  expect(await readFile(there, 'utf8')).toBe('mine: true\n');
  expect(await runInProcess([...args, '--force'], { env })).toMatchObject({ code: 0 });
  expect(await readFile(there, 'utf8')).toContain('services:');
  expect(await modeOf(there)).toBe(0o644);
  const variables = await readFile(join(directory, 'there.env'), 'utf8');
  expect(variables.split('\n').toSorted()).toEqual(
    ['', 'OTHER=1', `SLACK_TOKEN=${slack.botToken}`, `TOCSIN_API_KEY=${service.apiKey}`].toSorted(),
  );
  expect(await isMissing(file)).toBe(true);
});

test('what was given is offered again, and a relay that did not work may be one without TLS', async () => {
  const { addresses, file, directory } = await startWorld();
  const { service, smtp } = addresses;
  const relay = `${smtp.host}:${smtp.port}`;
  const typed = ['', service.url, 'bad-key', 'y', '', service.apiKey];
  const first = ['email', relay, 'Ops <ops@example.com>', '', 'oncall@example.com', 'y'];
  const answers = [...typed, ...first, '', '', '', '', 'off', ''];
  const env = { TOCSIN_CONFIG: file };
  const { code, err } = await runInProcess(['init'], { env, answers });
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('An answer is needed') });
  expect(err).toContain(`[${service.url}]: `);
  expect(err).toContain(`[${relay}]: `);
  expect(err).toContain(`private, under ${join(directory, 'conf/data')};`);
  const text = await readFile(file, 'utf8');
  expect(text).toContain('from: "Ops <ops@example.com>"');
  expect(text).toContain('contacts: ["oncall@example.com"]');
  expect(text).toContain('tls: off');
});

test('a mistyped kind is told before what is missing, and a relay without TLS by its option', async () => {
  const { addresses, file } = await startWorld();
  const { service, smtp } = addresses;
  const env = { TOCSIN_CONFIG: file, TOCSIN_API_KEY: service.apiKey };
  expect((await runInProcess(['init', '--channel', 'emal'], { env })).err).toContain("did you mean 'email'?");
  const to = ['--to', 'a@example.com', '--from', 'b@example.com', '--smtp', `${smtp.host}:${smtp.port}`];
  const refused = await runInProcess(['init', '--service', service.url, '--channel', 'email', ...to], { env });
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('such as by --smtp-tls') });
});

test('Ctrl-C at a question writes nothing', async () => {
  const { addresses, file } = await startWorld();
  const answers = [addresses.service.url];
  const stopped = await runInProcess(['init', '--config', file], { answers });
  expect(stopped).toMatchObject({ code: 1, err: expect.stringContaining('stopped: nothing was written') });
  expect(await isMissing(file)).toBe(true);
});
