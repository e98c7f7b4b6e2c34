import { expect, test } from 'vitest';
import { type Routes, route } from '../../src/dispatch/dispatch.ts';
import { left, MAIL, routed, runOf, SLACK } from './stages.ts';

const ROUTES: Record<string, Routes> = {
  'item-1': { destinations: [MAIL, SLACK], problems: ['a channel of unknown kind'] },
  'item-2': { destinations: [], problems: ['nothing to send to'] },
  'item-3': { destinations: [], problems: [], skipped: 'trigger' },
};

test('an alert without a destination is ended with its problems; one that no trigger asks for is not', async () => {
  const unroutable: unknown[] = [];
  const seen: string[] = [];
  const run = await route(runOf(routed(1), routed(2), routed(3)), {
    routesOf: async ({ itemId }) => ROUTES[itemId] ?? { destinations: [], problems: [] },
    onUnroutable: async ({ itemId }, problems) => void unroutable.push([itemId, problems]),
    onRouted: ({ itemId }) => void seen.push(itemId),
  });
  expect(left(run)).toEqual([['item-1', ['email', 'slack']]]);
  expect(unroutable).toEqual([['item-2', ['nothing to send to']]]);
  expect(seen).toEqual(['item-1', 'item-2', 'item-3']);
});

test('an end that could not be recorded stops the dispatch, so that the read is repeated', async () => {
  const dependencies = {
    routesOf: async () => ({ destinations: [], problems: [] }),
    onUnroutable: () => Promise.reject(new Error('Redis is away')),
  };
  await expect(route(runOf(routed(1)), dependencies)).rejects.toThrow('Redis is away');
});
