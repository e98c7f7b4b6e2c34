/** What a demo shows besides its traffic. */
import { expect, onTestFinished, test } from 'vitest';
import { addStage, FALLBACK, isOnStage, playScenes, STAGE, sceneOf } from '../../src/cli/demo-account.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';

test('a storm, and a channel that breaks and is mended, on a protocol of its own', async () => {
  const sandbox = createSandbox();
  onTestFinished(sandbox.stop);
  const { service, slack } = await sandbox.start();
  addStage(sandbox, service.apiKey);
  const produced: string[] = [];
  sandbox.onEvent((event) => {
    if (event.type === 'produced' && isOnStage(event)) produced.push(event.id);
  });
  const post = async (): Promise<number> => {
    const body = new URLSearchParams({ channel: 'C0DEMOSTAGE', text: 'hello' });
    const headers = { authorization: `Bearer ${slack.botToken}` };
    return (await fetch(`${slack.apiUrl}chat.postMessage`, { method: 'POST', headers, body })).status;
  };
  const told: string[] = [];
  const statuses: Promise<number>[] = [];
  const tell = (text: string): void => {
    told.push(text);
    statuses.push(post());
  };
  await playScenes(sandbox, tell, new AbortController().signal, { storm: 0, breaks: 200, mends: 400 });
  expect(told).toHaveLength(3);
  expect(await Promise.all(statuses)).toEqual([200, 503, 200]);
  expect(produced).toHaveLength(13);
  expect(sandbox.service.inspections({ protocol: STAGE, apiKey: service.apiKey })).toHaveLength(13);
});

test('it ends with the demo', async () => {
  const sandbox = createSandbox();
  onTestFinished(sandbox.stop);
  const told: string[] = [];
  await playScenes(sandbox, (text) => told.push(text), AbortSignal.abort());
  expect(told).toEqual([]);
});

test('its messages are told apart', () => {
  const message = { type: 'received' as const, kind: 'slack' as const, at: 1, text: '', ids: [] };
  const scenes = [
    { ...message, destination: 'C0DEMOSTAGE', txHashes: ['0x1', '0x2'] },
    { ...message, destination: 'C0DEMOSTAGE', txHashes: ['0x1'] },
    { ...message, destination: FALLBACK, txHashes: ['0x1'] },
    { ...message, destination: FALLBACK, txHashes: [] },
  ];
  expect(scenes.map(sceneOf)).toEqual(['a digest of 2', 'delivered', 'fallback', 'announced']);
  expect(scenes.every(isOnStage)).toBe(true);
});
