/** Lists of assets and channels as operators write them: taken as meant, or every problem with its place. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { CHANNELS } from '../../src/cli/channels.ts';
import { ASSETS, type ListKind, parseList, readList } from '../../src/cli/input.ts';
import { UsageError } from '../../src/errors.ts';
import { anyJson } from '../support/texts.ts';

const POOL = `0x${'aB'.repeat(20)}`;
/** Variables belong to the config, not to a list. */
const DOLLARS = ['$', '{A} $$'].join('');
const ADMIN = `0x${'12'.repeat(20)}`;
const ABI = [{ type: 'function', name: 'sweep', inputs: [{ name: 'amount', type: 'uint256' }], gas: 21000 }];
const asset = { chainId: 8453, abi: JSON.stringify(ABI), address: POOL, admins: [ADMIN], descriptor: 'Pool' };

/** The lines of the refusal after its first, which counts them. */
const problemsOf = <T>(text: string, kind: ListKind<T>): string[] => {
  try {
    parseList(text, 'in.yaml', kind);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const [head, ...problems] = error.message.split('\n');
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
    expect(head).toBe(`the ${kind.what} have ${count}; nothing was sent:`);
    return problems;
  }
  throw new Error('it was taken');
};

describe('assets', () => {
  test('as JSON, and as YAML without quotes and with the ABI as a list', () => {
    expect(parseList(JSON.stringify([asset]), 'in.json', ASSETS)).toEqual([asset]);
    const yaml = [
      '- chainId: 8453',
      `  abi: ${JSON.stringify(ABI)}`,
      `  address: ${POOL}`,
      `  admins: [${ADMIN}]`,
      '  descriptor: Pool',
    ].join('\n');
    expect(parseList(yaml, 'in.yaml', ASSETS)).toEqual([asset]);
  });

  test('one ABI for several by an anchor, no admins, text with a dollar as it stands', () => {
    const yaml = [
      `- {chainId: 1, abi: &abi ${JSON.stringify(ABI)}, address: "${POOL}", admins: [], descriptor: "${DOLLARS}"}`,
      `- {chainId: 10, abi: *abi, address: "${POOL}", admins: [], descriptor: B}`,
    ].join('\n');
    expect(parseList(yaml, 'in.yaml', ASSETS)).toMatchObject([
      { abi: JSON.stringify(ABI), descriptor: DOLLARS },
      { abi: JSON.stringify(ABI), chainId: 10 },
    ]);
  });

  test('an ABI longer than any list of ours', () => {
    const abi = Array.from({ length: 30_000 }, (_, n) => ({ type: 'function', name: `f${n}`, inputs: [{ n }] }));
    const [read] = parseList(JSON.stringify([{ ...asset, abi }]), 'in.json', ASSETS);
    expect(JSON.parse(read?.abi ?? '')).toEqual(abi);
  });

  test('every problem at once, by line, column and path', () => {
    const yaml = `- chainId: "8453"
  abi: 3
  address: 0x12
  admins: [${ADMIN}, foo]
  descriptr: x
- chainId: 1.5
  abi: ''
  address: ${POOL}ff
  admins: ${ADMIN}
  descriptor: ' '
- chainId: 1
  chainId: 2
- chainId: 7
  abi: ''
  address: "${POOL}"
  admins:
  descriptor: Pool
- {chainId: 7, abi: '', address: "${POOL.toLowerCase()}", admins: [], descriptor: Again}
- nothing
`;
    const address = 'must be an address: 0x and 40 hex digits';
    expect(problemsOf(yaml, ASSETS)).toEqual([
      'in.yaml:1:3: 0.descriptor: is required',
      'in.yaml:1:12: 0.chainId: must be a chain id: a whole number from 1 (got "8453")',
      'in.yaml:2:8: 0.abi: must be the ABI, as a list or as its JSON text (got 3)',
      `in.yaml:3:12: 0.address: ${address} (got "0x12")`,
      `in.yaml:4:56: 0.admins.1: ${address} (got "foo")`,
      'in.yaml:5:3: 0.descriptr: is not a known key; did you mean descriptor?',
      'in.yaml:6:12: 1.chainId: must be a chain id: a whole number from 1 (got 1.5)',
      `in.yaml:8:12: 1.address: ${address} (got "${POOL}ff")`,
      `in.yaml:9:11: 1.admins: must be a list of addresses; it may be empty (got a text)`,
      'in.yaml:10:15: 1.descriptor: must be a name, not blank (got "")',
      'in.yaml:11:3: 2.abi: is required',
      'in.yaml:11:3: 2.address: is required',
      'in.yaml:11:3: 2.admins: is required',
      'in.yaml:11:3: 2.descriptor: is required',
      'in.yaml:12:3: 2.chainId: is given twice, first on line 11',
      'in.yaml:16:3: 3.admins: is empty',
      'in.yaml:18:3: 4: is the same contract as 3',
      'in.yaml:19:3: 5: must be a map (got a text)',
    ]);
  });

  test.each([
    ['', 'in.yaml:1:1: assets: must be a list'],
    ['[]', 'in.yaml:1:1: assets: must name at least one'],
    ['{"assets": []}', 'in.yaml:1:1: assets: must be a list of assets (got a map)'],
    [
      '[{"chainId": 1',
      'in.yaml:1:15: assets: is not indented further than what it belongs to, or a { or [ above is not closed',
    ],
    ['- &a [*a]', 'in.yaml:1:6: 0: must be a map (got a list of 1)'],
    ['- {abi: &a [*a]}', 'in.yaml:1:12: 0.abi: must be the ABI, as a list or as its JSON text (got a list of 1)'],
  ])('%j is no list of assets', (text, problem) => {
    expect(problemsOf(text, ASSETS)).toContain(problem);
  });
});

describe('channels', () => {
  test('each kind, contacts as numbers with all their digits', () => {
    const yaml = `- {name: email, contacts: [oncall@example.com]}
- {name: telegram, contacts: [-1001234567890123456, "@oncall", "-100123/7"]}
- {name: slack, contacts: [C024BE91L, "#alerts"], url: "https://hooks.example.com/a"}
- {name: webhook, url: "https://hooks.example.com/b"}
`;
    expect(parseList(yaml, 'in.yaml', CHANNELS)).toEqual([
      { name: 'email', contacts: ['oncall@example.com'] },
      { name: 'telegram', contacts: ['-1001234567890123456', '@oncall', '-100123/7'] },
      { name: 'slack', contacts: ['C024BE91L', '#alerts'], url: 'https://hooks.example.com/a' },
      { name: 'webhook', url: 'https://hooks.example.com/b' },
    ]);
    expect(parseList('[]', 'in.yaml', CHANNELS)).toEqual([]);
  });

  test('every address is one of its kind, and no secret is repeated', () => {
    const yaml = `- {name: slack, contacts: ["bad one", C024BE91L], url: "ftp://hooks.example.com/SECRET"}
- {name: emial, contacts: [x]}
- {name: email, contacts: ["a@b.example", "x y", "a@b.example, c@d.example", ""]}
- {name: telegram, contacts: [0, "@ab"]}
- {name: webhook}
- {name: email, contacts: ["a@b.example"], url: "https://hooks.example.com/SECRET"}
- {name: webhook, contacts: ["https://user:SECRET@hooks.example.com"], link: x}
`;
    const problems = problemsOf(yaml, CHANNELS);
    expect(problems.map((problem) => problem.replace(/^in\.yaml:\d+:\d+: /, ''))).toEqual([
      '0.contacts.0: the slack contact "bad one" is no channel id (C...) or name (#name)',
      '0.url: must be an absolute http or https URL, without user and password (got a text)',
      '1.name: must be one of email, telegram, slack, webhook; did you mean email? (got "emial")',
      '2.contacts.1: the email contact "x y" is no plain address like oncall@example.com',
      '2.contacts.2: the email contact "a@b.example, c@d.example" is no plain address like oncall@example.com',
      '2.contacts.3: must not be empty or have spaces around it (got "")',
      '3.contacts.0: the telegram contact "0" is no chat id or @name, with or without /TOPIC',
      '3.contacts.1: the telegram contact "@ab" is no chat id or @name, with or without /TOPIC',
      '4: the webhook entry has nothing to send to',
      '5.url: the email entry has a url, which is not used: addresses go into contacts',
      '6.link: is not a known key',
    ]);
    expect(problems.join()).not.toContain('SECRET');
  });
});

describe('any input', () => {
  const valid = fc.record({
    chainId: fc.integer({ min: 1, max: 2 ** 40 }),
    abi: fc.string(),
    address: fc.constantFrom(POOL, ADMIN),
    admins: fc.array(fc.constantFrom(POOL, ADMIN), { maxLength: 3 }),
    descriptor: fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.trim() !== ''),
  });
  const distinct = fc.uniqueArray(valid, { minLength: 1, maxLength: 5, selector: (each) => each.chainId });

  test('valid assets are taken as they are, from JSON and from YAML', () => {
    fc.assert(
      fc.property(distinct, fc.boolean(), (assets, asYaml) => {
        const text = asYaml ? stringify(assets) : JSON.stringify(assets);
        expect(parseList(text, 'in', ASSETS)).toEqual(assets);
      }),
    );
  });

  test('anything else is refused in words, never by a crash', () => {
    const text = fc.oneof(
      anyJson().map((value) => JSON.stringify(value)),
      fc.string({ unit: 'grapheme' }),
    );
    fc.assert(
      fc.property(text, fc.constantFrom<ListKind<unknown>>(ASSETS, CHANNELS), (input, kind) => {
        if (input.trim() === '[]' && kind === CHANNELS) return;
        for (const problem of problemsOf(input, kind)) expect(problem).toMatch(/^in\.yaml:\d+:\d+: \S+.*: \S/);
      }),
      { numRuns: 500 },
    );
  });
});

describe('standard input and files', () => {
  const { signal } = new AbortController();
  const stdin = (bytes: Uint8Array) => ({ signal, readStdin: async () => bytes });
  const none = { signal, readStdin: () => Promise.reject(new Error('standard input was read')) };

  test('standard input, with a byte order mark', async () => {
    const bytes = new TextEncoder().encode(`\ufeff${JSON.stringify([asset])}`);
    expect(await readList('-', ASSETS, stdin(bytes))).toEqual([asset]);
    await expect(readList('-', ASSETS, stdin(new TextEncoder().encode('- x')))).rejects.toThrow(
      'stdin:1:3: 0: must be',
    );
  });

  test.each([
    ['not UTF-8', new Uint8Array([0x5b, 0xff, 0x5d]), '--assets - cannot be read: it is not UTF-8 text'],
    ['too large', new Uint8Array(17 * 1024 * 1024), '--assets - cannot be read: it is larger than 16384 KiB'],
  ])('standard input that is %s', async (_, bytes, message) => {
    await expect(readList('-', ASSETS, stdin(bytes))).rejects.toThrow(new UsageError(message));
  });

  test('a file that is not there', async () => {
    const refused = new UsageError('--channels /no/such.yaml cannot be read: there is no such file');
    await expect(readList('/no/such.yaml', CHANNELS, none)).rejects.toThrow(refused);
  });
});
