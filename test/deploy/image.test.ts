/** The image gets what its Dockerfile asks for. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startCommand } from '../support/program.ts';
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

test('the container hands its arguments on, and keeps no core dumps', async () => {
  const [, json = '[]'] = /^ENTRYPOINT (.+)$/m.exec(await readProject('Dockerfile')) ?? [];
  const [tini, end, ...entrypoint] = JSON.parse(json) as string[];
  expect([tini, end]).toEqual(['/usr/bin/tini', '--']);
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-image-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'tocsin'), '#!/bin/sh\nulimit -c\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
  const { PATH = '' } = process.env;
  const container = startCommand(
    ['sh', '-c', 'ulimit -S -c unlimited 2>/dev/null; exec "$@"', 'sh', ...entrypoint, 'trace', 'a b'],
    {
      PATH: `${directory}:${PATH}`,
    },
  );
  expect(await container.ended).toBe(0);
  expect(container.stdout()).toBe('0\ntrace\na b\n');
});
