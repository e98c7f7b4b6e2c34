/** Locked phones, side by side. */
import type { HumanKind } from '../../src/alert.ts';
import { chunksOf } from '../../src/chunks.ts';
import { SCENES } from '../../src/features/preview/scenes.ts';
import type { SceneChannels } from '../../test/support/scenes.ts';
import type { Played } from './live.ts';
import { type LockScreenBodies, lockScreenHtml } from './lock-screen.ts';
import type { Panel } from './surfaces.ts';

/** Besides what is played. */
const SHOWN = ['notification', 'tocsin destination.broken', 'fallback', 'test', 'hostile'];
const BESIDE = 3;

const panelOf = (bodies: LockScreenBodies): Panel => ({
  ...{ name: 'lock-page', width: 370, scheme: 'light', messages: [lockScreenHtml(bodies)] },
});

export const lockScreens = ({ compose }: SceneChannels, played: readonly Played[]): Panel[][] => {
  const composed = SHOWN.flatMap((name) => SCENES.filter((scene) => scene.name === name)).map((scene) => {
    const bodyOf = (kind: HumanKind): unknown => compose(kind, scene)[0]?.body;
    return { slack: bodyOf('slack'), telegram: bodyOf('telegram'), email: bodyOf('email') };
  });
  return chunksOf([...played.map(({ last }) => last), ...composed].map(panelOf), BESIDE);
};
