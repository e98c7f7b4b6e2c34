/** Locked phones, side by side. */
import { chunksOf } from '../../src/chunks.ts';
import { SCENES } from '../../src/features/preview/scenes.ts';
import type { SceneChannels } from '../../test/support/scenes.ts';
import { lockScreenHtml } from './lock-screen.ts';
import type { Panel } from './surfaces.ts';

const SHOWN = [
  ...['single', 'incident of six', 'digest of 12', 'notification', 'downgraded', 'tocsin destination.broken'],
  ...['fallback', 'test', 'hostile'],
];
const BESIDE = 3;

export const lockScreens = ({ compose }: SceneChannels): Panel[][] => {
  const panels = SHOWN.flatMap((name) => SCENES.filter((scene) => scene.name === name)).map((scene): Panel => {
    const [slack, telegram, email] = (['slack', 'telegram', 'email'] as const).map(
      (kind) => compose(kind, scene)[0]?.body,
    );
    return { name: 'lock-page', width: 370, scheme: 'light', messages: [lockScreenHtml({ slack, telegram, email })] };
  });
  return chunksOf(panels, BESIDE);
};
