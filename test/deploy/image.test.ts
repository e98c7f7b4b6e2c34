/** The image gets what its Dockerfile asks for. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readProject } from './compose-files.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('every file that is copied into the image is there, and not ignored', async () => {
  const copies = (await readProject('Dockerfile')).match(/^COPY (?!--from)(.+)$/gm) ?? [];
  const sources = copies.flatMap((line) => line.split(' ').slice(1, -1));
  expect(sources).toContain('deploy/wait-for-config.sh');
  const letIn = (await readProject('.dockerignore')).split('\n').flatMap((line) => line.match(/^!(.+)/)?.[1] ?? []);
  for (const source of sources) {
    expect(existsSync(join(ROOT, source)), source).toBe(true);
    expect(
      letIn.some((path) => path === source || path.startsWith(`${source}/`)),
      source,
    ).toBe(true);
  }
  // What is let in may hold no secret: of `config` only files that are named.
  expect(letIn).not.toContain('config');
  expect(letIn).not.toContain('deploy');
});
