import { expect, test } from 'vitest';
import { createRareWarning } from '../../src/ops/failure-log.ts';

test('is written at once, and then once a minute with how often it was due', () => {
  const lines: object[] = [];
  let now = 1_000_000;
  const log = { warn: (fields: object, text?: string) => void lines.push({ ...fields, text }) };
  const warn = createRareWarning({ log, text: 'refused', now: () => now });
  warn({ host: 'a' });
  warn({ host: 'b' });
  warn({ host: 'c' });
  now += 60_000;
  warn({ host: 'd' });
  expect(lines).toEqual([
    { host: 'a', times: 1, text: 'refused' },
    { host: 'd', times: 3, text: 'refused' },
  ]);
});
