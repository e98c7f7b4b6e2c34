import { expect, test } from 'vitest';
import { isLate, sortDestinations, sortProtocols, totalsOf } from '../../src/ops/status.ts';
import { REPORT, WITH_BROKEN } from './report.ts';

const [PROTOCOL] = REPORT.protocols;
if (!PROTOCOL) throw new Error('the report has one');
const at = (lagSeconds: number) => ({ source: 'inspections' as const, lastPoll: REPORT.now, lagSeconds });
const protocol = (name: string, changes: object = {}) => ({ ...PROTOCOL, name, ...changes });

test('a source is late that was never read, or not for five minutes', () => {
  expect([{ source: 'inspections' as const }, at(301), at(300), at(0)].map(isLate)).toEqual([true, true, false, false]);
});

test('what needs attention comes first, everything else stays in its order', () => {
  const all = [
    protocol('b'),
    protocol('late', { sources: [at(10), at(999)] }),
    protocol('a'),
    protocol('without channels', { channels: [] }),
  ];
  expect(sortProtocols(all).map(({ name }) => name)).toEqual(['late', 'without channels', 'b', 'a']);
  expect(sortDestinations(WITH_BROKEN.destinations).map(({ id }) => id)).toEqual(['slack-2', 'slack-1']);
});

test('the totals count what is down, late, failing, waiting and held', () => {
  const held = { id: 'slack-9', kind: 'slack' as const, label: 'C9', protocols: [], since: REPORT.now, waiting: 4 };
  expect(
    totalsOf({
      ...REPORT,
      ...WITH_BROKEN,
      services: [...REPORT.services, { name: 'second', up: false, state: 'fails' as const }],
      protocols: [protocol('a'), protocol('late', { sources: [at(999)] })],
      held: [held, held],
    }),
  ).toEqual({ down: 1, late: 1, failing: 1, waiting: 4, held: 8 });
});
