import { expect, test } from 'vitest';
import { attributeText, LONGEST_ATTRIBUTE, traceFault } from '../../src/ops/spans.ts';

test.each([
  [
    { stack: 'OTLPExporterError: Unauthorized\n  at x', message: 'Unauthorized', code: '401', data: 'bad key SECRET' },
    'Unauthorized (401)',
  ],
  [
    { message: 'connect ECONNREFUSED 127.0.0.1:4318', code: 'ECONNREFUSED' },
    'connect ECONNREFUSED 127.0.0.1:4318 (ECONNREFUSED)',
  ],
  [{ name: 'AggregateError', code: 'ECONNREFUSED', data: 'SECRET' }, 'AggregateError (ECONNREFUSED)'],
  [{ data: 'SECRET' }, 'no answer'],
])('an error of the exporter is told without the answer that it holds: %o', (error, told) => {
  expect(traceFault(JSON.stringify(error))).toBe(told);
});

test('other words of the SDK stay, as far as they are short', () => {
  expect(traceFault('Timeout')).toBe('Timeout');
  expect(traceFault('x'.repeat(1000))).toHaveLength(300);
});

test('a name that the service gives takes no more of a span than others', () => {
  expect(attributeText('Lending Pool')).toBe('Lending Pool');
  expect(attributeText('\u{1f40b}'.repeat(1e6)).length).toBeLessThanOrEqual(LONGEST_ATTRIBUTE);
});
