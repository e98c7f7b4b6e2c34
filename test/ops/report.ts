/** A status report to start from. */
import type { StatusReport } from '../../src/ops/status.ts';

export const REPORT: StatusReport = {
  version: '1.2.3',
  startedAt: '2026-11-18T10:00:00.000Z',
  now: '2026-11-21T10:00:00.000Z',
  services: [{ name: 'main', up: true }],
  protocols: [
    {
      service: 'main',
      name: 'Lending Pool',
      channels: ['slack', 'email'],
      sources: [
        {
          source: 'inspections',
          cursor: '2026-11-21T09:59:45.000Z',
          lastPoll: '2026-11-21T09:59:50.000Z',
          lagSeconds: 10,
        },
      ],
    },
  ],
  destinations: [
    {
      id: 'slack-1',
      kind: 'slack',
      label: 'C024BE91L',
      waiting: 0,
      delivered: 1204,
      dead: 0,
      lastSuccess: '2026-11-21T09:56:00.000Z',
    },
  ],
  held: [],
  mutes: [],
  queues: [{ name: 'deliver-slack', waiting: 0, delayed: 0, active: 0, failed: 0 }],
  dead: 0,
  problems: [],
};
