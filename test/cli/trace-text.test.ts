import { expect, test } from 'vitest';
import { renderTraces } from '../../src/cli/trace.ts';
import type { Trace, TracedDelivery } from '../../src/features/trace/trace.ts';

const alert: Trace['alert'] = {
  id: 'a'.repeat(32),
  source: 'inspections',
  service: 'main',
  protocol: 'Lending \u202ePool\n',
  type: 'inspection.critical',
  itemId: '673d2f0a',
  at: '2026-11-20T10:07:31.002Z',
  readAt: '2026-11-20T10:07:40.500Z',
  txHash: '0xab',
};

const delivery = (changes: Partial<TracedDelivery>): TracedDelivery => ({
  id: 'msg_1',
  isKept: false,
  state: 'waiting',
  destination: { id: 'slack-1', kind: 'slack', label: 'C1' },
  at: '2026-11-20T10:08:00.000Z',
  attempts: [],
  ...changes,
});

const render = (...deliveries: TracedDelivery[]): string => renderTraces([{ alert, deliveries }]);

test('the item first, each text on one line of its own', () => {
  expect(render()).toBe(`inspection.critical 673d2f0a
  protocol     Lending Pool (service main)
  transaction  0xab
  written      2026-11-20 10:07:31.002 UTC
  read         2026-11-20 10:07:40.500 UTC
  alert        ${'a'.repeat(32)}

  it had no destination
`);
});

test('what is on its way says whether it was tried', () => {
  expect(render(delivery({}))).toContain('slack C1: waiting, not tried yet\n    delivery msg_1, destination slack-1\n');
  const attempt = { at: '2026-11-20T10:08:00.000Z', outcome: 'retrying', durationMs: 3 } as const;
  expect(render(delivery({ attempts: [attempt] }))).toContain('slack C1: waiting for the next try\n');
});

test('what is on its way says what it waits for, where that is not its first try', () => {
  expect(render(delivery({ waitsFor: 'approval' }))).toContain(
    'slack C1: held since 2026-11-20 10:08:00.000 UTC: the destination is not approved; tocsin destinations approve slack-1\n',
  );
  expect(render(delivery({ waitsFor: 'turn' }))).toContain(
    'slack C1: in a batch with others, until its destination can take it\n',
  );
});

test('what an inspection covers names it, until it is sent by itself', () => {
  const other = 'b'.repeat(32);
  const told = delivery({ state: 'delivered', with: other });
  expect(render(told)).toContain(`slack C1: not sent: alert ${other} of the inspection covers it\n`);
  expect(render({ ...told, state: 'waiting' })).toContain('slack C1: waiting, not tried yet\n');
});

test('attempts and what was done by hand stand in order of time, with all that is known of them', () => {
  const text = render(
    delivery({
      state: 'delivered',
      attempts: [
        {
          at: '2026-11-20T10:08:00.000Z',
          outcome: 'retrying',
          durationMs: 10_000,
          reason: 'unavailable',
          code: 'ETIMEDOUT',
          message: 'no answer\nwithin 10 s',
          maybeDelivered: true,
        },
        { at: '2026-11-20T10:08:05.000Z', outcome: 'dead', durationMs: 5, reason: 'unknown', code: 'unknown' },
        { at: '2026-11-20T10:09:00.000Z', outcome: 'delivered', durationMs: 7, providerId: '17.5', replay: true },
      ],
      acts: [{ at: '2026-11-20T10:08:30.000Z', act: 'retried' }],
    }),
  );
  expect(text.split('\n').slice(-5)).toEqual([
    '    2026-11-20 10:08:00.000 UTC  failed, will be tried again, 10000 ms; unavailable (ETIMEDOUT): no answer within 10 s; maybe delivered: it was sent, but no answer came',
    '    2026-11-20 10:08:05.000 UTC  failed for good, 5 ms; unknown',
    '    2026-11-20 10:08:30.000 UTC  retried by hand',
    '    2026-11-20 10:09:00.000 UTC  delivered, as a replay, 7 ms; message id 17.5',
    '',
  ]);
});

test('a dead delivery says whether it can be retried', () => {
  expect(render(delivery({ state: 'dead', isKept: true }))).toContain(
    'dead, kept: `tocsin dead retry msg_1` sends it again',
  );
  expect(render(delivery({ state: 'dead' }))).toContain('slack C1: dead, no longer kept\n');
  const nowhere = { id: 'none', kind: 'none', label: 'no destination' };
  expect(render(delivery({ state: 'dead', destination: nowhere, isKept: true }))).toContain(
    '  no destination: dead, kept',
  );
});

test('who acknowledged it, where and when', () => {
  const acknowledged = { by: 'Ann\nBob', userId: 'U024', via: 'slack', to: '#alerts', at: '2026-11-20T10:08:01.002Z' };
  expect(renderTraces([{ alert, acknowledged, deliveries: [] }])).toContain(
    '\n  acknowledged 2026-11-20 10:08:01.002 UTC by “Ann Bob” (U024), in slack #alerts\n',
  );
});
