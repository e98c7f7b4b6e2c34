/** The documents for contributors name only what there is: files, stages, dependencies, Redis keys. `test/docs` has those for users. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const exists = (file: string): boolean => existsSync(join(ROOT, file));

const DECISIONS = readdirSync(join(ROOT, 'docs/decisions'))
  .filter((file) => /^\d/.test(file))
  .map((file) => `docs/decisions/${file}`);
/** `deliver/worker.ts`, `src/app/` ...; a bare `rest.ts` stands in the folder of the path before it on its line. */
const filesIn = (line: string): string[] => {
  let folder = '';
  return [...line.matchAll(/`([\w./-]+(?:\.ts|\/))`/g)].map(([, path = '']) => {
    if (path.endsWith('/')) return path;
    if (path.includes('/')) folder = dirname(path);
    return path.includes('/') || folder === '' ? path : `${folder}/${path}`;
  });
};

const section = (text: string, heading: string): string =>
  text.slice(text.indexOf(`## ${heading}`)).split(/\n(?=## )/)[0] ?? '';

describe('the documents', () => {
  test('name files that exist', () => {
    const lost = ['ARCHITECTURE.md', 'docs/redis-keys.md', ...DECISIONS].flatMap((document) =>
      read(document)
        .split('\n')
        .flatMap(filesIn)
        .filter((path) => !exists(path) && !exists(`src/${path}`))
        .map((path) => `${document}: ${path}`),
    );
    expect(lost).toEqual([]);
  });

  test('CONTRIBUTING.md names files that exist', () => {
    const named = [...read('CONTRIBUTING.md').matchAll(/`((?:src|test|docs|config)\/[\w./-]+)`/g)].map(
      ([, path]) => path,
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((path = '') => !/KIND|NAME/.test(path) && !exists(path))).toEqual([]);
  });

  test('README.md takes less than ten minutes to read', () => {
    const wordsAMinute = 150;
    expect(read('README.md').split(/\s+/).length).toBeLessThan(10 * wordsAMinute);
  });

  test('ARCHITECTURE.md tells seven stories, each in few files', () => {
    const stories = section(read('ARCHITECTURE.md'), 'Seven stories')
      .split(/\n\*\*/)
      .slice(1);
    expect(stories.length).toBe(7);
    for (const story of stories) {
      const files = new Set(story.split('\n').flatMap(filesIn));
      const folders = new Set([...files].map((file) => dirname(file)));
      expect({ story, isShort: files.size <= 15 && folders.size <= 5 }).toEqual({ story, isShort: true });
    }
  });

  test('ARCHITECTURE.md lists the stages in the order in which they run', () => {
    const listIn = (file: string, name: string): string[] => {
      const [, names = ''] = new RegExp(`const ${name}\\b[^=]*= \\[([^\\]]+)\\]`).exec(read(file)) ?? [];
      const stages = names.replace(/\/\/.*/g, '').split(',');
      return stages.map((stage) => stage.trim().replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
    };
    const shown = section(read('ARCHITECTURE.md'), 'Where the stages are')
      .split('\n')
      .filter((line) => /^\| (dispatch|deliver)/.test(line))
      .map((line) =>
        line
          .split('|')[3]
          ?.split(',')
          .map((stage) => stage.trim()),
      );
    const lists = [
      listIn('src/dispatch/dispatch.ts', 'STAGES'),
      listIn('src/deliver/worker.ts', 'JOB_STAGES'),
      listIn('src/deliver/worker.ts', 'MESSAGE_STAGES'),
      listIn('src/deliver/worker.ts', 'ATTEMPT_STAGES'),
    ];
    expect(shown).toEqual(lists.map((stages) => stages.filter((stage) => stage !== '')));
  });

  test('ARCHITECTURE.md names every dependency, and no other', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, object>;
    const installed = Object.keys({ ...dependencies, ...devDependencies }).filter(
      (name) => !name.startsWith('@types/'),
    );
    const named = section(read('ARCHITECTURE.md'), 'Dependencies')
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| package'))
      .flatMap((line) => (line.split('|')[1] ?? '').replace('(development)', '').split(','))
      .map((name) => name.trim());
    expect(named.toSorted()).toEqual(installed.toSorted());
  });

  test('docs/redis-keys.md has a row for every key of the code', () => {
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const keys = sources.flatMap((file) =>
      [...read(`src/${file}`).matchAll(/refix\}:([\w-]+)/g)].map(([, key = '']) => key),
    );
    const listed = new Set([...read('docs/redis-keys.md').matchAll(/`:([\w-]+)/g)].map(([, key]) => key));
    expect(keys.length).toBeGreaterThan(30);
    expect([...new Set(keys)].filter((key) => !listed.has(key))).toEqual([]);
  });

  test('the index of the decisions has each of them', () => {
    const index = read('docs/decisions/README.md');
    const shown = [...index.matchAll(/^- \[(\d+)\]\((\S+)\) (.+)$/gm)].map(([, number, file, title]) => ({
      file: `docs/decisions/${file}`,
      heading: `# ${number}. ${title}`,
    }));
    expect(shown).toEqual(DECISIONS.toSorted().map((file) => ({ file, heading: read(file).split('\n')[0] })));
  });
});
