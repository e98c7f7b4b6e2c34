/** The part of docs/messages.md that shows the pictures and the words that they cost. */
import { SCENES } from '../../src/features/preview/scenes.ts';
import { isPlayed, PLAYS } from './live.ts';
import { SURFACES, type Surface } from './surfaces.ts';
import type { WordCounts } from './words.ts';

export const FOLDER = 'docs/images/messages';
export const LOCK_SCREENS = 'lock-screens.png';

const BEGIN = '<!-- The pictures and the table below are made by `make pictures`. -->';
const END = '<!-- Here ends what `make pictures` makes. -->';

const slug = (name: string): string => name.replace(/[^a-z0-9]+/gi, '-').toLowerCase();

/** `single-slack.png` */
export const fileOf = (group: string, { name }: Pick<Surface, 'name'>): string => `${slug(group)}-${name}.png`;

/** What each group of pictures says: those that a daemon sent, then those that are composed. */
const GROUPS: readonly (readonly [group: string, says: readonly string[]])[] = [
  ...PLAYS.map(({ group, says }) => [group, says] as const),
  ...[...Map.groupBy(SCENES, ({ group }) => group)]
    .filter(([group]) => !isPlayed(group))
    .map(([group, scenes]) => [group, scenes.map(({ says }) => says)] as const),
];

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

const image = (alt: string, file: string): string => `![${alt}](images/messages/${file})`;

const groupText = (group: string, says: readonly string[]): string =>
  [
    `<details><summary><b>${capital(group)}</b>: ${says[0]}${says.length > 1 ? ', and more' : ''}</summary>`,
    ...SURFACES.map((surface) => image(`${surface.title}: ${says.join('. ')}.`, fileOf(group, surface))),
    '</details>',
  ].join('\n\n');

/** The first surface of each kind. */
const KINDS = [...Map.groupBy(SURFACES, ({ kind }) => kind).values()].flatMap((own) => own.slice(0, 1));

const cell = (before: WordCounts, now: WordCounts, scene: string, kind: string): string => {
  const [was, is] = [before[scene]?.[kind], now[scene]?.[kind]];
  if (was === undefined && is === undefined) return '–';
  const folded = is && is.whole > is.glance ? ` (${is.whole})` : '';
  return `${was?.whole.toLocaleString('en') ?? '–'} → ${is?.glance.toLocaleString('en') ?? '–'}${folded}`;
};

const wordsText = (before: WordCounts, now: WordCounts): string =>
  [
    `| message | ${KINDS.map(({ title }) => title).join(' | ')} |`,
    `|---|${KINDS.map(() => '---:').join('|')}|`,
    ...SCENES.map(({ name }) => `| ${name} | ${KINDS.map((kind) => cell(before, now, name, kind.name)).join(' | ')} |`),
  ].join('\n');

/** Between the marks. */
export const indexText = (before: WordCounts, now: WordCounts): string =>
  [
    BEGIN,
    'Each picture shows the real message of a made-up finding, light and dark: in Slack 700 and 360 pixels wide, in',
    'Telegram, as mail 900 and 360 pixels wide, and the text part of the mail in a terminal of 80 columns. `make pictures`',
    `draws them all again. The first ${PLAYS.length} are what a daemon sent to the receivers of the sandbox, as it stood there at last.`,
    '',
    image(
      'Locked phones: the last message of each play and a few others, each as Slack, Telegram and mail announce it',
      LOCK_SCREENS,
    ),
    '',
    ...GROUPS.flatMap(([group, says]) => [groupText(group, says), '']),
    'How many words each costs its reader: before the messages were worked over → at a glance now. In brackets: with the',
    'details that unfold; in a mail, with the details (or the others of a digest) and the small print below.',
    '',
    wordsText(before, now),
    END,
  ].join('\n');

/** The document with its pictures. */
export const withIndex = (document: string, index: string): string => {
  const [begin, end] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (begin === -1 || end === -1) return `${document.trimEnd()}\n\n## Every message\n\n${index}\n`;
  return `${document.slice(0, begin)}${index}${document.slice(end + END.length)}`;
};
