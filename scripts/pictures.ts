/**
 * Draws every kind of message as Slack, Telegram, mail programs, terminals and locked phones show it, into
 * docs/images/messages, counts its words, and puts both into docs/messages.md. What a daemon can be made to send comes from one;
 * the others are composed. `--only NAME` draws the groups whose name begins so; `--only words` only counts and writes the document.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SCENES, type Scene } from '../src/features/preview/scenes.ts';
import { chromiumPath } from '../test/support/chromium.ts';
import { openSceneChannels } from '../test/support/scenes.ts';
import { type Artist, createArtist } from './pictures/draw.ts';
import { FOLDER, fileOf, indexText, LOCK_SCREENS, withIndex } from './pictures/index-text.ts';
import { isPlayed, type Played, playAll } from './pictures/live.ts';
import { lockScreens } from './pictures/lock-screens.ts';
import { READER, SURFACES } from './pictures/surfaces.ts';
import { countWords, type WordCounts } from './pictures/words.ts';

const ROOT = join(import.meta.dirname, '..');
const DOCUMENT = 'docs/messages.md';
export const WORDS_BEFORE = 'scripts/pictures/words-before.json';
export const WORDS = 'scripts/pictures/words.json';

/** As for the commands: a wrong option; what is needed is not there. */
const [USAGE, UNAVAILABLE] = [64, 69];

const say = (text: string): void => {
  process.stdout.write(`pictures: ${text}\n`);
};

const read = (file: string): Promise<string> => readFile(join(ROOT, file), 'utf8');

const readCounts = async (file: string): Promise<WordCounts> => JSON.parse(await read(file)) as WordCounts;

const writePicture = async (file: string, png: Buffer): Promise<void> => {
  await mkdir(join(ROOT, FOLDER), { recursive: true });
  await writeFile(join(ROOT, FOLDER, file), png);
  say(`${file} ${Math.ceil(png.length / 1024)} kB`);
};

type Channels = Awaited<ReturnType<typeof openSceneChannels>>;

const drawGroup = async (group: string, scenes: readonly Scene[], { draw }: Artist, { compose }: Channels) => {
  for (const surface of SURFACES) {
    const bodies = scenes.flatMap((scene) => compose(surface.kind, scene).map(({ body }) => body));
    await writePicture(fileOf(group, surface), await draw(surface.rows(bodies, READER)));
  }
};

const drawPlayed = async ({ group, bodies, reader }: Played, { draw }: Artist) => {
  for (const surface of SURFACES)
    await writePicture(fileOf(group, surface), await draw(surface.rows(bodies[surface.kind], reader)));
};

const writeIndex = async (artist: Artist, channels: Channels): Promise<void> => {
  const counts = await countWords(artist, channels);
  await writeFile(join(ROOT, WORDS), `${JSON.stringify(counts, null, 2)}\n`);
  const index = indexText(await readCounts(WORDS_BEFORE), counts);
  await writeFile(join(ROOT, DOCUMENT), withIndex(await read(DOCUMENT), index));
};

const main = async ([flag, only = '']: readonly string[]): Promise<void> => {
  if (flag !== undefined && (flag !== '--only' || only === '')) {
    say('usage: pictures.ts [--only NAME]');
    process.exitCode = USAGE;
    return;
  }
  if (chromiumPath === undefined) {
    say('there is no Chromium in PATH: install chromium (apt-get, dnf, brew --cask), or Google Chrome');
    process.exitCode = UNAVAILABLE;
    return;
  }
  const isWanted = (name: string): boolean => flag !== '--only' || name.startsWith(only);
  const artist = await createArtist(chromiumPath);
  const channels = await openSceneChannels();
  try {
    if (flag !== '--only') await rm(join(ROOT, FOLDER), { recursive: true, force: true });
    const hasLocks = isWanted('lock screens');
    const played = await playAll((group) => hasLocks || isWanted(group));
    for (const one of played) if (isWanted(one.group)) await drawPlayed(one, artist);
    for (const [group, scenes] of Map.groupBy(SCENES, (scene) => scene.group))
      if (isWanted(group) && !isPlayed(group)) await drawGroup(group, scenes, artist, channels);
    if (hasLocks) await writePicture(LOCK_SCREENS, await artist.draw(lockScreens(channels, played)));
    if (isWanted('words')) await writeIndex(artist, channels);
  } finally {
    await channels.close();
    await artist.close();
  }
};

if (import.meta.main) await main(process.argv.slice(2));
