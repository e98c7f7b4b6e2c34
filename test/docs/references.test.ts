/** What is made from other files is what they say now. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { references } from '../../scripts/reference.ts';

const made = await references();

test.each(Object.keys(made))('%s is up to date; if not, run `npm run reference`', async (file) => {
  expect(await readFile(new URL(`../../${file}`, import.meta.url), 'utf8')).toBe(made[file]);
});
