import { expect, test } from 'vitest';
import { createOnRefused } from '../../src/app/acknowledgement.ts';
import { createMetrics } from '../../src/ops/metrics.ts';

test('a flood of presses is counted whole, and fills no log', async () => {
  const metrics = createMetrics({ version: 'test' });
  const lines: object[] = [];
  let now = 0;
  const onRefused = createOnRefused({
    metrics,
    log: { warn: (facts: object, text?: string) => void lines.push({ ...facts, text }) } as never,
    now: () => now,
  });
  for (let count = 0; count < 500; count += 1) onRefused({ kind: 'slack', reason: 'flood' }, { user: 'U9' });
  onRefused({ kind: 'slack', reason: 'stranger' }, { user: 'U8' });
  onRefused({ kind: 'telegram', reason: 'flood' }, { user: '7' });
  const text = 'a press was refused';
  expect(lines).toEqual([
    { kind: 'slack', reason: 'flood', user: 'U9', times: 1, text },
    { kind: 'slack', reason: 'stranger', user: 'U8', times: 1, text },
    { kind: 'telegram', reason: 'flood', user: '7', times: 1, text },
  ]);
  now = 60_000;
  onRefused({ kind: 'slack', reason: 'flood' }, { user: 'U9' });
  expect(lines.at(-1)).toMatchObject({ times: 500 });
  expect((await metrics.pressesRefused.get()).values).toContainEqual(
    expect.objectContaining({ labels: { kind: 'slack', reason: 'flood' }, value: 501 }),
  );
});
