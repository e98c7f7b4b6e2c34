import { describe, expect, it } from 'vitest';
import { collectSecrets } from '../../src/config/remarks.ts';
import { createScrubber } from '../../src/secret.ts';
import { problemsOf, read, SERVICE, SMALL } from './samples.ts';

const HIDDEN = 'hunter2swordfish';

describe('a problem', () => {
  const receiver = (keys: string) => `${SERVICE}\nchannels: { webhook: { receivers: { hooks.example: { ${keys} } } } }`;
  const email = (smtp: string) => `${SERVICE}\nchannels: { email: { from: a@b.example, smtp: ${smtp} } }`;

  it.each([
    ['a key with a line break', SMALL.replace('key-1', `"${HIDDEN}\\n"`)],
    ['a list of keys', SMALL.replace('key-1', `[${HIDDEN}]`)],
    ['a map for a key', SMALL.replace('key-1', `{ value: ${HIDDEN} }`)],
    ['a misspelt key', SMALL.replace('apiKey: key-1', `apikey: ${HIDDEN}`)],
    ['a key given twice', SMALL.replace('key-1', `${HIDDEN}, apiKey: ${HIDDEN}`)],
    ['a key without its name', SMALL.replace('apiKey: key-1', `"apiKey ${HIDDEN}"`).replace(HIDDEN, `xoxb-${HIDDEN}`)],
    ['digits for a password', email('{ host: h.example, user: u, pass: 4815162342 }')],
    ['a token for a section', `${SERVICE}\nchannels: { slack: ${HIDDEN} }`],
    ['a token of another shape', `${SERVICE}\nchannels: { telegram: { botToken: "${HIDDEN}" } }`],
    ['a signing secret of another shape', `${SERVICE}\nchannels: { webhook: { secret: ${HIDDEN} } }`],
    [
      'a signing secret under a URL',
      `${SERVICE}\nchannels: { webhook: { secrets: { "https://a.example/${HIDDEN}": ${HIDDEN} } } }`,
    ],
    [
      'one of two signing secrets',
      `${SERVICE}\nchannels: { webhook: { secret: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, ${HIDDEN}] } }`,
    ],
    ["a header's value", receiver(`headers: { authorization: "${HIDDEN}\\n" }`)],
    ['a header that is ours', receiver(`headers: { host: ${HIDDEN} }`)],
    ['a proxy of another scheme', receiver(`proxy: "socks5://u:${HIDDEN}@proxy.example"`)],
    ['a key that is none', receiver(`cert: x, key: ${HIDDEN}`)],
    ['a key for a certificate', receiver(`ca: "-----BEGIN PRIVATE KEY----- ${HIDDEN}"`)],
    [
      'a receiver under a URL',
      `${SERVICE}\nchannels: { webhook: { receivers: { "https://a.example/${HIDDEN}": x } } }`,
    ],
    ['a Redis URL of another scheme', `${SMALL}redis: { url: "http://:${HIDDEN}@h" }`],
    ['a Redis URL for the section', `${SMALL}redis: "redis://:${HIDDEN}@h"`],
    ['credentials in a base URL', SMALL.replace('//monitor', `//u:${HIDDEN}@monitor`)],
    ['a user alone in a base URL', SMALL.replace('//monitor', `//${HIDDEN}@monitor`)],
    ['a query in a base URL', SMALL.replace('/api', `/api?key=${HIDDEN}`)],
    ['a webhook without a scheme', `${SMALL}fallback: { channels: [{ name: webhook, url: "a.example/${HIDDEN}" }] }`],
    [
      'a webhook of a wrong scheme',
      `${SMALL}fallback: { channels: [{ name: webhook, url: "htps://a.example/${HIDDEN}" }] }`,
    ],
    [
      'a webhook among contacts',
      `${SMALL}fallback: { channels: [{ name: email, contacts: ["https://a.example/${HIDDEN}"] }] }`,
    ],
    ['a torn quote', `${SMALL.replace('key-1', `"${HIDDEN}`)}`],
    ['a torn bracket', `${SMALL}redis: { url: "redis://:${HIDDEN}@h"`],
    ['a bad escape', SMALL.replace('key-1', `"${HIDDEN}\\q"`)],
    ['an unknown tag', SMALL.replace('key-1', `!${HIDDEN} x`)],
    ['an unknown alias', SMALL.replace('key-1', `*${HIDDEN}`)],
    ['a block scalar with a tail', `${SMALL}dataDir: |${HIDDEN}\n  x`],
    ['an open variable', SMALL.replace('key-1', `"\${${HIDDEN}-x"`)],
    ['a variable of no form', SMALL.replace('key-1', `"\${${HIDDEN}-x}"`)],
  ])('does not show %s', (_, text) => {
    const problems = problemsOf(text);
    expect(problems).not.toEqual([]);
    for (const problem of problems) expect(problem).toMatch(/^c\.yaml:\d+:\d+: \S/);
    expect(problems.join('\n')).not.toMatch(new RegExp(`${HIDDEN}|4815162342`));
  });

  it('does not show what a variable or a default brought in', () => {
    const text = `${SMALL}poll: { interval: "\${WAIT}", concurrency: "\${MANY:-${HIDDEN}}", startFrom: "x\${WAIT}" }`;
    expect(problemsOf(text, { WAIT: HIDDEN })).toEqual([
      expect.stringMatching(/poll\.interval: .* \(got the value of WAIT\)$/),
      expect.stringMatching(/poll\.concurrency: .* \(got the value of MANY\)$/),
      expect.stringMatching(/poll\.startFrom: .* \(got the value of WAIT\)$/),
    ]);
  });

  it('stays on one line and short, whatever it quotes', () => {
    const [problem = ''] = problemsOf(`${SMALL}log: { level: "a\\nb\\u202ec\\u0007${'x'.repeat(500)}" }`);
    expect(problem).toMatch(/\(got "a bcx+…"\)$/);
    expect(problem.length).toBeLessThan(200);
  });
});

describe('collectSecrets', () => {
  const config = read(`services:
  - { name: one, baseUrl: "https://a.example", apiKey: key-one }
  - { name: two, baseUrl: "https://a.example", apiKey: "key/two+2" }
redis: { url: "redis://user:pa%24sword@h:6379/0" }
channels:
  email: { from: a@b.example, smtp: { host: h.example, user: u, pass: smtp-pass } }
  telegram: { botToken: "123456:abc" }
  slack: { botToken: xoxb-1 }
  webhook:
    secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
    secrets:
      "https://hooks.example.com/path-secret": whsec_AAAQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
      hooks.example.com: [whsec_BBBQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, whsec_CCCQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw]
    receivers:
      "https://hooks.example.com/receiver-secret": { headers: { authorization: "Token header-secret" } }
      hooks.example.com: { proxy: "http://user:proxy-secret@proxy.example:3128" }
protocols: { overrides: { P: { channels: [{ name: slack, url: "https://hooks.slack.com/services/T/B/over" }] } } }
fallback: { channels: [{ name: webhook, contacts: ["https://hooks.example.com/fall?key=back"] }] }
`);

  it('finds every secret of the config, also behind a URL', () => {
    expect(collectSecrets(config)).toEqual(
      expect.arrayContaining([
        'key-one',
        'key/two+2',
        'redis://user:pa%24sword@h:6379/0',
        'pa%24sword',
        'pa$sword',
        'user:pa$sword',
        'smtp-pass',
        '123456:abc',
        'xoxb-1',
        'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        'whsec_AAAQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        'whsec_BBBQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        'whsec_CCCQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        '/path-secret',
        '/receiver-secret',
        'Token header-secret',
        'header-secret',
        'proxy-secret',
        'https://hooks.slack.com/services/T/B/over',
        '/fall?key=back',
      ]),
    );
  });

  it('leaves nothing of them in a text that was scrubbed with it', () => {
    const scrub = createScrubber(collectSecrets(config));
    expect(scrub('connect redis://user:pa%24sword@h:6379/0 failed: WRONGPASS pa$sword, POST /fall?key=back')).toBe(
      'connect [secret] failed: WRONGPASS [secret], POST [secret]',
    );
    const basic = Buffer.from('user:pa$sword').toString('base64');
    expect(scrub(`GET /?key=key%2ftwo%2b2 407 Basic ${basic}`)).toBe('GET /?key=[secret] 407 Basic [secret]');
  });

  it('leaves hosts to be seen', () => {
    const scrub = createScrubber(collectSecrets(config));
    expect(scrub('hooks.example.com answered 500')).toBe('hooks.example.com answered 500');
  });

  it('gives no empty text, and none twice', () => {
    const secrets = collectSecrets(config);
    expect(secrets).not.toContain('');
    expect(new Set(secrets).size).toBe(secrets.length);
  });

  it('has no secret in the config as it is printed', () => {
    expect(JSON.stringify(config)).not.toMatch(/key-one|pa%24sword|smtp-pass|123456:abc|xoxb-1|whsec_/);
  });
});

it('knows a mail password as servers quote it, and a bot token without its prefix', () => {
  const config = read(
    `${SERVICE}\nchannels: { email: { from: a@b.example, smtp: { host: h.example, user: u, pass: ${HIDDEN} } } }`,
  );
  const scrub = createScrubber(collectSecrets(config));
  const quoted = [`\0u\0${HIDDEN}`, HIDDEN].map((text) => Buffer.from(text).toString('base64'));
  for (const text of quoted)
    expect(scrub(`535 rejected: AUTH PLAIN ${text}`)).toBe('535 rejected: AUTH PLAIN [secret]');
  const token = `123456789:${'Ab_-9'.repeat(7)}`;
  expect(scrub(`the contact "${token}" is no chat`)).toBe('the contact "[secret]" is no chat');
});
