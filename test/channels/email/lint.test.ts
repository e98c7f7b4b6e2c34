/** The HTML of every kind of mail is what mail programs show whole, and what everybody can read, light and dark. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { SCENES, type Scene } from '../../../src/features/preview/scenes.ts';
import { UNREADABLE, UNREADABLE_COLORS } from '../../support/axe.ts';
import { type Browser, chromiumPath, startChromium } from '../../support/chromium.ts';
import { lintMail } from '../../support/mail-lint.ts';
import { openSceneChannels } from '../../support/scenes.ts';

const channels = await openSceneChannels();
const folder = await mkdtemp(join(tmpdir(), 'tocsin-mail-'));
let started: Promise<Browser> | undefined;

afterAll(async () => {
  await channels.close();
  await (await started)?.close();
  await rm(folder, { recursive: true, force: true });
});

const htmlOf = (body: unknown): string[] =>
  typeof body === 'object' && body !== null && 'html' in body ? [String(body.html)] : [];

const mailsOf = (scene: Scene): string[] => {
  const mails = channels.compose('email', scene).flatMap(({ body }) => htmlOf(body));
  if (mails.length === 0) throw new Error('no mail has HTML');
  return mails;
};

const ROWS = SCENES.filter(({ kinds }) => kinds?.includes('email') !== false).map(
  (scene) => [scene.name, scene] as const,
);

describe('mail programs show', () => {
  test.each(ROWS)('%s', (_name, scene) => {
    expect(mailsOf(scene).flatMap(lintMail)).toEqual([]);
  });
});

describe.skipIf(chromiumPath === undefined)('everybody can read (skipped: no Chromium in PATH)', () => {
  test.each(ROWS)('%s', async (_name, scene) => {
    started ??= startChromium(chromiumPath ?? '');
    const { tab } = await started;
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const found: unknown[] = [];
    for (const html of mailsOf(scene)) {
      await writeFile(join(folder, 'mail.html'), html);
      await tab.open(pathToFileURL(join(folder, 'mail.html')).href);
      await tab.evaluate(axe);
      await tab.look(600, 'light');
      found.push(...((await tab.evaluate(UNREADABLE)) as unknown[]));
      await tab.look(600, 'dark');
      found.push(...((await tab.evaluate(UNREADABLE_COLORS)) as unknown[]));
    }
    expect(found).toEqual([]);
  });
});

describe('the lint itself', () => {
  const mail = (head: string, body: string): string =>
    `<!doctype html><html lang="en"><head><title>t</title>${['viewport', 'color-scheme', 'supported-color-schemes', 'format-detection'].map((name) => `<meta name="${name}" content="x">`).join('')}<meta charset="utf-8">${head}</head><body>${body}</body></html>`;

  test('takes a plain mail', () => {
    expect(lintMail(mail('', '<p style="margin:0">Hello <a href="https://x.example/?a=1&amp;b=2">x</a></p>'))).toEqual(
      [],
    );
  });

  test.each([
    ['<script>1</script>', '<script>'],
    ['<p onclick="x">a</p>', '<p onclick>'],
    ['<a href="http://x.example/">x</a>', 'a link to http://x.example/'],
    ['<img src="https://x.example/i.png">', 'an image without a text'],
    ['<table><tr><td>a</td></tr></table>', 'a table without role="presentation"'],
    ['<p style="position:absolute">a</p>', 'a style that moves text away'],
    ['<div style="display:flex">a</div>', 'a style that moves text away'],
    ['<p style="background:url(https://x.example)">a</p>', 'a style that loads or runs something'],
    ['<p><b>a</p></b>', '</p> closes another element'],
    [`<p>${'a'.repeat(102_400)}</p>`, 'Gmail cuts it off'],
    ['<p style="filter:blur(2px)">a</p>', 'filter: not in gmail'],
    ['<div style="max-height:0;font-size:1px;mso-hide:all">a</div>', 'text in letters of a pixel'],
    ['<div style="display:none;mso-hide:all">a</div>', 'a style that hides text'],
  ])('refuses %.60s', (body, problem) => {
    expect(lintMail(mail('', body)).join('\n')).toContain(problem);
  });

  test('misses what has to be in the head', () => {
    expect(lintMail('<html><body>a</body></html>')).toEqual(
      expect.arrayContaining(['no doctype', 'no language', 'no title', 'no meta color-scheme']),
    );
  });
});
