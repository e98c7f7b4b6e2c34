/** bull-board behind our own server: its routes are read here, those that only read are kept, and no adapter is needed. */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBullBoard } from '@bull-board/api';
import type { AppControllerRoute, AppViewRoute, BullBoardQueues, IServerAdapter } from '@bull-board/api/dist/types.js';
import { orUndefined } from '../../errors.ts';
import type { Answer } from '../../ops/answer.ts';
import type { ReadableQueue } from '../../queue/queues.ts';
import { type Html, html } from '../../text.ts';
import { ReadOnlyQueue, type Scrub } from './read-only-queue.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

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

const openBoardFiles = async () => {
  const folder = join(dirname(fileURLToPath(import.meta.resolve('@bull-board/ui/package.json'))), 'dist');
  const entries = await readdir(join(folder, 'static'), { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  /** By the path that a browser asks for: no other file can be had. */
  const files = new Map(paths.map((path) => [path.slice(folder.length), path]));
  const tags = (await readFile(join(folder, 'index.ejs'), 'utf8')).match(TAGS) ?? [];
  if (tags.length === 0) throw new Error('bull-board: its document names no files');
  return {
    document: (basePath: string, config: string): string => documentOf(tags, basePath, config).html,
    file: async (path: string): Promise<Pick<BoardAnswer, 'type' | 'body'> | undefined> => {
      const found = files.get(path);
      const type = TYPES[extname(path)];
      return found === undefined || type === undefined ? undefined : { type, body: await readFile(found) };
    },
  };
};

export interface BoardDependencies {
  /** Where it stands, such as `/queues`. */
  path: string;
  queues: readonly ReadableQueue[];
  scrub: Scrub;
}

type BoardAnswer = Omit<Answer, 'headers'>;

export interface Board {
  show(path: string, query: URLSearchParams): Promise<BoardAnswer | undefined>;
}

/** Jobs of each state in one answer, at most. */
const MOST_JOBS = 20;
const JSON_TYPE = 'application/json; charset=utf-8';

const UI = {
  boardTitle: 'Tocsin queues',
  hideDocsLink: true,
  hideRedisDetails: true,
  showMetrics: false,
  showWorkers: false,
  locale: { lng: 'en-US' },
  miscLinks: [{ text: 'Status page', url: '/' }],
};

/** Takes what bull-board gives to a server. */
const collect = (queues: readonly ReadOnlyQueue[], uiBasePath: string) => {
  const given: { queues?: BullBoardQueues; entry?: AppViewRoute; api: AppControllerRoute[]; ui: object } = {
    api: [],
    ui: {},
  };
  const keep = (change: () => void): IServerAdapter => {
    change();
    return serverAdapter;
  };
  const serverAdapter: IServerAdapter = {
    setQueues: (all) => keep(() => Object.assign(given, { queues: all })),
    setEntryRoute: (entry) => keep(() => Object.assign(given, { entry })),
    setApiRoutes: (api) => keep(() => Object.assign(given, { api })),
    setUIConfig: (ui) => keep(() => Object.assign(given, { ui })),
    setViewsPath: () => serverAdapter,
    setStaticPath: () => serverAdapter,
    setErrorHandler: () => serverAdapter,
  };
  createBullBoard({ queues, serverAdapter, options: { uiConfig: UI, uiBasePath } });
  return given;
};

type Params = Record<string, string>;

const decoded = (text: string): string => orUndefined(() => decodeURIComponent(text)) ?? text;

/** `/api/queues/:queueName`; undefined where the path is another. */
const matcher = (routes: string | readonly string[]): ((path: string) => Params | undefined) => {
  const patterns = [routes].flat().map((route) => new RegExp(`^${route.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`));
  return (path) => {
    const found = patterns.map((pattern) => pattern.exec(path)).find((match) => match !== null);
    if (!found) return undefined;
    return Object.fromEntries(Object.entries(found.groups ?? {}).map(([key, value]) => [key, decoded(value)]));
  };
};

const boundedQuery = (query: URLSearchParams): Params => {
  const asked = Number(query.get('jobsPerPage') ?? MOST_JOBS);
  const most = Number.isInteger(asked) && asked > 0 ? Math.min(asked, MOST_JOBS) : MOST_JOBS;
  return { ...Object.fromEntries(query), jobsPerPage: String(most) };
};

export const openBoard = async ({ path: basePath, queues, scrub }: BoardDependencies): Promise<Board> => {
  const files = await openBoardFiles();
  const readOnly = queues.map((queue) => new ReadOnlyQueue(queue, scrub));
  const given = collect(readOnly, basePath);
  const reading = given.api
    .filter(({ method }) => [method].flat().every((one) => one === 'get'))
    .map(({ route, handler }) => ({ match: matcher(route), handler }));
  const isPage = matcher(given.entry?.route ?? '/');
  const { uiConfig = '{}' } = given.entry?.handler({ basePath, uiConfig: given.ui }).params ?? {};

  const api = async (path: string, query: URLSearchParams): Promise<BoardAnswer | undefined> => {
    for (const { match, handler } of reading) {
      const params = match(path);
      if (params === undefined) continue;
      const common = { queues: given.queues ?? new Map(), uiConfig: given.ui, headers: {}, body: {} };
      const { status = 200, body } = await handler({ ...common, params, query: boundedQuery(query) });
      return { code: status, type: JSON_TYPE, body: JSON.stringify(body) };
    }
    return undefined;
  };

  return {
    show: async (path, query) => {
      const found = await files.file(path);
      if (found !== undefined) return { code: 200, ...found };
      if (path.startsWith('/api/')) return api(path, query);
      if (isPage(path === '' ? '/' : path) === undefined) return undefined;
      return { code: 200, type: 'text/html; charset=utf-8', body: files.document(`${basePath}/`, uiConfig) };
    },
  };
};
