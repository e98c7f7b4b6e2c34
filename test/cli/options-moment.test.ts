import { expect, test } from 'vitest';
import { parseMoment } from '../../src/cli/options.ts';
import { UsageError } from '../../src/errors.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const moment = (text: string) => new Date(parseMoment(text, '--since', NOW)).toISOString();

test.each([
  ['24h', '2026-11-19T12:00:00.000Z'],
  ['500ms', '2026-11-20T11:59:59.500Z'],
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T08:00:00Z', '2026-01-31T08:00:00.000Z'],
  ['2026-01-31T08:00Z', '2026-01-31T08:00:00.000Z'],
  ['2026-01-31T08:00:00.25+02:00', '2026-01-31T06:00:00.250Z'],
])('%s is %s', (text, expected) => {
  expect(moment(text)).toBe(expected);
});

test.each([
  '',
  'yesterday',
  '24',
  '24 h',
  '2026-02-31',
  '2026-13-01',
  '2026-01-31T25:00:00Z',
  '2026-01-31T08:00:00',
  '31.01.2026',
  '999999999999d',
])('%s is refused, with the option and what was given', (text) => {
  expect(() => moment(text)).toThrow(UsageError);
  expect(() => moment(text)).toThrow(`--since must be a date-time like 2026-01-31T08:00:00Z`);
  expect(() => moment(text)).toThrow(`(got '${text}')`);
});
