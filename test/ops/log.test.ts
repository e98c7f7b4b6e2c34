import { execFile } from 'node:child_process';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { DeliveryError } from '../../src/errors.ts';
import { createLogger, type LogLevel } from '../../src/ops/log.ts';
import { createScrubber, createSecret } from '../../src/secret.ts';

const SECRETS = ['hunter-two', 'quote"and\\backslash', 'zeile\numbruch', '90210'];

const open = (level: LogLevel = 'info') => {
  const written: string[] = [];
  const log = createLogger({
    level,
    scrub: createScrubber(SECRETS),
    destination: { write: (line) => void written.push(line) },
  });
  return { log, written, lines: () => written.map((line) => JSON.parse(line)) };
};

describe('a line', () => {
  test('is one JSON object with an ISO time and the level as a word', () => {
    const { log, written, lines } = open();
    log.info({ protocol: 'Lending Pool' }, 'polled');
    expect(written[0]).toMatch(/^\{.*\}\n$/);
    expect(lines()).toEqual([
      expect.objectContaining({ name: 'tocsin', level: 'info', msg: 'polled', protocol: 'Lending Pool' }),
    ]);
    expect(new Date(lines()[0].time).toISOString()).toBe(lines()[0].time);
  });

  test('is written only from the level on that was asked for', () => {
    const { log, lines } = open('warn');
    log.info('quiet');
    log.warn('heard');
    expect(lines().map(({ msg }) => msg)).toEqual(['heard']);
  });
});

describe('stdout', () => {
  const LOG = new URL('../../src/ops/log.ts', import.meta.url).href;

  /** What a process has written that logs and then ends in its own way. */
  const writtenBy = (script: string): Promise<string> =>
    new Promise((resolve) => {
      const begin = `import { writeSync } from 'node:fs'; import { createLogger } from '${LOG}';
        const log = createLogger({ level: 'info', scrub: (text) => text });`;
      const args = ['--input-type=module', '--eval', `${begin}${script}`];
      execFile(process.execPath, args, (_error, stdout) => resolve(stdout));
    });
  const messagesOf = (written: string): string[] =>
    written.split('\n').flatMap((line) => (line === '' ? [] : [line.startsWith('{') ? JSON.parse(line).msg : line]));

  test.each([
    ['returns', ''],
    ['exits', 'process.exit(3);'],
    ['fails', "throw new Error('a fault');"],
  ])('has every line of a process that %s', async (_how, end) => {
    expect(messagesOf(await writtenBy(`log.info('one'); log.info('two'); ${end}`))).toEqual(['one', 'two']);
  });

  test('has a warning at once, with all before it', async () => {
    const written = await writtenBy("log.info('one'); log.warn('two'); writeSync(1, 'after\\n'); log.info('three');");
    expect(messagesOf(written)).toEqual(['one', 'two', 'after', 'three']);
  });

  test('has the lines of one round of the event loop together', async () => {
    const script = "log.info('one'); writeSync(1, 'meanwhile\\n'); setImmediate(() => writeSync(1, 'next round\\n'));";
    expect(messagesOf(await writtenBy(script))).toEqual(['meanwhile', 'one', 'next round']);
  });
});

describe('text of others', () => {
  test('moves no cursor, turns no line around and hides nothing, and stays what it was', () => {
    const { log, written, lines } = open();
    const name = 'Vault\u001b[2J\u009b2J\u202e\u{e0041}\u2028\u007f\r\n';
    log.warn({ protocol: name, [name]: 1, err: new Error(name) }, name);
    expect(written.join('').trimEnd()).not.toMatch(/\p{Cc}|\p{Default_Ignorable_Code_Point}|[\u2028\u2029]/u);
    expect(lines()[0]).toMatchObject({ msg: name, protocol: name, [name]: 1, err: { message: name } });
  });
});

describe('an error', () => {
  test('of others shows type, message, code and reason, and no stack', () => {
    const { log, lines } = open();
    log.warn({ err: new DeliveryError('unavailable', 'the receiver answered 503', { code: '503' }) }, 'attempt failed');
    expect(lines()[0].err).toEqual({
      type: 'DeliveryError',
      message: 'the receiver answered 503',
      code: '503',
      reason: 'unavailable',
    });
  });

  const withCode = (message: string, fields: object) => Object.assign(new Error(message), fields);
  const named = (name: string, message: string) => withCode(message, { name });

  test.each<[Error, string]>([
    [withCode('connect ECONNREFUSED 127.0.0.1:6379', { code: 'ECONNREFUSED', syscall: 'connect' }), 'ECONNREFUSED'],
    [withCode('read ETIMEDOUT', { code: 'ETIMEDOUT', syscall: 'read' }), 'ETIMEDOUT'],
    [withCode('Headers Timeout Error', { code: 'UND_ERR_HEADERS_TIMEOUT' }), 'UND_ERR_HEADERS_TIMEOUT'],
    [named('ReplyError', "READONLY You can't write against a read only replica."), ''],
    [named('ReplyError', 'ERR Error running script: -NOREPLICAS Not enough good replicas to write.'), ''],
    [named('TimeoutError', 'The operation was aborted due to timeout'), ''],
    [new Error('Connection is closed.'), ''],
    [new Error('Command timed out'), ''],
  ])('%s has no stack', (error, code) => {
    const { log, lines } = open();
    log.warn({ err: error }, 'Redis is in trouble');
    expect(lines()[0].err).toEqual({ type: error.name, message: error.message, ...(code === '' ? {} : { code }) });
  });

  test.each([
    new TypeError('x is not a function'),
    named('ReplyError', "ERR Error compiling script: user_script:1: '=' expected near 'x'"),
    new Error('the config has no service'),
  ])('that may be a fault of ours has one: %s', (error) => {
    const { log, lines } = open();
    log.error({ err: error }, 'a round of maintenance failed');
    expect(lines()[0].err.stack).toMatch(/log\.test\.ts\S*:\d+/);
  });

  test('of several addresses that all refused says so', () => {
    const { log, lines } = open();
    const each = ['connect ECONNREFUSED ::1:1', 'connect ECONNREFUSED 127.0.0.1:1'].map((text) => new Error(text));
    log.warn({ err: Object.assign(new AggregateError(each), { code: 'ECONNREFUSED' }) }, 'failing');
    expect(lines()[0].err).toEqual({
      type: 'AggregateError',
      message: 'connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1',
      code: 'ECONNREFUSED',
    });
  });

  test('shows neither its causes nor what a library hung onto it', () => {
    const { log, written } = open();
    const cause = new Error('POST https://api.telegram.org/bot123:abc-DEF/sendMessage');
    const error = Object.assign(new Error('failed', { cause }), {
      response: { body: 'the whole payload' },
      on: { x: 1 },
    });
    log.error({ err: error }, 'attempt failed');
    expect(written.join('')).not.toMatch(/telegram|payload/);
  });

  test('may be anything that was thrown', () => {
    const { log, lines } = open();
    for (const thrown of ['a text with hunter-two', undefined, { a: 1 }]) log.error({ err: thrown }, 'odd');
    expect(lines().map(({ err }) => err)).toEqual([
      { type: 'string', message: 'a text with [secret]' },
      undefined,
      { type: 'object', message: '[object Object]' },
    ]);
  });
});

describe('a secret', () => {
  const everywhere = (secret: string) => {
    const { log, written, lines } = open();
    log.info({ [`key ${secret}`]: 1, nested: { list: [{ value: `x${secret}x` }] } }, `message ${secret}`);
    log.child({ bound: secret }).info('child');
    log.error({ err: Object.assign(new Error(secret), { code: secret, reason: secret }) });
    log.error(new Error(`bare ${secret}`));
    return { text: written.join(''), parsed: lines() };
  };

  test.each(SECRETS)('%j is in no line, wherever it was put', (secret) => {
    const { text, parsed } = everywhere(secret);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
    expect(parsed).toHaveLength(4);
    expect(parsed[0].nested).toEqual({ list: [{ value: 'x[secret]x' }] });
  });

  test('is found by its shape, and the line stays JSON when it stood before a quote', () => {
    const { log, lines, written } = open();
    log.info({ body: 'url: "https://hooks.slack.com/services/T0/B0/abcdef"' }, 'said "xoxb-1-abc"');
    expect(lines()[0]).toMatchObject({ body: 'url: "https://[secret]"', msg: 'said "[secret]"' });
    expect(written[0]).toMatch(/\n$/);
  });

  test('that is a number in the log is hidden too', () => {
    const { log, lines } = open();
    log.info({ pin: 90210, port: 8080 });
    expect(lines()[0]).toMatchObject({ pin: '[secret]', port: 8080 });
  });

  test('wrapped as one cannot be logged at all', () => {
    const { log, lines } = open();
    const wrapped = createSecret('never seen by the scrubber');
    log.info({ wrapped }, inspect(wrapped));
    expect(lines()[0]).toMatchObject({ wrapped: '[secret]', msg: '[secret]' });
  });
});
