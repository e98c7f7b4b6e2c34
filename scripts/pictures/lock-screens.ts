/** Locked phones, side by side. */
import { chunksOf } from '../../src/chunks.ts';
import { SCENES } from '../../src/features/preview/scenes.ts';
import type { SceneChannels } from '../../test/support/scenes.ts';
import type { Played } from './live.ts';
import { type LockScreenBodies, lockScreenBodies, lockScreenHtml } from './lock-screen.ts';
import type { Panel } from './surfaces.ts';

/** Besides what is played. */
const SHOWN = ['notification', 'tocsin destination.broken', 'fallback', 'test', 'hostile'];
const BESIDE = 3;

const panelOf = (bodies: LockScreenBodies): Panel => ({
  ...{ name: 'lock-page', width: 370, scheme: 'light', messages: [lockScreenHtml(bodies)] },
});

export const lockScreens = ({ compose }: SceneChannels, played: readonly Played[]): Panel[][] => {
  const scenes = SHOWN.flatMap((name) => SCENES.filter((scene) => scene.name === name));
  const composed = scenes.map((scene) => lockScreenBodies((kind) => compose(kind, scene)[0]?.body));
  return chunksOf([...played.map(({ last }) => last), ...composed].map(panelOf), BESIDE);
};
