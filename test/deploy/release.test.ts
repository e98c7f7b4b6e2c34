/** scripts/release.sh in a repository of its own, with a `docker` in PATH that writes down what it was asked for. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const IMAGE = 'registry.example.com/team/tocsin';

interface World {
  version?: string;
  changelog?: string;
  /** Exit code of the project's tests. */
  tests?: number;
  /** What npm answers of the packages' signatures. */
  signatures?: { code: number; said: string };
  /** Exit code of docker: it is missing, or knows no buildx. */
  docks?: number;
}

const SIGNED = { code: 0, said: '{"invalid":[],"missing":[]}' };

const setUp = async ({
  version = '1.2.3',
  changelog = `## 1.2.3\n\n- [FIX] One.\n`,
  tests = 0,
  signatures = SIGNED,
  docks = 0,
}: World = {}) => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-release-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const repository = join(directory, 'repository');
  const calls = join(directory, 'calls');
  for (const name of ['repository/scripts', 'repository/.ci', 'bin'])
    await mkdir(join(directory, name), { recursive: true });
  for (const name of ['release.sh', 'sbom.ts'])
    await copyFile(join(ROOT, 'scripts', name), join(repository, 'scripts', name));
  await writeFile(
    join(repository, 'package.json'),
    `{\n  "name": "tocsin",\n  "version": "${version}",\n  "type": "module",\n  "devDependencies": { "node": "24.0.0" }\n}\n`,
  );
  await writeFile(
    join(repository, 'CHANGELOG.md'),
    `# Changelog\n\n## Unreleased\n\n${changelog}\n## 0.1.0\n\n- Old.\n`,
  );
  await writeFile(join(repository, '.gitignore'), '/release/\n');
  const program = (code: number): string => `#!/bin/sh\nprintf '%s\\n' "\${0##*/} $*" >>'${calls}'\nexit ${code}\n`;
  await writeFile(join(repository, '.ci/run'), program(tests), { mode: 0o755 });
  await writeFile(
    join(repository, 'scripts/pack.sh'),
    program(0).replace('exit 0', 'echo packed >release/tocsin-1.2.3.tgz'),
  );
  // Its builder is not there yet.
  const docker = program(docks).replace('exit 0', 'case "$*" in *inspect*) exit 1 ;; esac');
  await writeFile(join(directory, 'bin/docker'), docker, { mode: 0o755 });
  const npm = `${program(0).replace('exit 0', '')}case $1 in audit) printf '%s' '${signatures.said}'; exit ${signatures.code} ;; sbom) echo '{"components":[{"name":"one"}]}' ;; esac\n`;
  await writeFile(join(directory, 'bin/npm'), npm, { mode: 0o755 });
  const env = {
    ...process.env,
    PATH: `${join(directory, 'bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  };
  const git = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)('git', args, { cwd: repository, env })).stdout.trim();
  await git('init', '-q');
  await git('add', '.');
  await git('commit', '-qm', 'all');
  const release = (...args: string[]): Promise<{ code: number; said: string }> =>
    new Promise((resolve) => {
      execFile('sh', [join(repository, 'scripts/release.sh'), ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
      );
    });
  const called = async (): Promise<string[]> =>
    (await readFile(calls, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  return { repository, git, release, called };
};

const BUILD =
  'docker buildx build --builder tocsin-release --platform linux/amd64,linux/arm64 --sbom=true --provenance=mode=max';

/** Whether there is docker is seen before the tests are run. */
const LOOK = 'docker buildx version';
const PACK = 'pack.sh x64 arm64';
const SBOM = 'npm sbom --sbom-format cyclonedx --omit dev --package-lock-only';

test('it tests, builds for all platforms, and says what it would publish', async () => {
  const { repository, git, release, called } = await setUp();
  const { code, said } = await release('--image', IMAGE);
  const revision = await git('rev-parse', 'HEAD');
  expect(await called()).toEqual([
    LOOK,
    'run ',
    'npm audit signatures --json',
    PACK,
    SBOM,
    'docker buildx inspect tocsin-release',
    'docker buildx create --name tocsin-release --driver docker-container',
    `${BUILD} --build-arg REVISION=${revision} --tag ${IMAGE}:latest --tag ${IMAGE}:1.2.3 --output type=oci,dest=release/tocsin-1.2.3.oci.tar .`,
  ]);
  const { components } = JSON.parse(await readFile(join(repository, 'release/tocsin-1.2.3.cdx.json'), 'utf8'));
  // The tarballs bring it.
  expect(components).toMatchObject([{ name: 'one' }, { name: 'node', version: '24.0.0' }]);
  await promisify(execFile)('sha256sum', ['--check', 'SHA256SUMS'], { cwd: join(repository, 'release') });
  for (const name of ['tocsin-1.2.3.tgz', 'tocsin-1.2.3.cdx.json', 'SHA256SUMS'])
    expect(said).toContain(`  release/${name}\n`);
  expect(said).toContain(`would publish, with --publish:\nrelease:   ${IMAGE}:1.2.3 (linux/amd64,linux/arm64)\n`);
  expect(said).toContain(`the tag v1.2.3 of ${revision}\n`);
  expect(await git('tag')).toBe('');
  expect(code).toBe(0);
});

test('without an image everything else is made, and it says why', async () => {
  const { release, called } = await setUp();
  const { code, said } = await release();
  expect(await called()).toEqual(['run ', 'npm audit signatures --json', PACK, SBOM]);
  expect(said).toContain('no image: --image names none\n');
  expect(code).toBe(0);
});

test('without docker everything else is made, and it says so; nothing is published then, and no test is run', async () => {
  const { git, release, called } = await setUp({ docks: 127 });
  const { code, said } = await release('--image', IMAGE);
  expect(await called()).toEqual([LOOK, 'run ', 'npm audit signatures --json', PACK, SBOM]);
  expect(said).toContain('the image was NOT built: docker with buildx is missing');
  expect(code).toBe(0);

  const refused = await release('--image', IMAGE, '--publish');
  expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('nothing is published: docker with buildx') });
  expect((await called()).slice(5)).toEqual([LOOK]);
  expect(await git('tag')).toBe('');
});

test('it publishes when it is told to, and tags the commit', async () => {
  const { git, release, called } = await setUp();
  const { code, said } = await release('--image', IMAGE, '--publish');
  const revision = await git('rev-parse', 'HEAD');
  const tags = `--tag ${IMAGE}:latest --tag ${IMAGE}:1.2.3`;
  expect((await called()).at(-1)).toBe(`${BUILD} --build-arg REVISION=${revision} ${tags} --push .`);
  expect(await git('rev-parse', 'v1.2.3^{commit}')).toBe(revision);
  expect(said).toContain(`published:\nrelease:   ${IMAGE}:1.2.3`);
  expect(code).toBe(0);
});

test('a dry run prints the commands and runs none', async () => {
  const { release, called } = await setUp();
  const { code, said } = await release('--dry-run', '--image', IMAGE);
  expect(said).toContain('+ .ci/run\n');
  expect(said).toContain(`+ ${BUILD} `);
  expect(said).toContain(' --push .\n');
  expect(await called()).toEqual([]);
  expect(code).toBe(0);
});

test('a package with a wrong signature, or with none where others have one, ends it before anything is built', async () => {
  const invalid = { code: 1, said: '{"invalid":[{"name":"one"}],"missing":[]}' };
  const { release, called } = await setUp({ signatures: invalid });
  const { code, said } = await release('--image', IMAGE, '--publish');
  expect(code).toBe(1);
  expect(said).toContain('packages without a valid signature');
  expect(await called()).toEqual([LOOK, 'run ', 'npm audit signatures --json']);
});

test('a registry that says nothing of signatures holds nothing up, and that is said', async () => {
  const { release } = await setUp({ signatures: { code: 1, said: '{"error":{"code":"ENOTFOUND"}}' } });
  const { code, said } = await release('--image', IMAGE);
  expect(code).toBe(0);
  expect(said).toContain('the signatures of the packages were not checked');
});

test('what comes before a release is not the latest', async () => {
  const { release, called } = await setUp({ version: '2.0.0-rc.1', changelog: '## 2.0.0-rc.1 (today)\n\n- New.\n' });
  await release('--image', IMAGE);
  expect((await called()).at(-1)).toContain(` --tag ${IMAGE}:2.0.0-rc.1 --output`);
  expect((await called()).at(-1)).not.toContain('latest');
});

test.each<{ what: string; world?: World; args?: string[]; change?: string; says: string }>([
  { what: 'a change that is not committed', change: 'package.json', says: 'not committed' },
  { what: 'a file that git does not know', change: 'new.ts', says: 'not committed' },
  { what: 'a version that the CHANGELOG lacks', world: { version: '1.2.4' }, says: 'says nothing about 1.2.4' },
  { what: 'a section without a line', world: { changelog: '## 1.2.3\n' }, says: 'says nothing about 1.2.3' },
  { what: 'an image without a registry', args: ['--image', 'team/tocsin'], says: 'names no registry' },
  { what: 'no image', args: ['--publish'], says: 'name the image' },
  { what: 'an unknown option', args: ['--push'], says: 'unknown: --push' },
])('$what is refused before anything is run', async ({ world, args = ['--image', IMAGE], change, says }) => {
  const { repository, release, called } = await setUp(world);
  if (change !== undefined) await writeFile(join(repository, change), '{\n  "version": "1.2.3",\n}\n');
  const { code, said } = await release(...args);
  expect(said).toContain(says);
  expect(code).toBe(1);
  expect(await called()).toEqual([]);
});

test('a version that is another commit already is refused', async () => {
  const { git, release, called } = await setUp();
  await git('tag', 'v1.2.3');
  await git('commit', '-q', '--allow-empty', '-m', 'later');
  expect(await release('--image', IMAGE)).toMatchObject({ code: 1, said: expect.stringContaining('another commit') });
  expect(await called()).toEqual([]);
});

test('a new version is written where the version stands, and has what was unreleased', async () => {
  const { repository, git, release } = await setUp({ version: '1.3.0', changelog: '- [FIX] One.\n' });
  const files = ['CHANGELOG.md', 'Dockerfile', 'deploy/kubernetes/kustomization.yaml', 'scripts/new-version.sh'];
  await mkdir(join(repository, 'deploy/kubernetes'), { recursive: true });
  for (const file of files.slice(1)) await copyFile(join(ROOT, file), join(repository, file));
  await promisify(execFile)('sh', [join(repository, 'scripts/new-version.sh')]);
  const [changelog, dockerfile, kustomization] = await Promise.all(
    files.map((file) => readFile(join(repository, file), 'utf8')),
  );
  expect(changelog).toMatch(
    /^# Changelog\n\n## Unreleased\n\n## 1\.3\.0 \(\d{4}-\d\d-\d\d\)\n\n- \[FIX\] One\.\n\n## 0\.1\.0\n/,
  );
  expect(dockerfile).toContain('image.version="1.3.0"');
  expect(kustomization).toContain('newTag: 1.3.0\n');
  await git('add', '.');
  await git('commit', '-qm', '1.3.0');
  expect(await release()).toMatchObject({ code: 0, said: expect.stringContaining('the tag v1.3.0 of ') });
});

test('nothing is built where a test fails', async () => {
  const { release, called } = await setUp({ tests: 3 });
  expect((await release('--image', IMAGE, '--publish')).code).toBe(3);
  expect(await called()).toEqual([LOOK, 'run ']);
});
