/** A line that is indented wrongly is named itself, with what is wrong about it. */
import { expect, test } from 'vitest';
import { parseYaml } from '../../src/config/syntax.ts';
import { formatProblem } from '../../src/errors.ts';

/** `line:column: rule`, of each finding. */
const said = (text: string): string[] => {
  const { findings, placeOf } = parseYaml(text);
  return findings.map(({ path, offset, rule }) =>
    formatProblem({ file: 'c', ...placeOf(offset), path: path.join(), rule }),
  );
};

const SERVICE = 'services:\n  - name: main\n    baseUrl: https://m.example\n';

test.each<[string, string, RegExp]>([
  [
    'deeper than the key above',
    `${SERVICE}      apiKey: k\n`,
    /^c:4:7: yaml: is indented deeper .*begin it in column 5$/,
  ],
  [
    'deeper, after a comment',
    `${SERVICE}# no\n\n      apiKey: k\n`,
    /^c:6:7: yaml: is not indented like the keys beside it/,
  ],
  ['deeper in a small map', 'log:\n  level: info\n    format: json\n', /^c:3:5: yaml: is indented deeper .*column 3$/],
  ['under a key that has a value', 'redis: x\n  prefix: y\n', /^c:2:3: yaml: is indented deeper .*column 1$/],
  ['less than the keys of its entry', `${SERVICE}   apiKey: k\n`, /^c:4:4: yaml: is indented like neither/],
  ['a list entry further left', 'a:\n  - x\n - y\n', /^c:3:2: yaml: is a list entry \(- \) that is not indented like/],
  ['between two levels', 'redis:\n  url: x\n prefix: y\n', /^c:3:2: yaml: is not indented like the keys beside it/],
  ['the first key of the file', ' log:\n  level: info\nops:\n  listen: x\n', /^c:3:1: yaml: begins further left/],
  ['a list that is not closed', 'a:\n  b: [x\n  c: 1\n', /^c:3:3: yaml: is not indented further .*not closed/],
  ['a tab', 'a:\n\tb: 1\n', /^c:2:1: yaml: is indented by a tab/],
])('%s', (_what, text, rule) => {
  expect(said(text)).toEqual([expect.stringMatching(rule)]);
});

test.each<[string, string, RegExp]>([
  ['a second colon on the line', 'a: b: c\n', /second ": "/],
  ['a colon that is missing', 'redis:\n  url x\n  prefix: y\n', /lacks a colon/],
  ['a value with a colon, and a deeper line', 'a: b: c\n  d: e\n', /second ": "/],
])('%s is no matter of indentation', (_what, text, rule) => {
  expect(said(text).join()).toMatch(rule);
});

test('nothing of the file is repeated', () => {
  expect(said('apiKey: hunter-two\n  other: s3cret\n').join()).not.toMatch(/hunter|s3cret|other/);
});
