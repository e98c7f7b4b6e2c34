/** Questions at a terminal, with streams in its place. */
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { createPrompt } from '../../src/cli/terminal.ts';
import { until } from '../support/until.ts';

const open = () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const stop = new AbortController();
  let interrupts = 0;
  const prompt = createPrompt({
    input,
    output,
    signal: stop.signal,
    interrupt: () => {
      interrupts += 1;
      stop.abort();
    },
  });
  onTestFinished(prompt.close);
  let seen = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    seen += text;
  });
  return { input, prompt, seen: () => seen, interrupts: () => interrupts };
};

test('an answer is shown, a secret is not', async () => {
  const { input, prompt, seen } = open();
  const name = prompt.ask('Name? ');
  await until('the question', () => seen().includes('Name?'));
  input.write('vault\r');
  expect(await name).toBe('vault');
  const key = prompt.askSecret('Key? ');
  await until('the second question', () => seen().includes('Key?'));
  input.write('hush\r');
  expect(await key).toBe('hush');
  await until('the line ends', () => seen().endsWith('\n'));
  expect(seen()).toContain('vault');
  expect(seen()).not.toContain('hush');
});

test('lines that were pasted ahead answer the next questions, unseen', async () => {
  const { input, prompt, seen } = open();
  const first = prompt.ask('First? ');
  input.write('one\rtwo-hush\rthree');
  expect(await first).toBe('one');
  expect(await prompt.askSecret('Second? ')).toBe('two-hush');
  const third = prompt.ask('Third? ');
  input.write('\r');
  expect(await third).toBe('three');
  expect(seen()).not.toContain('hush');
});

test('the end of input answers nothing, neither now nor later', async () => {
  const { input, prompt } = open();
  const first = prompt.ask('First? ');
  input.end();
  expect(await first).toBeUndefined();
  expect(await prompt.ask('Second? ')).toBeUndefined();
});

test('Ctrl-C interrupts, and answers nothing', async () => {
  const { input, prompt, interrupts } = open();
  const first = prompt.ask('First? ');
  input.write('\u0003');
  expect(await first).toBeUndefined();
  expect(interrupts()).toBe(1);
});
