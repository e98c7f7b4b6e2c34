import { expect, test } from 'vitest';
import { setDeadline } from '../../src/dispatch/dispatch.ts';
import { MAIL, routed, runOf } from './stages.ts';

test('every alert that goes on gets a deadline, in one call; none where there is no alert', async () => {
  const noted: string[][] = [];
  const dependencies = {
    setDeadline: async (alerts: readonly { itemId: string }[]) => void noted.push(alerts.map(({ itemId }) => itemId)),
  };
  await setDeadline(runOf(routed(1, MAIL), routed(2, MAIL)), dependencies);
  await setDeadline(runOf(), dependencies);
  expect(noted).toEqual([['item-1', 'item-2']]);
});
