/** A locked phone shows the first hundred characters or so: they have the severity, the protocol and what was found. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCENES } from '../../src/features/preview/scenes.ts';
import { bodyAsJson } from '../../src/sandbox/screens/reader.ts';
import { openSceneChannels, type SceneChannels } from '../support/scenes.ts';

const SHOWN = 100;

let channels: SceneChannels;
beforeAll(async () => {
  channels = await openSceneChannels();
});
afterAll(() => channels.close());

/** What Slack announces, and a mail's subject; a messenger's whole text is its title and what was found. */
const shownOf = (kind: 'slack' | 'email', name: string): string => {
  const scene = SCENES.find((one) => one.name === name);
  const [message] = scene === undefined ? [] : channels.compose(kind, scene);
  const { text, subject } = bodyAsJson(message?.body);
  return String(kind === 'slack' ? text : subject).slice(0, SHOWN);
};

test.each([
  ['single', 'CRITICAL', 'Harbor Lending', 'Token balance dropped 90%'],
  ['notification', 'CRITICAL', 'Harbor Lending', 'Pool A lost 90%'],
  ['incident of six', 'CRITICAL', 'Harbor Lending', 'Token balance dropped'],
  ['what is new', 'CRITICAL', 'Tidewater Stables', '2250565 WETH borrowed'],
  ['digest of 12', 'CRITICAL', 'Northlight Vaults', 'Ownership was'],
  ['storm of 2000', 'CRITICAL', 'Northlight Vaults', 'Ownership'],
  ['acknowledged', 'CRITICAL', 'Harbor Lending', 'Token balance'],
  ['downgraded', 'OK', 'Harbor Lending', 'Token'],
  ['upgraded', 'CRITICAL', 'Harbor Lending', 'Token balance'],
  ['vanished', 'NO LONGER LISTED', 'Harbor Lending', 'Token balance'],
  ['fallback', 'CRITICAL', 'Harbor Lending', 'Token balance dropped 90%'],
  ['replay', 'CRITICAL (old alert)', 'Harbor Lending', 'Token balance dropped 90%'],
])('%s', (name, ...parts) => {
  const kinds = name === 'what is new' ? (['slack'] as const) : (['slack', 'email'] as const);
  for (const kind of kinds) for (const part of parts) expect(shownOf(kind, name)).toContain(part);
});
