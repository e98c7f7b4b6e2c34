/** The documents of the project, and what is marked in them. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export const readDocument = (file: string): string => readFileSync(`${ROOT}/${file}`, 'utf8');

/** Those that say how Tocsin is used. Decisions and the changelog tell of the past. */
export const GUIDES = [
  'README.md',
  ...readdirSync(`${ROOT}/docs`)
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

const FENCE = /^( *)```(\w*)[^\n]*\n(.*?)^\1```/gms;

/** The blocks of one language, without their indentation. */
export const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(FENCE)]
    .filter(([, , found]) => found === language)
    .map(([, indent = '', , block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));

const prose = (text: string): string => text.replaceAll(FENCE, '');

/** What stands between single backticks outside of blocks; lines may break within. */
export const codeIn = (text: string): string[] =>
  [...prose(text).matchAll(/(?<!`)`([^`]+)`(?!`)/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' '));

/** Where links and pictures lead. */
export const linksIn = (text: string): string[] =>
  [...prose(text).matchAll(/(?:\]\(|src=")([^)"\s]+)/g)].map(([, to = '']) => to);

/** The anchors that its headings get on the web. */
export const anchorsIn = (text: string): string[] =>
  [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
