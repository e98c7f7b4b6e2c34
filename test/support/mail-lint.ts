/**
 * What is wrong with the HTML of a mail: what mail programs drop, cut off or load. Support by program is caniemail.com's
 * (package caniemail); the rest is from https://support.google.com/a/users/answer/9307483 (size) and
 * https://developers.google.com/workspace/gmail/design/css (styles).
 */
import { caniemail } from 'caniemail';

/** Gmail cuts off what is beyond, with the sentence "[Message clipped]". */
const BYTES_MAX = 102_400;
/** Gmail ignores a style sheet that is longer. */
const SHEET_MAX = 8192;

const CLIENTS = ['gmail.*', 'outlook.*', 'apple-mail.*', 'yahoo.*', 'samsung-email.*', 'protonmail.*', 'fastmail.*'];

/** What some programs do not know, and what a reader has then: never less than every word in a readable order. */
const DEGRADES: Readonly<Record<string, string>> = {
  'color-scheme CSS property': 'light, or dark as the program makes it',
  'color-scheme meta tag': 'the same',
  '@media': 'light colours, which are inline',
  '<style> element': 'the same',
  '<body> element': 'its margin; its background is that of the element in it as well',
  'overflow-wrap': 'a long word that breaks elsewhere, or is wider than the screen',
  'word-break': 'the same',
  overflow: 'nothing: it comes with the shorter name of the two above',
  'box-sizing': 'a card that is wider by its padding',
  'border-radius': 'corners',
  'max-width': 'a wider card',
  'white-space': 'spaces of aligned text',
  'system-ui, ui-serif, ui-sans-serif, ui-rounded, ui-monospace': 'the next font of the list',
  'height property': 'nothing: only rules have it',
  'text-decoration': 'underlined links',
  'lang attribute': 'a voice of another language',
  'role attribute': 'a column of numbers that is read as a table',
  'text-size-adjust': 'larger letters',
  'display:none': 'a hidden beginning that is shown, in small letters',
  opacity: 'the same',
  'max-height property': 'the same',
  'user-select': 'a value that is selected by hand',
  'mso-hide': 'the same',
  'Class selector': 'what is inline',
  'aria-hidden attribute': 'a hidden beginning that is read first',
};

const UNSAFE_ELEMENTS = [
  'script',
  'iframe',
  'form',
  'object',
  'embed',
  'link',
  'base',
  'input',
  'button',
  'svg',
  'video',
];

interface Tag {
  name: string;
  isEnd: boolean;
  attributes: ReadonlyMap<string, string>;
}

const VOID = ['meta', 'br', 'hr', 'img'];

const tagsIn = (html: string): Tag[] =>
  [...html.matchAll(/<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*\/?>/gi)].map(
    ([, slash, name = '', source = '']) => ({
      name: name.toLowerCase(),
      isEnd: slash !== '',
      attributes: new Map(
        [...source.matchAll(/([a-z-]+)(?:="([^"]*)")?/gi)].map(([, key = '', value = '']) => [key, value]),
      ),
    }),
  );

const balanceProblems = (tags: readonly Tag[]): string[] => {
  const open: string[] = [];
  for (const { name, isEnd } of tags) {
    if (VOID.includes(name)) continue;
    if (!isEnd) open.push(name);
    else if (open.pop() !== name) return [`</${name}> closes another element`];
  }
  return open.map((name) => `<${name}> is not closed`);
};

const headProblems = (html: string, tags: readonly Tag[]): string[] => {
  const metas = tags.filter(({ name }) => name === 'meta').map(({ attributes }) => attributes.get('name') ?? 'charset');
  const wanted = ['charset', 'viewport', 'color-scheme', 'supported-color-schemes', 'format-detection'];
  const sheets = [...html.matchAll(/<style[^>]*>([\s\S]*?)<\/style>/gi)].map(([, sheet = '']) => sheet);
  return [
    ...(/^<!doctype html>/i.test(html) ? [] : ['no doctype']),
    ...(/<html[^>]* lang="[a-z]/.test(html) ? [] : ['no language']),
    ...(/<title>[^<]+<\/title>/.test(html) ? [] : ['no title']),
    ...wanted.filter((name) => !metas.includes(name)).map((name) => `no meta ${name}`),
    ...(sheets.length > 1 ? [`${sheets.length} style sheets`] : []),
    ...(sheets.join('').length > SHEET_MAX ? [`a style sheet of ${sheets.join('').length} characters`] : []),
  ];
};

/** Layout that moves text away from its place. */
const LAYOUT = /(?:^|[;{\s])(?:position|float)\s*:|display\s*:\s*(?:flex|grid|inline-flex)|margin[^:;]*:[^;]*-\d/i;
const LOADS = /url\(|@import|expression\(|javascript:/i;

const styleProblems = (html: string, tags: readonly Tag[]): string[] => {
  const styles = tags.map(({ attributes }) => attributes.get('style') ?? '');
  const sheet = /<style[^>]*>([\s\S]*?)<\/style>/i.exec(html)?.[1] ?? '';
  const all = [...styles, sheet];
  return [
    ...(all.some((style) => LAYOUT.test(style)) ? ['a style that moves text away'] : []),
    ...(all.some((style) => LOADS.test(style)) ? ['a style that loads or runs something'] : []),
  ];
};

const leadsWell = (href: string): boolean => /^https:\/\//.test(href) && URL.canParse(href.replaceAll('&amp;', '&'));

const tagProblems = ({ name, isEnd, attributes }: Tag): string[] => {
  if (isEnd) return [];
  const events = [...attributes.keys()].filter((key) => /^on/i.test(key));
  const background = /background(?:-color)?:/.test(attributes.get('style') ?? '');
  return [
    ...(UNSAFE_ELEMENTS.includes(name) ? [`<${name}>`] : []),
    ...events.map((key) => `<${name} ${key}>`),
    ...(name === 'a' && !leadsWell(attributes.get('href') ?? '') ? [`a link to ${attributes.get('href')}`] : []),
    ...(name === 'img' && !attributes.has('alt') ? ['an image without a text'] : []),
    ...(attributes.has('src') ? [`<${name}> loads ${attributes.get('src')}`] : []),
    ...(name === 'table' && attributes.get('role') !== 'presentation' ? ['a table without role="presentation"'] : []),
    ...(['table', 'td'].includes(name) && background && !attributes.has('bgcolor')
      ? [`<${name}> without bgcolor`]
      : []),
  ];
};

/** What SpamAssassin 4.0.1 takes for hidden text, `__FONT_INVIS` and `__STY_INVIS` in its 72_active.cf. */
const TINY_TEXT = /<(?!style)[a-z]+\s[^>]{1,80}font(?:-size)?\s*:\s*0*[01](?:\.\d+)?(?:px|pt)\s*[;'][^>]{0,80}>\w/i;
const HIDDEN_STYLE = /\bstyle\s*=\s*"[^">]{0,80}(?:(?<!-)visibility\s*:\s*hidden\s*|display\s*:\s*none\s*)[;"!]/i;

const spamProblems = (html: string): string[] => [
  ...(TINY_TEXT.test(html) ? ['text in letters of a pixel'] : []),
  ...(HIDDEN_STYLE.test(html) ? ['a style that hides text'] : []),
];

const supportProblems = (html: string): string[] => {
  const { issues } = caniemail({ clients: CLIENTS as Parameters<typeof caniemail>[0]['clients'], html });
  const titles = [...issues.errors].flatMap(([client, found]) => found.map(({ title }) => ({ client, title })));
  return titles
    .filter(({ title }) => !Object.hasOwn(DEGRADES, title))
    .map(({ client, title }) => `${title}: not in ${client}`);
};

/** One sentence each; empty for a mail that is well everywhere. */
export const lintMail = (html: string): string[] => {
  const tags = tagsIn(html);
  const bytes = Buffer.byteLength(html);
  return [
    ...new Set([
      ...(bytes > BYTES_MAX ? [`${bytes} bytes: Gmail cuts it off`] : []),
      ...balanceProblems(tags),
      ...headProblems(html, tags),
      ...styleProblems(html, tags),
      ...tags.flatMap(tagProblems),
      ...spamProblems(html),
      ...supportProblems(html),
    ]),
  ];
};
