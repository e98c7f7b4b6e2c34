/** Status reports to start from. */
import type { StatusReport } from '../../src/ops/status.ts';

export const REPORT: StatusReport = {
  version: '1.2.3',
  revision: '0123456789ab',
  startedAt: '2026-11-18T10:00:00.000Z',
  now: '2026-11-21T10:00:00.000Z',
  daemons: [],
  services: [{ name: 'main', up: true, state: 'answers' }],
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
  unwatched: [],
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
  hanging: [],
  held: [],
  mutes: [],
  queues: [{ name: 'deliver-slack', waiting: 0, delayed: 0, active: 0, failed: 0 }],
  dead: 0,
  deadRemoved: 0,
  problems: [],
  needsSomebody: [],
  troubles: [],
  remarks: [],
  known: [],
};

/** A standing remark. */
export const remarkOf = (what: string): StatusReport['remarks'][number] => ({
  ...{ id: 'remark-1a2b3c4d', name: 'routing', of: what, what, severity: 'note', todo: 'correct the channel' },
});

/** One that somebody knows of. */
export const knownOf = (what: string, text = 'the team looks at the page'): StatusReport['known'][number] => ({
  ...remarkOf(what),
  known: { reason: text, author: text, from: '2026-11-20T10:00:00.000Z', until: '2026-12-20T10:00:00.000Z' },
});

export const DAEMON: StatusReport['daemons'][number] = {
  id: '1f0e',
  host: 'alpha',
  pid: 12,
  version: '1.2.3',
  startedAt: '2026-11-18T10:00:00.000Z',
  heardAt: '2026-11-21T09:59:57.000Z',
  isRunning: true,
  isMissed: false,
  ready: true,
  checks: [],
};

const failing = (name: string) => ({ name, status: 'failing' as const, since: REPORT.now, detail: name });

/** The report with one text wherever a text can come from outside. */
export const filledWith = (text: string): StatusReport => ({
  ...REPORT,
  services: [
    { name: text, up: false, state: 'fails', lastError: text },
    { name: `${text}2`, up: true, state: 'answers' },
  ],
  daemons: [DAEMON, { ...DAEMON, host: text, version: text, revision: text, ready: false, checks: [failing(text)] }],
  protocols: REPORT.protocols.map((protocol) => ({ ...protocol, service: text, name: text, channels: [text] })),
  unwatched: [{ service: text, name: text, reason: 'left out' }],
  destinations: REPORT.destinations.map((destination) => ({ ...destination, label: text, lastError: text })),
  mutes: [{ ...MUTE, id: text, reason: text, protocols: [text], destinations: [text] }],
  problems: [text],
  remarks: [{ ...remarkOf(text), id: text, todo: text }],
  known: [{ ...knownOf(text, text), id: text, todo: text }],
  hanging: [text],
});

export const MUTE: StatusReport['mutes'][number] = {
  id: 'mute-3f9a2c1b',
  protocols: ['Lending*'],
  detectors: ['flashLoan', 'mixer'],
  destinations: [],
  reason: 'upgrade of the pool',
  from: '2026-11-21T09:00:00.000Z',
  until: '2026-11-21T11:00:00.000Z',
  hid: 12,
};

export const WITH_BROKEN: Pick<StatusReport, 'destinations'> = {
  destinations: [
    ...REPORT.destinations,
    {
      id: 'slack-2',
      kind: 'slack',
      label: 'C0BROKEN01',
      waiting: 4,
      delivered: 0,
      dead: 0,
      lastError: 'channel_not_found',
    },
  ],
};
