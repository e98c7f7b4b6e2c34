import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createInterpolate } from '../../src/config/variables.ts';
import { CHANNELS, problemsOf, read, SERVICE, SMALL } from './samples.ts';

const environment = { NAME: 'value', EMPTY: '', DOLLAR: `a\${NAME}$$b`, _under1: 'u', UNSET: undefined };

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tocsin-interpolate-'));
  await writeFile(join(directory, 'plain'), 'secret\n');
  await writeFile(join(directory, 'crlf'), '\uFEFFsecret\r\n\r\n');
  await writeFile(join(directory, 'large'), 'x'.repeat(65_537));
  await writeFile(join(directory, 'binary'), Buffer.from([0xc3, 0x28]));
});
afterAll(() => rm(directory, { recursive: true }));

const interpolate = (text: string) => createInterpolate(environment, directory)(text);

describe('a text', () => {
  it.each([
    [`\${NAME}`, 'value'],
    [`a \${NAME}-\${_under1}.`, 'a value-u.'],
    [`\${NAME:-other}`, 'value'],
    [`\${MISSING:-other}`, 'other'],
    [`\${UNSET:-other}`, 'other'],
    [`\${EMPTY:-other}`, 'other'],
    [`\${EMPTY}`, ''],
    [`\${MISSING:-}`, ''],
    [`\${MISSING:-a:-b $x}`, 'a:-b $x'],
    [`\${MISSING:-two\nlines}`, 'two\nlines'],
    [`\${DOLLAR}`, `a\${NAME}$$b`],
    [`$\${NAME}`, `\${NAME}`],
    [`$$\${NAME}`, '$value'],
    [`$$$\${NAME}`, `$\${NAME}`],
    ['$$', '$'],
    ['pa$word', 'pa$word'],
    ['$', '$'],
    ['100%', '100%'],
    [`\${file:plain}`, 'secret'],
    [`\${file:crlf}!`, 'secret!'],
  ])('%j becomes %j', (text, result) => {
    expect(interpolate(text)).toMatchObject({ text: result, problems: [] });
  });

  it.each([
    [`\${MISSING}`, 'names the variable MISSING, which is not set'],
    [`\${UNSET}`, 'names the variable UNSET, which is not set'],
    [`\${toString}`, 'names the variable toString, which is not set'],
    [`\${file:nowhere}`, 'names a file that cannot be read: nowhere: there is no such file'],
    [`\${file:.}`, 'names a file that cannot be read: .: it is a directory'],
    [`\${file:large}`, 'names a file that cannot be read: large: it is larger than 64 KiB'],
    [`\${file:binary}`, 'names a file that cannot be read: binary: it is not UTF-8 text'],
  ])('%j is a problem that names it', (text, problem) => {
    expect(interpolate(text).problems).toEqual([problem]);
  });

  it.each([`\${`, `\${}`, `\${NAME`, `\${1NAME}`, `\${NA-ME}`, `\${NAME-x}`, `\${ NAME }`, `\${file:}`, `\${A\${B}}`])(
    '%j is no reference, and the sentence says what is',
    (text) => {
      const [problem = ''] = interpolate(text).problems;
      expect(problem).toContain(`begins none of \${NAME}, \${NAME:-default} or \${file:PATH}; write $$ for a plain $`);
    },
  );

  it('names every missing variable, each once', () => {
    expect(interpolate(`\${A} \${NAME} \${B} \${A}`).problems).toEqual([
      'names the variable A, which is not set',
      'names the variable B, which is not set',
    ]);
  });

  it('comes back as it was when each $ is doubled', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', ':', '-', ' ') }), (text) => {
        expect(interpolate(text.replaceAll('$', '$$$$'))).toEqual({ text, sources: [], problems: [] });
      }),
    );
  });
});

describe('in a config', () => {
  const smtp = (port: string, secure: string) =>
    `${SERVICE}\nchannels: { email: { from: a@b.example, smtp: { host: h.example, port: ${port}, secure: ${secure} } } }`;

  it('gives numbers and booleans where the schema wants them', () => {
    const { email } = read(smtp(`"\${PORT}"`, `"\${SECURE:-true}"`), { PORT: '465' }).channels;
    expect(email?.smtp).toMatchObject({ port: 465, secure: true });
  });

  it('gives text where the schema wants text, whatever the value resembles', () => {
    const config = read(`${SMALL}dataDir: \${DIRECTORY}\nprotocols: { include: ["\${NAME}"] }`, {
      DIRECTORY: '12',
      NAME: 'true',
    });
    expect(config).toMatchObject({ dataDir: '12', protocols: { include: ['true'] } });
  });

  it('keeps the digits of a chat id', () => {
    const text = `${SERVICE}\nchannels: { telegram: { botToken: "1:a" } }\nfallback: { channels: [{ name: telegram, contacts: ["\${CHAT}"] }] }`;
    expect(read(text, { CHAT: '-1001234567890123456' }).fallback?.channels[0]?.contacts).toEqual([
      '-1001234567890123456',
    ]);
  });

  it('reports what came out wrong by the name of the variable, never by its value', () => {
    expect(problemsOf(smtp(`"\${PORT}"`, `"\${SECURE}"`), { PORT: 'smtp-port', SECURE: 'secure?' })).toEqual([
      'c.yaml:2:72: channels.email.smtp.port: must be a whole number from 1 to 65535 (got the value of PORT)',
      'c.yaml:2:91: channels.email.smtp.secure: must be true or false (got the value of SECURE)',
    ]);
  });

  it('cannot bring in YAML', () => {
    const config = read(`${SMALL}dataDir: \${DIRECTORY}`, { DIRECTORY: 'x\nlog: { level: trace }' });
    expect(config).toMatchObject({ dataDir: 'x\nlog: { level: trace }', log: { level: 'info' } });
  });

  it('names the missing variable and its place, besides every other problem', () => {
    expect(problemsOf(`${SERVICE.replace('key-1', `"\${KEY}"`)}\n${CHANNELS}\npolls: {}`)).toEqual([
      'c.yaml:1:78: services.0.apiKey: names the variable KEY, which is not set',
      'c.yaml:3:1: polls: is not a known key; did you mean poll?',
    ]);
  });
});
