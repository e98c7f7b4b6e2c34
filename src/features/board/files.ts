/** The files of bull-board's pages, and the document that loads them. */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Html, html } from '../../html.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

export interface BoardFile {
  type: string;
  body: Buffer;
}

/** Their document asks Google for fonts and has styles of its own: of it only the tags are taken that load its files. */
const TAGS =
  /<link href="static\/[\w./-]+\.css" rel="stylesheet">|<script defer src="static\/[\w./-]+\.js"><\/script>/g;

/** `config`: JSON, safe within a script. */
const documentOf = (tags: readonly string[], basePath: string, config: string): Html => html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Tocsin queues</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<base href="${basePath}"><link rel="icon" type="image/svg+xml" id="fav-logo" href="static/images/logo.svg">
${{ html: tags.filter((tag) => tag.startsWith('<link')).join('\n') }}</head><body class="preload">
<script id="__UI_CONFIG__" type="application/json">${{ html: config }}</script>
<div id="root"></div><noscript>This page needs JavaScript. <a href="/">The status page</a> does not.</noscript>
${{ html: tags.filter((tag) => tag.startsWith('<script')).join('\n') }}</body></html>
`;

export const openBoardFiles = async () => {
  const folder = join(dirname(fileURLToPath(import.meta.resolve('@bull-board/ui/package.json'))), 'dist');
  const entries = await readdir(join(folder, 'static'), { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  /** By the path that a browser asks for: no other file can be had. */
  const files = new Map(paths.map((path) => [path.slice(folder.length), path]));
  const tags = (await readFile(join(folder, 'index.ejs'), 'utf8')).match(TAGS) ?? [];
  if (tags.length === 0) throw new Error('bull-board: its document names no files');
  return {
    document: (basePath: string, config: string): string => documentOf(tags, basePath, config).html,
    file: async (path: string): Promise<BoardFile | undefined> => {
      const found = files.get(path);
      const type = TYPES[extname(path)];
      return found === undefined || type === undefined ? undefined : { type, body: await readFile(found) };
    },
  };
};
