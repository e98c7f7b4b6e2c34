/** The log at a terminal: the same facts on one line, and nothing that a terminal obeys. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLogger, type LogForm, logFormOf } from '../../src/ops/log.ts';
import { createScrubber } from '../../src/secret.ts';
import { anyCharacter } from '../support/texts.ts';

const open = (form: LogForm = 'pretty') => {
  const written: string[] = [];
  const destination = { write: (line: string) => void written.push(line) };
  return {
    log: createLogger({ level: 'info', scrub: createScrubber(['hunter-two']), form: () => form, destination }),
    written,
  };
};

test('a line is the time of day, the level, what happened, and the rest', () => {
  const { log, written } = open();
  log.warn({ to: ['C1', 'a b'], alerts: 2, sweep: false, protocol: 'Lending Pool', kind: 'slack' }, 'tried again');
  expect(written[0]).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} WARN {2}tried again .*to=\[C1 "a b"\] alerts=2 sweep=false protocol="Lending Pool" kind=slack\n$/,
  );
});

test('an error stands at the end, and its stack below', () => {
  const { log, written } = open();
  log.error({ service: 'main', err: Object.assign(new Error('no answer'), { code: 'E1' }) }, 'failing');
  const [first, ...frames] = (written[0] ?? '').trimEnd().split('\n');
  expect(first).toMatch(/ERROR failing .*service=main Error: no answer \(code E1\)$/);
  expect(frames.length).toBeGreaterThan(0);
  for (const frame of frames) expect(frame).toMatch(/^ {4}at /);
});

test('colours come only where they are asked for', () => {
  const [plain, coloured] = [open('pretty'), open('coloured')];
  for (const { log } of [plain, coloured]) log.info({ kind: 'slack' }, 'delivered');
  expect(plain.written.join()).not.toContain('\u001b');
  expect(coloured.written.join()).toContain('\u001b[32mINFO');
});

test('whatever others wrote is on one line, without a secret or a control character', () => {
  const nasty = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('\u001b[2J', 'a\r\nb\tc', '\u202ex', '\u{e0041}', '\u2028', '\u009b2J', 'hunter-two'),
  );
  fc.assert(
    fc.property(nasty, nasty, nasty, (message, field, value) => {
      const { log, written } = open();
      log.info({ [`x${field}`]: [value, { deep: value }], protocol: value }, `y${message}`);
      const text = written.join('');
      expect(text.slice(0, -1)).not.toMatch(/\p{Cc}|\p{Default_Ignorable_Code_Point}|[\u2028\u2029]/u);
      expect(text.endsWith('\n')).toBe(true);
      expect(text).not.toContain('hunter-two');
    }),
    { numRuns: 300 },
  );
});

test('auto is for people on a terminal, and JSON elsewhere; NO_COLOR is obeyed', () => {
  const [terminal, file] = [
    { isTty: true, env: {} },
    { isTty: false, env: {} },
  ];
  expect(logFormOf('auto', terminal)).toBe('coloured');
  expect(logFormOf('auto', { ...terminal, env: { NO_COLOR: '1' } })).toBe('pretty');
  expect(logFormOf('auto', file)).toBe('json');
  expect(logFormOf('json', terminal)).toBe('json');
  expect(logFormOf('pretty', file)).toBe('pretty');
});
