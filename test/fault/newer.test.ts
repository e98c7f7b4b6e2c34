import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './daemon-process.ts';
import { raised } from './newer.ts';

test('the version of jobs is raised where the source of today states it', async () => {
  const source = await readFile(join(ROOT, 'src/queue/job.ts'), 'utf8');
  const [, version] = /VERSION = (\d+);/.exec(source) ?? [];
  const newer = raised(source);
  expect(newer).toContain(`const VERSION = ${Number(version) + 1};`);
  expect(newer).toContain(`![VERSION, ${version}].includes(Number(written.v))`);
});
