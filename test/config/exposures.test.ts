/** What `check` and the log say of files of the config that others on the machine can read or change. */
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkConfig } from '../../src/cli/check.ts';
import { SMALL } from './samples.ts';

const KEY = 'hush-hush';
const EVERYBODY = 'every user of this machine';

/** A config whose key is in a file of its own, and a variable beside it, in a directory of its own. */
const setUp = async () => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'tocsin-exposures-')));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const [config, secrets] = [join(directory, 'etc/tocsin'), join(directory, 'etc/keys')];
  for (const each of [dirname(config), config, secrets]) await mkdir(each, { mode: 0o755 });
  const files = { config: join(config, 'c.yaml'), env: join(config, 'c.env'), key: join(secrets, 'api-key') };
  const text = SMALL.replace('key-1', '"@{file:../keys/api-key}"')
    .replace('allowHttp: false', 'secret: "@{HOOKS}"')
    .replaceAll('@', '$');
  const put = async (file: string, content: string, mode: number): Promise<void> => {
    await writeFile(file, content);
    await chmod(file, mode);
  };
  await put(files.config, text, 0o644);
  await put(files.env, 'HOOKS=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n', 0o600);
  await put(files.key, KEY, 0o600);
  const said = async (file = files.config): Promise<string[]> => {
    const { problems, summary } = await checkConfig(file, {});
    expect(problems).toEqual([]);
    return summary.filter((line) => line.includes(EVERYBODY));
  };
  return { directory, files, said };
};

test('nothing is said where only the owner, the group and root can', async () => {
  const { files, said } = await setUp();
  expect(await said()).toEqual([]);
  for (const file of Object.values(files)) await chmod(file, 0o660);
  expect(await said()).toEqual([]);
});

test('a secret that everybody can read is named by its file, the one of `file:` as well', async () => {
  const { files, said } = await setUp();
  await chmod(files.key, 0o644);
  await chmod(files.env, 0o604);
  const readable = (file: string, mode: string) =>
    `note: ${file} holds secrets, and ${EVERYBODY} can read it (mode ${mode}): chmod 600`;
  expect((await said()).toSorted()).toEqual([readable(files.env, '0604'), readable(files.key, '0644')].toSorted());
});

test('the URL of a Redis without a password is no secret', async () => {
  const { files, said } = await setUp();
  const text = await readFile(files.config, 'utf8');
  await writeFile(files.config, `${text}redis: { url: "redis://redis.example:6379/0" }\n`);
  expect(await said()).toEqual([]);
  await writeFile(files.config, `${text}redis: { url: "redis://:hush-hush@redis.example:6379/0" }\n`);
  expect(await said()).toHaveLength(1);
});

test.each(['config', 'env', 'key'] as const)('a file that everybody can change is named: %s', async (which) => {
  const { files, said } = await setUp();
  await chmod(files[which], 0o622);
  const file = files[which];
  expect(await said()).toEqual([`note: ${EVERYBODY} can change ${file} (mode 0622): chmod o-w ${file}`]);
});

test('a directory above in which everybody can put another file in its place is named once', async () => {
  const { directory, files, said } = await setUp();
  const etc = join(directory, 'etc');
  await chmod(etc, 0o777);
  expect(await said()).toEqual([
    `note: ${EVERYBODY} can replace ${files.config}, as they may write to ${etc} (mode 0777): chmod o-w ${etc}`,
  ]);
  await chmod(etc, 0o1777);
  expect(await said()).toEqual([]);
});

test('so is the one of a link to the config, and the one that it leads to', async () => {
  const { directory, files, said } = await setUp();
  const links = join(directory, 'links');
  await mkdir(links);
  const link = join(links, 'c.yaml');
  await symlink(files.config, link);
  await symlink(files.env, join(links, 'c.env'));
  await mkdir(join(directory, 'keys'), { mode: 0o755 });
  await symlink(files.key, join(directory, 'keys/api-key'));
  expect(await said(link)).toEqual([]);
  await chmod(links, 0o777);
  expect(await said(link)).toEqual([expect.stringContaining(`may write to ${links} (`)]);
  await chmod(links, 0o755);
  await chmod(dirname(files.config), 0o777);
  expect(await said(link)).toEqual([expect.stringContaining(`may write to ${dirname(files.config)} (`)]);
});
