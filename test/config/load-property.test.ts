/** Whatever the file holds, the reader gives a config or a ConfigError whose places are in the file. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { parseConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/errors.ts';
import { SMALL } from './samples.ts';

const EXAMPLE = readFileSync(new URL('../../docs/every-key.yaml', import.meta.url), 'utf8');
const MARK = 'zq9Secret7xk';

const environment = {
  TOCSIN_API_KEY: MARK,
  SMTP_PASSWORD: MARK,
  TELEGRAM_TOKEN: `1:${MARK}`,
  SLACK_TOKEN: `xoxb-${MARK}`,
  WEBHOOK_SECRET: `whsec_${MARK}${'A'.repeat(20)}`,
  REDIS_PASSWORD: MARK,
};

const expectConfigOrProblems = (text: string): void => {
  try {
    expect(parseConfig(text, 'c.yaml', environment).services.length).toBeGreaterThan(0);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.problems.length).toBeGreaterThan(0);
    expect(error.message).not.toContain(MARK);
    expect(error.message.split('\n')).toHaveLength(error.problems.length);
    const lines = text.split('\n');
    let last = 0;
    for (const { line = 1, column = 1 } of error.problems) {
      const place = line * 1e6 + column;
      expect(place).toBeGreaterThanOrEqual(last);
      expect(line).toBeLessThanOrEqual(lines.length);
      expect(column).toBeLessThanOrEqual((lines[line - 1] ?? '').length + 1);
      last = place;
    }
  }
};

const SIGNS = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ': ',
  '- ',
  '#',
  '&a ',
  '*a',
  '<<: ',
  '!x ',
  '|',
  '>',
  '"',
  "'",
  '\n',
  '  ',
  '\t',
  '\r',
  '?',
  ',',
  '%',
  '@',
  '~',
  '$',
  '${',
  `\${file:.}`,
  '__proto__',
  '\u0000',
  '\uFEFF',
  '\u2028',
  '😀',
];

const piece = fc.oneof(fc.constantFrom(...SIGNS), fc.string({ maxLength: 8 }), fc.integer().map(String));

describe('the reader survives', () => {
  it('any text', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
        expectConfigOrProblems,
      ),
      { numRuns: 500 },
    );
  });

  it('a config with anything after it', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 20 }).map((pieces) => SMALL + pieces.join('')),
        expectConfigOrProblems,
      ),
      { numRuns: 300 },
    );
  });

  it('the example with a part cut out or put in', () => {
    const change = fc.record({ at: fc.nat(EXAMPLE.length), cut: fc.nat(60), put: piece });
    const changed = fc
      .array(change, { minLength: 1, maxLength: 3 })
      .map((changes) =>
        changes.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), EXAMPLE),
      );
    fc.assert(fc.property(changed, expectConfigOrProblems), { numRuns: 150 });
  });

  it('any value under the known keys', () => {
    const keys = [
      'services',
      'redis',
      'dataDir',
      'poll',
      'alerts',
      'protocols',
      'channels',
      'fallback',
      'ops',
      'log',
      'chains',
    ];
    const inner = fc.constantFrom(
      'name',
      'url',
      'nodes',
      'contacts',
      'channels',
      'email',
      'smtp',
      'webhook',
      'secrets',
      'overrides',
      'x',
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(
          null,
          true,
          0,
          -1,
          1.5,
          1e300,
          '',
          '5s',
          'now',
          `\${NOWHERE}`,
          `\${TOCSIN_API_KEY}`,
          'https://a.example',
        ),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(inner, tie('value'), { maxKeys: 4 }),
      ),
    }));
    const text = fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 11 }).map((config) => stringify(config));
    fc.assert(fc.property(text, expectConfigOrProblems), { numRuns: 500 });
  });
});
