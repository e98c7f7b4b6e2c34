/** `tocsin init`: from nothing to a config with which a test message arrives. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CHANNEL_KINDS } from '../../src/alert.ts';
import { kindFacts } from '../../src/channels/registry.ts';
import { variable } from '../../src/cli/init-config.ts';
import { startCommand } from '../support/program.ts';
import { until } from '../support/until.ts';
import { runInProcess } from './in-process.ts';
import { isMissing, startWorld } from './init-world.ts';

const modeOf = async (file: string): Promise<number> => (await stat(file)).mode & 0o777;
/** As a shell may have it: nothing is kept from others, or everything. */
const withUmask = (mask: number): void => {
  const before = process.umask(mask);
  onTestFinished(() => void process.umask(before));
};

test('asks until it works, and what it writes passes check and sends a test message', async () => {
  withUmask(0o000);
  const { addresses, sandbox, file, directory, env, answer } = await startWorld();
  const { service, telegram } = addresses;
  const typed = ['no-url', service.url, 'bad-key', service.apiKey, 'telgram', 'telegram', telegram.botToken, '-1001'];
  const written = await answer([...typed, 'perhaps', 'n']);
  expect(written).toMatchObject({ code: 0, out: expect.stringContaining('tocsin test --channel telegram --to -1001') });
  expect(written.err).toContain('No protocol has a channel yet, so every alert goes there.');
  expect(written.err).toContain('Type y or n.\n');
  expect(written.err).toContain('Trying it ...');
  expect(written.err).toContain(
    'note  destinations: Everything, the fallback included, hangs on one bot token (channels.telegram.botToken): ',
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
  expect(await readdir(join(directory, 'conf'))).toEqual(['tocsin.env', 'tocsin.yaml']);
  for (const args of [['check'], ['check', '--online'], ['test', '--channel', 'telegram', '--to', '-1001']]) {
    expect({ args, ...(await runInProcess(args, { env })) }).toMatchObject({ args, code: 0 });
  }
  expect(sandbox.received().map(({ kind }) => kind)).toEqual(['telegram']);
});

test('every kind that the protocols use is set up, with a fallback that hangs on another token', async () => {
  const { addresses, answer, env, file, sandbox } = await startWorld(['telegram', 'slack']);
  const { service, slack, telegram, smtp } = addresses;
  const kinds = [telegram.botToken, slack.botToken];
  const email = ['', `${smtp.host}:${smtp.port}`, 'off', 'ops@example.com', '', 'oncall@example.com', 'y'];
  const { code, err, out } = await answer([service.url, service.apiKey, ...kinds, ...email]);
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(err).toContain('Slack: 1 protocol uses it. "skip" leaves it out.');
  expect(err).toContain('No protocol uses email, so it does not fail together with the others.');
  expect(err).not.toContain('note  destinations: ');
  expect(sandbox.received().map(({ kind }) => kind)).toEqual(['email']);
  expect(out).toContain("tocsin test --protocol 'Lending Pool'");
  expect(await runInProcess(['check', '--online'], { env })).toMatchObject({ code: 0 });
  expect(await runInProcess(['test', '--protocol', 'Lending Pool'], { env })).toMatchObject({ code: 0 });
  expect(
    sandbox
      .received()
      .map(({ kind }) => kind)
      .toSorted(),
  ).toEqual(['email', 'slack', 'telegram']);
  expect(await readFile(file, 'utf8')).toMatch(
    /fallback:\n {2}after: 60s\n {2}channels:\n {4}- \{ name: email, contacts/,
  );
});

test('all four kinds, and webhooks in a private network once the person allows them', async () => {
  const { addresses, answer, env, file, sandbox } = await startWorld('all');
  const { service, slack, telegram, smtp, webhook } = addresses;
  const email = [`${smtp.host}:${smtp.port}`, 'off', 'ops@example.com', ''];
  const secret = { WEBHOOK_SECRET: webhook.secret };
  const typed = [service.url, service.apiKey, ...email, telegram.botToken, slack.botToken, 'y'];
  const { code, err } = await answer([...typed, '', 'oncall@example.com', 'n'], secret);
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(err).toContain('\nYour protocols use every kind, so it shares a mail relay with some of them.\n');
  expect(err).toContain('Webhooks to 127.0.0.1:');
  expect(await readFile(file, 'utf8')).toContain('allowNetworks: ["127.0.0.1"]');
  expect(await runInProcess(['check', '--online'], { env })).toMatchObject({ code: 0 });
  expect(await runInProcess(['test', '--protocol', 'Example Swap'], { env })).toMatchObject({ code: 0 });
  expect(
    sandbox
      .received()
      .map(({ kind }) => kind)
      .toSorted(),
  ).toEqual([...CHANNEL_KINDS].toSorted());
});

test('a kind can be left out, and a fallback that hangs on the same token is called so', async () => {
  const { addresses, answer, file } = await startWorld(['telegram', 'slack']);
  const { service, slack } = addresses;
  const { code, err } = await answer([
    ...[service.url, service.apiKey, '123456789:refused', 'skip', slack.botToken],
    ...['slack', 'C0ONCALL01', 'y'],
  ]);
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(err).toContain('note  Telegram is not set up, though 1 protocol uses it\n');
  expect(err).toContain(
    'note  destinations: Everything of “Lending Pool” and the fallback hangs on one bot token (channels.slack.botToken): list a channel of another kind under fallback or watchdog.channels\n',
  );
  expect(await readFile(file, 'utf8')).not.toContain('telegram');
  expect(await readFile(file.replace(/yaml$/, 'env'), 'utf8')).not.toContain('TELEGRAM_TOKEN');
});

test('incoming webhooks of Slack hang on no token', async () => {
  const channels = [{ name: 'slack', url: 'http://127.0.0.1:1/services/T0AB/B0AB/key' }];
  const { addresses, answer } = await startWorld([], { protocols: [{ name: 'Lending Pool', channels }] });
  const { service, telegram } = addresses;
  const { err } = await answer([service.url, service.apiKey, 'telegram', telegram.botToken, '-1001', 'n']);
  expect(err).not.toContain('hangs on');
});

test('without a fallback, what has no other way is named', async () => {
  const { addresses, answer, file } = await startWorld(['slack']);
  const { service, slack } = addresses;
  const { code, err } = await answer([service.url, service.apiKey, slack.botToken, 'none']);
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(err).toContain(
    'Everything of “Lending Pool” hangs on one bot token (channels.slack.botToken), and there is no fallback: ',
  );
  expect(await readFile(file, 'utf8')).not.toContain('fallback:');
});

test('without a terminal, kinds in use are set up as far as their secrets are given', async () => {
  const { addresses, env, file } = await startWorld(['email', 'telegram', 'slack']);
  const { service, slack, telegram } = addresses;
  const secrets = { TOCSIN_API_KEY: service.apiKey, SLACK_TOKEN: slack.botToken, TELEGRAM_TOKEN: telegram.botToken };
  const apis = ['--api-url', `slack=${slack.apiUrl}`, `telegram=${telegram.apiRoot}`];
  const args = ['init', '--service', service.url, '--channel', 'slack', '--to', 'C024BE91L', ...apis];
  const { code, err } = await runInProcess(args, { env: { ...env, ...secrets } });
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(err).toContain(
    'note  E-mail is not set up, though 1 protocol uses it: give --smtp HOST:PORT, --from ADDRESS\n',
  );
  expect(await readFile(file, 'utf8')).toMatch(/telegram:\n.*slack:\n/s);
  const wrong = { ...env, ...secrets, TELEGRAM_TOKEN: '1:wrong' };
  const refused = await runInProcess([...args, '--force'], { env: wrong });
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /FAIL {2}the token of the Telegram bot \(the variable TELEGRAM_TOKEN\): .*nothing was written\. Mend it by the variable/s,
    ),
  });
});

test('its help names every variable that it takes an answer from', async () => {
  const { out } = await runInProcess(['init', '--help'], { env: {} });
  const named = CHANNEL_KINDS.flatMap((kind) => {
    const { questions, address } = kindFacts(kind).setup;
    return [...questions, address].flatMap((each) => each.variable ?? []);
  });
  expect(named.filter((name) => !out.includes(`$${name}`))).toEqual([]);
});

test('without a terminal everything that is missing is named at once', async () => {
  const { file } = await startWorld();
  const env = { TOCSIN_CONFIG: file };
  const nothing = await runInProcess(['init'], { env });
  expect(nothing.code).toBe(1);
  expect(nothing.err).toMatch(/--service URL, the variable TOCSIN_API_KEY, --channel .*, --to ADDRESS/);
  const email = await runInProcess(['init', '--channel', 'email', '--smtp-user', 'u'], { env });
  expect(email.err).toMatch(/--smtp HOST:PORT, --from ADDRESS, the variable SMTP_PASSWORD, --to ADDRESS/);
});

test('options and variables do without questions; what does not work is not written', async () => {
  const { addresses, file } = await startWorld();
  const { service, slack } = addresses;
  const args = ['init', '--service', service.url, '--channel', 'slack', '--to', 'C024BE91L', '--api-url', slack.apiUrl];
  const env = { TOCSIN_CONFIG: file, TOCSIN_API_KEY: service.apiKey, SLACK_TOKEN: 'xoxb-wrong' };
  const refused = await runInProcess(args, { env });
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringMatching(/FAIL {2}the bot token of the Slack app .*nothing was written/s),
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
  const asked = await runInProcess(args, { env, answers: ['y', 'n'] });
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
  const args = [
    'init',
    '--no-check',
    '--service',
    service.url,
    '--channel',
    'slack',
    '--to',
    'C024BE91L',
    '--config',
    there,
  ];
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

test('what was given is offered again, and where the queue will be is said', async () => {
  const { addresses, file, directory } = await startWorld();
  const { service, smtp } = addresses;
  const relay = `${smtp.host}:${smtp.port}`;
  const answers = [service.url, 'bad-key', service.apiKey, 'email', relay, 'off', 'Ops <ops@example.com>', ''];
  const env = { TOCSIN_CONFIG: file };
  const { code, err } = await runInProcess(['init'], { env, answers: [...answers, 'oncall@example.com', 'n'] });
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(err).toContain('Its API key (does not show) [the same again]: ');
  expect(err).toContain('Encryption to the relay: verify, opportunistic, off [verify]: ');
  expect(err).toContain(`private, under ${join(directory, 'conf/data')};`);
  const text = await readFile(file, 'utf8');
  expect(text).toContain('from: "Ops <ops@example.com>"');
  expect(text).toContain('contacts: ["oncall@example.com"]');
});

test('a mistyped kind is told before what is missing, and a relay without TLS by its option', async () => {
  const { addresses, file } = await startWorld();
  const { service, smtp } = addresses;
  const env = { TOCSIN_CONFIG: file, TOCSIN_API_KEY: service.apiKey };
  expect((await runInProcess(['init', '--channel', 'emal'], { env })).err).toContain("did you mean 'email'?");
  const to = ['--to', 'a@example.com', '--from', 'b@example.com', '--smtp', `${smtp.host}:${smtp.port}`];
  const refused = await runInProcess(['init', '--service', service.url, '--channel', 'email', ...to], { env });
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('Mend it by --smtp-tls MODE') });
});

test('the end of input at any question writes nothing, and what was there stays', async () => {
  const { addresses, answer, directory, file } = await startWorld(['slack']);
  const { service, slack } = addresses;
  const all = [service.url, service.apiKey, slack.botToken, 'slack', 'C024BE91L'];
  const variables = file.replace(/yaml$/, 'env');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(variables, 'OTHER=kept\n');
  for (const [index] of all.entries()) {
    const stopped = await answer(all.slice(0, index + 1));
    expect(stopped).toMatchObject({ code: 1, err: expect.stringContaining('stopped: nothing was written') });
    expect(await readdir(join(directory, 'conf'))).toEqual(['tocsin.env']);
    expect(await readFile(variables, 'utf8')).toBe('OTHER=kept\n');
  }
});

test('a config that somebody writes meanwhile stays', async () => {
  const { addresses, answer, file, sandbox } = await startWorld();
  const { service, slack } = addresses;
  // The test message is the last that happens before the config is written.
  sandbox.onEvent(() => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, 'mine: true\n');
  });
  const { code, err } = await answer([service.url, service.apiKey, 'slack', slack.botToken, 'C024BE91L', 'y']);
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(/there is a .* already, and it stays as it is/),
  });
  expect(await readFile(file, 'utf8')).toBe('mine: true\n');
});

test('at a real terminal a secret does not show, and Ctrl-C in the middle leaves no file', async () => {
  const { addresses, directory, env, file } = await startWorld(['slack']);
  const { service } = addresses;
  const words = [process.execPath, 'src/main.ts', 'init', '--service', service.url].join(' ');
  const terminal = startCommand(['script', '-qefc', words, '/dev/null'], { ...env, TERM: 'dumb' });
  const type = (text: string): void => void terminal.process.stdin?.write(text);
  await until('the first question', () => terminal.stdout().includes('Its API key'));
  type(`${service.apiKey}\r`);
  await until('the next question', () => terminal.stdout().includes('Bot token of the Slack app'));
  expect(terminal.stdout()).not.toContain(service.apiKey);
  type('\u0003');
  expect(await terminal.ended).toBe(1);
  expect(terminal.stdout()).toContain('stopped: nothing was written');
  expect([await isMissing(file), await isMissing(join(directory, 'conf'))]).toEqual([true, true]);
});
