/** Mistakes that people make at `tocsin init`: each is named in the words of its question, and only that is asked again. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { slackError } from '../../src/sandbox/receivers/slack/slack.ts';
import { telegramError } from '../../src/sandbox/receivers/telegram/judge.ts';
import { runInProcess } from './in-process.ts';
import { isMissing, startWorld } from './init-world.ts';

const timesIn = (text: string, part: string): number => text.split(part).length - 1;

/** No answer is asked for by a key of the config. */
const CONFIG_KEY = /\b(channels|services|fallback)\.\w|baseUrl|botToken/;

test('a URL without scheme, a host that is not there, a key that is refused: each is asked again alone', async () => {
  const { addresses, answer, file } = await startWorld();
  const { url, apiKey } = addresses.service;
  const bare = url.replace('http://', '');
  const typed = [bare, 'http://nowhere.invalid/api', 'bad-key', `  ${url}  `, ` ${apiKey} `];
  const { err } = await answer([...typed, '']);
  expect(err).toContain(`FAIL  the URL of the monitoring service must be an absolute http or https URL`);
  expect(err).toContain(`did you mean https://${bare}?`);
  expect(err).toMatch(
    /FAIL {2}the URL of the monitoring service: .*cannot be found by name.*\n +It is the whole address of its API/,
  );
  expect(err).toMatch(/FAIL {2}the API key: the monitoring service does not take it \(.*401.*\n +Whoever runs/);
  expect(err).toContain('ok    the monitoring service answers and lists 1 protocol, such as “Lending Pool”');
  expect([timesIn(err, 'Base URL of'), timesIn(err, 'Its API key')]).toEqual([3, 2]);
  expect(err).not.toMatch(CONFIG_KEY);
  expect(await isMissing(file)).toBe(true);
});

test('a channel in the place of a token, another token, an empty answer, a token that is refused', async () => {
  const { addresses, answer } = await startWorld(['telegram', 'slack']);
  const { service, slack, telegram } = addresses;
  const ofTelegram = [slack.botToken, '123456789:wrong', telegram.botToken];
  const ofSlack = ['C024BE91L', '', 'xoxb-wrong', slack.botToken];
  const { err } = await answer([service.url, service.apiKey, ...ofTelegram, ...ofSlack]);
  expect(err).toContain(
    'FAIL  the token of the Telegram bot: what was given looks like a bot token of the Slack app\n',
  );
  expect(err).toMatch(/FAIL {2}the token of the Telegram bot: Telegram .*\n +@BotFather shows it/);
  expect(err).toContain('ok    Telegram: sends as @');
  expect(err).toContain('FAIL  the bot token of the Slack app: what was given looks like a Slack channel\n');
  expect(err).toMatch(
    /FAIL {2}the bot token of the Slack app: Slack does not take the bot token.*\n +It is the “Bot User/,
  );
  expect(err).toContain('ok    Slack: posts as');
  expect([timesIn(err, 'Token of the Telegram bot, '), timesIn(err, 'Bot token of the Slack app, ')]).toEqual([3, 4]);
  expect(err).not.toMatch(CONFIG_KEY);
  expect(err).not.toMatch(/xoxb-\w|123456789:/);
});

test('a relay that is closed, one without TLS, a sender and a mailbox that are no addresses', async () => {
  const { addresses, answer, file, sandbox } = await startWorld(['slack']);
  const { service, slack, smtp } = addresses;
  const relay = `${smtp.host}:${smtp.port}`;
  const first = [service.url, service.apiKey, slack.botToken, 'emial', ''];
  const email = ['smtp host', '127.0.0.1:1', relay, 'off', 'Ops', 'Ops <ops@example.com>', ''];
  const { code, err } = await answer([...first, ...email, 'oncall', 'xoxb-token', 'oncall@example.com', '']);
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(err).toContain("(got 'emial'); did you mean 'email'?");
  expect(err).toContain("FAIL  the relay's host and port must be HOST:PORT, like smtp.example.com:587");
  expect(err).toMatch(
    /FAIL {2}the relay's host and port: 127\.0\.0\.1:1 refuses connections .*\n +Whoever runs your mail/,
  );
  expect(err).toMatch(
    /FAIL {2}the encryption to the relay: .* refused STARTTLS: 500 [^;]*\)\n +A relay that refuses STARTTLS has no TLS/,
  );
  expect(err).toContain('FAIL  the sender must be one address, or a name and an address');
  expect(err).toContain('FAIL  the mailbox: the email contact "oncall" is no plain address');
  expect(err).toContain('FAIL  the mailbox: what was given looks like a bot token of the Slack app; clear this screen');
  expect(err).not.toContain('xoxb-token');
  expect(timesIn(err, 'Mail relay as HOST:PORT')).toBe(3);
  expect(timesIn(err, 'Sender, like')).toBe(2);
  expect(err).not.toMatch(CONFIG_KEY);
  expect(sandbox.received().map(({ kind, destination }) => [kind, destination])).toEqual([
    ['email', 'oncall@example.com'],
  ]);
  expect(err).toContain('ok    a test message was accepted for mailbox oncall@example.com');
  expect(await readFile(file, 'utf8')).toContain('tls: "off"');
});

test('a user or a password that the relay refuses are asked again together, nothing else', async () => {
  const { addresses, answer, file } = await startWorld(['slack'], { smtpAuth: { user: 'u', pass: 'hush-hush' } });
  const { service, slack, smtp } = addresses;
  const email = [`${smtp.host}:${smtp.port}`, 'off', 'ops@example.com', 'nobody', 'guess', 'u', 'hush-hush'];
  const typed = [service.url, service.apiKey, slack.botToken, 'email', ...email, 'oncall@example.com', 'y'];
  const { code, err } = await answer(typed);
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(err).toMatch(/FAIL {2}the user at the relay: the mail server does not take the user name and password/);
  expect([timesIn(err, 'User at the relay'), timesIn(err, 'Password at the relay (')]).toEqual([2, 2]);
  expect([timesIn(err, 'Mail relay as'), timesIn(err, 'Sender, like')]).toEqual([1, 1]);
  expect(err).not.toMatch(CONFIG_KEY);
  expect(await readFile(file.replace(/yaml$/, 'env'), 'utf8')).toContain('SMTP_PASSWORD=hush-hush');
});

test('a token in the place of a channel, a channel without the bot, a chat that is not there', async () => {
  const { addresses, answer, file, sandbox } = await startWorld();
  const { service, slack, telegram } = addresses;
  sandbox.receivers.slack.script.always(slackError('not_in_channel'), { destination: 'C0NOTTHERE' });
  const ofSlack = ['slack', slack.botToken, slack.botToken, 'C0NOTTHERE', 'y', 'skip'];
  sandbox.receivers.telegram.script.always(
    { kind: 'answer', ...telegramError(400, 'Bad Request: chat not found') },
    { destination: '-1009' },
  );
  const { code, err, out } = await answer([
    ...[service.url, service.apiKey, ...ofSlack],
    ...['telegram', telegram.botToken, 'oncall@example.com', '-1009', 'y', '-1001'],
  ]);
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(err).toContain('FAIL  the Slack channel: what was given looks like a bot token of the Slack app; clear this');
  expect(err).toMatch(/FAIL {2}the Slack channel: the channel does not have the bot as a member .*\n.*Invite the bot/);
  expect(err).toContain('FAIL  the Telegram chat: what was given looks like a mailbox\n');
  expect(err).toMatch(/FAIL {2}the Telegram chat: the chat .*chat not found.*\n +Add the bot to the chat/);
  expect(timesIn(err, 'Token of the Telegram bot, ')).toBe(1);
  expect(err).not.toMatch(CONFIG_KEY);
  expect(out).toContain('--channel telegram --to -1001');
  expect(await readFile(file, 'utf8')).toContain('contacts: ["-1001"]');
});

test('nobody is asked without end', async () => {
  const { addresses, env, file } = await startWorld();
  const { err, code } = await runInProcess(['init'], { env, answer: 'no-url' });
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(/the URL of the monitoring service was asked for 10 times.*nothing was written/),
  });
  const empty = await runInProcess(['init', '--service', addresses.service.url], { env, answer: '' });
  expect(empty).toMatchObject({ code: 1, err: expect.stringMatching(/the API key was asked for 10 times/) });
  expect(await isMissing(file)).toBe(true);
});

test('a sender that the relay refuses at the test message is asked again, not the mailbox', async () => {
  const { addresses, answer, sandbox, file } = await startWorld();
  const { service, smtp } = addresses;
  sandbox.receivers.smtp.script.next({ kind: 'reply', stage: 'mail', code: 553, text: '5.7.1 not your address' });
  const email = ['email', `${smtp.host}:${smtp.port}`, 'off', 'boss@example.com', '', 'oncall@example.com', 'y'];
  const { code, err } = await answer([service.url, service.apiKey, ...email, 'ops@example.com']);
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(err).toMatch(
    /FAIL {2}the sender: the mail server does not take the sender address of Tocsin .*\n +It is one address/,
  );
  expect([timesIn(err, 'Sender, like'), timesIn(err, 'Mailbox to send to')]).toEqual([2, 1]);
  expect(timesIn(err, 'Send a test message there now?')).toBe(1);
  expect(await readFile(file, 'utf8')).toContain('from: "ops@example.com"');
});

test('what no answer is to blame for ends it, with its own name', async () => {
  const { addresses, env, file } = await startWorld(['slack']);
  const { service, slack } = addresses;
  const args = ['init', '--service', service.url, '--api-url', 'slack=nowhere'];
  const { code, err } = await runInProcess(args, { env, answers: [service.apiKey, slack.botToken, slack.botToken] });
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringContaining('channels.slack.apiUrl: must be an absolute'),
  });
  expect(await isMissing(file)).toBe(true);
});
