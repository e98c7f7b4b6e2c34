import { describe, expect, it } from 'vitest';
import { problemsOf, read, SERVICE, SMALL } from './samples.ts';

const SIGNING = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;
const ALL_KINDS = `${SERVICE}
channels: { email: { from: a@b.example, smtp: { host: h.example } }, telegram: { botToken: "1:a" }, slack: { botToken: t }, webhook: {} }
`;

describe('webhook', () => {
  const withWebhook = (webhook: string) => `${SERVICE}\nchannels: { webhook: { ${webhook} } }`;

  it.each(['deriveSecrets: true', `deriveSecrets: true, secrets: { a.example: ${SIGNING} }`])(
    'refuses { %s }, which has nothing to derive from',
    (webhook) =>
      expect(problemsOf(withWebhook(webhook))).toEqual([
        expect.stringMatching(/channels\.webhook\.deriveSecrets: needs channels\.webhook\.secret/),
      ]),
  );

  it.each([`deriveSecrets: true, secret: ${SIGNING}`, 'deriveSecrets: false'])('takes { %s }', (webhook) =>
    expect(problemsOf(withWebhook(webhook))).toEqual([]),
  );
});

describe('channels.email.groupWait', () => {
  const withWaits = (email: string, fallback: string) => `${SERVICE}
channels:
  slack: { botToken: t }
  email: { from: a@b.example, smtp: { host: h.example }${email} }
fallback: { channels: [{ name: slack, contacts: [C1] }]${fallback} }
`;

  it.each([
    [', groupWait: 10s', ', after: 5s', 'channels.email.groupWait: must be shorter than fallback.after (5s), else the'],
    [', groupWait: 60s', '', 'channels.email.groupWait: must be shorter than fallback.after (60s), else the'],
    ['', ', after: 2s', 'fallback.after: must be longer than channels.email.groupWait (2s), else the fallback gets'],
  ])('with {%s} and {%s} the fallback would get every alert', (email, fallback, problem) =>
    expect(problemsOf(withWaits(email, fallback))).toEqual([expect.stringContaining(problem)]),
  );

  it.each([
    [', groupWait: 5s', ', after: 10s'],
    ['', ''],
    [', groupWait: 0s', ', after: 1s'],
  ])('{%s} and {%s} are right', (email, fallback) => expect(problemsOf(withWaits(email, fallback))).toEqual([]));

  it('without a fallback is as long as it likes, within its bound', () =>
    expect(
      problemsOf(`${SERVICE}\nchannels: { email: { from: a@b.example, smtp: { host: h.example }, groupWait: 60s } }`),
    ).toEqual([]));
});

describe('ops.queues', () => {
  it('is refused without a token to sign in with', () =>
    expect(problemsOf(`${SMALL}ops: { queues: true }`)).toEqual([
      expect.stringMatching(/ops\.queues: needs ops\.token: only who signs in/),
    ]));

  it.each(['queues: true, token: sixteen-characters', 'queues: false'])('is taken with { %s }', (ops) =>
    expect(problemsOf(`${SMALL}ops: { ${ops} }`)).toEqual([]),
  );
});

describe('ops.probes', () => {
  it.each([
    'listen: "127.0.0.1:9500", probes: "127.0.0.1:9500"',
    'listen: "0.0.0.0:9500", probes: "127.0.0.1:9500"',
    'listen: "10.0.0.1:9500", probes: "[::]:9500"',
    'listen: "localhost:9500", probes: "127.0.0.1:9500"',
    'probes: "127.0.0.1:9464"',
  ])('is refused where ops.listen takes its port: { %s }', (ops) =>
    expect(problemsOf(`${SMALL}ops: { ${ops} }`)).toEqual([
      expect.stringMatching(/^c\.yaml:3:\d+: ops\.probes: must have another port than ops\.listen, which takes 9\d+/),
    ]),
  );

  it.each([
    'probes: "0.0.0.0:9466"',
    'listen: "127.0.0.1:9500", probes: "10.0.0.1:9500"',
    'listen: "127.0.0.1:0", probes: "127.0.0.1:0"',
  ])('is taken with { %s }', (ops) => expect(problemsOf(`${SMALL}ops: { ${ops} }`)).toEqual([]));

  it('is an address and a port', () =>
    expect(problemsOf(`${SMALL}ops: { probes: 9466 }`)).toEqual([
      expect.stringMatching(/ops\.probes: must be host:port, like 127\.0\.0\.1:9464/),
    ]));
});

describe('ops.trustedProxy', () => {
  it('is refused without the token that signs the forms', () =>
    expect(problemsOf(`${SMALL}ops: { trustedProxy: { networks: [10.0.0.1] } }`)).toEqual([
      expect.stringMatching(/ops\.trustedProxy: needs ops\.token/),
    ]));

  it.each([
    ['{ networks: [] }', /networks: must name at least one/],
    ['{ header: Remote-User }', /networks: is required/],
    ['{ networks: [proxy.example.com] }', /networks\.0: must be a network like/],
    ['{ networks: [10.0.0.0/33] }', /networks\.0: must be a network like/],
    ["{ networks: [10.0.0.1], header: 'Remote User' }", /header: must be the name of a header/],
  ])('%s is refused', (trusted, why) =>
    expect(problemsOf(`${SMALL}ops: { token: sixteen-characters, trustedProxy: ${trusted} }`)).toEqual([
      expect.stringMatching(why),
    ]),
  );

  it('names networks and addresses', () =>
    expect(
      problemsOf(`${SMALL}ops: { token: sixteen-characters, trustedProxy: { networks: [10.0.0.0/8, "fd00::7"] } }`),
    ).toEqual([]));
});

describe('redis', () => {
  it.each(['redis://127.0.0.1:6379/0', 'rediss://user:pa%24s@redis.example.com:6380', '/run/redis/redis.sock'])(
    'takes %s',
    (url) => expect(read(`${SMALL}redis: { url: "${url}" }`).redis.url?.reveal()).toBe(url),
  );

  it.each(['127.0.0.1:6379', 'http://redis.example.com', 'redis://a b', ''])(
    'refuses "%s" without repeating it',
    (url) => {
      const [problem = ''] = problemsOf(`${SMALL}redis: { url: "${url}" }`);
      expect(problem).toBe(
        'c.yaml:3:15: redis.url: must be a redis:// or rediss:// URL, or the path of a unix socket (got a text)',
      );
    },
  );

  it.each([
    ['redis://h/main', 'must name its database by a number, like redis://127.0.0.1:6379/0'],
    ['redis://:hush@h:6379/1x', 'must name its database by a number, like redis://127.0.0.1:6379/0'],
    ['redis://h?db=main', 'must name its database by a number, like redis://127.0.0.1:6379/0'],
    ['redis://:hu/sh@h', 'is no URL; in a user or password write @ : / ? # as %40 %3A %2F %3F %23'],
  ])('refuses %s, which would end up in another database or nowhere', (url, rule) => {
    expect(problemsOf(`${SMALL}redis: { url: "${url}" }`)).toEqual([`c.yaml:3:15: redis.url: ${rule} (got a text)`]);
  });

  it.each(['tocsin', '{tocsin}', 'prod:{tocsin}:a', 'a{}'])('takes the prefix %s', (prefix) =>
    expect(read(`${SMALL}redis: { prefix: "${prefix}" }`).redis.prefix).toBe(prefix),
  );

  it.each(['{a}{b}', '{{a}}', 'a{}{b}', 'a{b{', '}b}'])(
    'refuses the prefix %s, whose hash tag is not plain',
    (prefix) => {
      expect(problemsOf(`${SMALL}redis: { prefix: "${prefix}" }`)).toEqual([
        expect.stringContaining('redis.prefix: may hold one pair of braces at most'),
      ]);
    },
  );

  it('takes Sentinel and Cluster with user and password', () => {
    const sentinel = '{ name: mymaster, nodes: ["10.0.0.1:26379"] }';
    expect(read(`${SMALL}redis: { sentinel: ${sentinel}, username: u, password: p }`).redis).toMatchObject({
      sentinel: { name: 'mymaster', nodes: ['10.0.0.1:26379'] },
      username: 'u',
    });
    expect(read(`${SMALL}redis: { cluster: { nodes: ["[::1]:6379"] } }`).redis.cluster).toEqual({
      nodes: ['[::1]:6379'],
    });
  });

  it('is one of the three', () => {
    const text = `${SMALL}redis:\n  url: redis://h\n  cluster: { nodes: ["h:1"] }\n  sentinel: { name: m, nodes: ["h:1"] }\n`;
    expect(problemsOf(text)).toEqual([
      'c.yaml:5:12: redis.cluster: may not stand beside redis.url',
      'c.yaml:6:13: redis.sentinel: may not stand beside redis.url',
    ]);
  });

  it('has its password in the url, or nowhere when it is embedded', () => {
    expect(problemsOf(`${SMALL}redis: { url: "redis://h", password: p }`)).toEqual([
      'c.yaml:3:38: redis.password: belongs into redis.url (got a text)',
    ]);
    expect(problemsOf(`${SMALL}redis: { username: u }`)).toEqual([
      'c.yaml:3:20: redis.username: is only for redis.sentinel or redis.cluster (got "u")',
    ]);
  });
});

describe('poll', () => {
  it.each([
    ['{ lookback: 4s }', 'c.yaml:3:19: poll.lookback'],
    ['{ overlap: 16m }', 'c.yaml:3:18: poll.overlap'],
    ['{ overlap: 1h, lookback: 30m }', 'c.yaml:3:32: poll.lookback'],
  ])('%s: the sweep has to cover the overlap', (poll, place) => {
    expect(problemsOf(`${SMALL}poll: ${poll}`)).toEqual([
      expect.stringContaining(`${place}: must be such that poll.lookback is at least poll.overlap`),
    ]);
  });

  it('may have both of one length', () => {
    expect(read(`${SMALL}poll: { overlap: 1m, lookback: 60s }`).poll).toMatchObject({
      overlap: 60_000,
      lookback: 60_000,
    });
  });
});

describe('channel entries', () => {
  const fallback = (entry: string) => `${ALL_KINDS}fallback: { channels: [${entry}] }`;

  it.each([
    '{ name: email, contacts: ["a@b.example"] }',
    '{ name: telegram, contacts: ["@name/7", -100123] }',
    '{ name: slack, contacts: ["C024BE91L", "#alerts"] }',
    '{ name: slack, url: "https://hooks.slack.com/services/T/B/x" }',
    '{ name: webhook, url: "https://hooks.example.com/x" }',
    '{ name: webhook, contacts: ["https://hooks.example.com/x"] }',
  ])('%s is right', (entry) => expect(problemsOf(fallback(entry))).toEqual([]));

  it.each([
    ['{ name: email }', ': has nothing to send to: list mailboxes in contacts'],
    ['{ name: email, url: "https://a.example" }', ': has nothing to send to: list mailboxes in contacts'],
    ['{ name: telegram, contacts: [] }', ': has nothing to send to: list chats in contacts'],
    ['{ name: slack }', ': has nothing to send to: list channels in contacts, or give a url'],
    ['{ name: webhook }', ': has nothing to send to: give a url'],
    ['{ name: pager, contacts: [a] }', '.name: must be one of email, telegram, slack, webhook (got "pager")'],
    ['{ contacts: [a] }', '.name: is required'],
    [
      '{ name: email, contacts: ["Ops <a@b.example>"] }',
      '.contacts.0: must be one plain address: name@example.com (got "Ops <a@b.example>")',
    ],
    [
      '{ name: webhook, contacts: ["hooks"] }',
      '.contacts.0: must be an http or https URL, without user and password (got "hooks")',
    ],
    ['{ name: slack, contacts: [" "] }', '.contacts.0: must not be empty or have spaces around it (got "")'],
  ])('%s is a problem', (entry, problem) => {
    expect(problemsOf(fallback(entry))).toContainEqual(expect.stringContaining(`: fallback.channels.0${problem}`));
  });

  it('must be of a kind that is set up, in overrides and in the fallback', () => {
    const text = `${SMALL}protocols:
  overrides:
    Lending Pool:
      channels: [{ name: email, contacts: ["a@b.example"] }]
      extraChannels: [{ name: webhook, url: "https://a.example" }, { name: slack, contacts: [C1] }]
fallback:
  channels: [{ name: telegram, contacts: [1] }]
`;
    const rule = 'must be a kind that is set up under channels';
    expect(problemsOf(text)).toEqual([
      `c.yaml:6:26: protocols.overrides.Lending Pool.channels.0.name: ${rule} (got "email")`,
      `c.yaml:7:76: protocols.overrides.Lending Pool.extraChannels.1.name: ${rule} (got "slack")`,
      `c.yaml:9:22: fallback.channels.0.name: ${rule} (got "telegram")`,
    ]);
  });

  it('of slack need the bot token for channels', () => {
    const text = `${SERVICE}\nchannels: { slack: {} }\nfallback: { channels: [{ name: slack, contacts: [C1] }] }`;
    expect(problemsOf(text)).toEqual([
      'c.yaml:3:49: fallback.channels.0.contacts: needs channels.slack.botToken; without it only url works',
    ]);
  });

  it('of an override may not be an empty list', () => {
    const text = `${SMALL}protocols: { overrides: { P: { channels: [] } } }`;
    expect(problemsOf(text)).toEqual([
      expect.stringContaining('protocols.overrides.P.channels: must name at least one'),
    ]);
  });
});

describe('protocols', () => {
  it('may not all be left out', () => {
    expect(problemsOf(`${SMALL}protocols: { exclude: [a, "*"] }`)).toEqual([
      'c.yaml:3:27: protocols.exclude.1: leaves out every protocol, so nothing is forwarded (got "*")',
    ]);
    expect(problemsOf(`${SMALL}protocols: { include: [] }`)).toEqual([
      'c.yaml:3:23: protocols.include: must name at least one, else nothing is forwarded',
    ]);
  });

  it('may not be looked for by a glob that nothing can fit', () => {
    expect(problemsOf(`${SMALL}protocols: { include: [a*, b], exclude: [a*] }`)).toEqual([
      'c.yaml:3:24: protocols.include.0: can match nothing: exclude has it, too (got "a*")',
    ]);
    expect(problemsOf(`${SMALL}protocols: { include: ["V[3-1]", "[!z-a]", '\\[3-1]', "[3-1"] }`)).toEqual([
      'c.yaml:3:24: protocols.include.0: has the range 3-1, which nothing is in: turn it round (got "V[3-1]")',
      'c.yaml:3:34: protocols.include.1: has the range z-a, which nothing is in: turn it round (got "[!z-a]")',
    ]);
  });
});

it('a value that a missing variable keeps back is one problem, not several', () => {
  const text = `${SERVICE}
redis: { sentinel: "\${A}", password: p }
poll: { overlap: "\${A}", lookback: 1s }
channels: { slack: { botToken: "\${A}" }, webhook: "\${A}" }
fallback: { channels: [{ name: slack, contacts: "\${A}" }, { name: webhook, url: "\${A}" }] }
`;
  expect(problemsOf(text).map((problem) => problem.replace(/^c\.yaml:\d+:\d+: /, ''))).toEqual(
    [
      'redis.sentinel',
      'poll.overlap',
      'channels.slack.botToken',
      'channels.webhook',
      'fallback.channels.0.contacts',
      'fallback.channels.1.url',
    ].map((path) => `${path}: names the variable A, which is not set`),
  );
});

describe('protocols.overrides.NAME.admins', () => {
  const withAdmins = (admins: string) => `${SMALL}protocols: { overrides: { Vault: { admins: ${admins} } } }`;
  const address = '0x5033AB00000000000000000000000000000000Ef';

  it('are addresses, compared in lower case', () => {
    expect(read(withAdmins(`["${address}"]`)).protocols.overrides.Vault?.admins).toEqual([address.toLowerCase()]);
    expect(read(withAdmins('[]')).protocols.overrides.Vault?.admins).toEqual([]);
  });

  it.each([address, '"0x5033"', '"vault.eth"'])('are not %s', (admin) =>
    expect(problemsOf(withAdmins(`[${admin}]`))).toEqual([
      expect.stringMatching(/protocols\.overrides\.Vault\.admins\.0: must be an address in quotes/),
    ]),
  );
});

it.each([
  ['services: [{ name: main, url: x, token: y }]', 'services.0.url', 'baseUrl'],
  ['services: [{ name: main, url: x, token: y }]', 'services.0.token', 'apiKey'],
  ['channels: { slack: { token: x } }', 'channels.slack.token', 'botToken'],
  ['channels: { email: { from: a@b.example, host: h.example } }', 'channels.email.host', 'smtp.host'],
  ['channels: { email: { smtp: { password: x } } }', 'channels.email.smtp.password', 'pass'],
  ['channels: { email: { username: x } }', 'channels.email.username', 'smtp.user'],
  ['ops: { port: 9465 }', 'ops.port', 'listen'],
  ['redis: { password: x, nodes: [] }', 'redis.nodes', 'sentinel.nodes'],
  ['fallback: { recipients: [] }', 'fallback.recipients', undefined],
])('a key that other programs have (%s: %s) is answered with ours: %s', (text, path, meant) => {
  const question = meant === undefined ? '' : `; did you mean ${meant}?`;
  expect(problemsOf(text).map((problem) => problem.replace(/^\S+ /, ''))).toContain(
    `${path}: is not a known key${question}`,
  );
});

it('port 587 is not for TLS from the first byte', () => {
  const smtp = (options: string) =>
    problemsOf(`${SERVICE}\nchannels: { email: { from: a@b.example, smtp: { ${options} } } }`);
  expect(smtp('host: h.example, port: 587, secure: true')).toEqual([expect.stringContaining('contradicts port 587')]);
  expect(smtp('host: h.example, port: 2465, secure: true')).toEqual([]);
});
