/** What a page is made from, to start from. */
import {
  ACTIVITY_STEP_MS,
  ACTIVITY_STEPS,
  type PageDetails,
  type PageView,
  READER,
  type TracedAlert,
} from '../../../src/ops/page/details.ts';
import { REPORT } from '../report.ts';

const NOW = Date.parse(REPORT.now);
export const TX = `0x${'5d1c9a'.repeat(10)}ab12`;

const MINUTE_AGO = '2026-11-21T09:59:00.000Z';

export const DETAILS: PageDetails = {
  alerts: [
    {
      id: 'a1',
      service: 'main',
      protocol: 'Lending Pool',
      type: 'inspection.critical',
      at: MINUTE_AGO,
      txHash: TX,
      explorer: `https://etherscan.io/tx/${TX}`,
      counts: { delivered: 27, waiting: 1, muted: 0, dead: 1 },
      deliveries: [
        { to: 'email ops@example.com', state: 'dead', at: MINUTE_AGO, error: 'mailbox full' },
        { to: 'webhook example.com (1234)', state: 'waiting', at: MINUTE_AGO, error: '503' },
        { to: 'slack C024BE91L', state: 'delivered', at: MINUTE_AGO, tookMs: 2100 },
      ],
    },
  ],
  activity: Array.from({ length: ACTIVITY_STEPS }, (_, index) => ({
    at: NOW - (ACTIVITY_STEPS - index) * ACTIVITY_STEP_MS,
    alerts: index === ACTIVITY_STEPS - 1 ? 145 : 1,
    ...(index % 2 === 0 ? {} : { latency: { medianMs: 2000, mostMs: index === 7 ? 128_000 : 4000 } }),
  })),
  rates: new Map([['slack-1', '1/s']]),
  disabled: new Set(),
  destinationsOf: new Map([['Lending Pool', ['slack C024BE91L']]]),
  approvals: [],
  isGateOn: false,
  dead: [],
  audits: [{ service: 'main', auditedTo: MINUTE_AGO, never: 0 }],
  actions: [],
  config: [{ key: 'poll.interval', value: 'auto' }],
};

export const viewOf = (changes: Partial<PageView> = {}): PageView => ({
  report: REPORT,
  details: DETAILS,
  viewer: READER,
  now: REPORT.now,
  ...changes,
});

/** The details with one text wherever a text can come from outside. */
export const detailsWith = (text: string): PageDetails => ({
  ...DETAILS,
  alerts: DETAILS.alerts.map((alert) => ({
    ...{ ...alert, id: text, service: text, protocol: text, type: `test.${text}`, txHash: `0x${text}` },
    deliveries: alert.deliveries.map((one) => ({ ...one, to: text, error: text })),
  })),
  rates: new Map([['slack-1', text]]),
  destinationsOf: new Map([[text, [text, text]]]),
  approvals: [{ id: text, kind: text, label: text, state: 'held', protocols: [text], waiting: 3, since: MINUTE_AGO }],
  isGateOn: true,
  dead: [
    { id: text, protocol: text, to: text, reason: text, message: text, attempts: 2, at: MINUTE_AGO, txHash: text },
  ],
  audits: [{ service: text, never: 1 }],
  actions: [{ at: MINUTE_AGO, text }],
  config: [{ key: text, value: text }],
});

export const TRACED: TracedAlert = {
  id: 'a1',
  service: 'main',
  protocol: 'Lending Pool',
  type: 'inspection.critical',
  itemId: 'i1',
  at: MINUTE_AGO,
  readAt: MINUTE_AGO,
  txHash: TX,
  deliveries: [
    {
      id: 'msg_1',
      kind: 'slack',
      to: 'slack C024BE91L',
      state: 'delivered',
      at: MINUTE_AGO,
      tookMs: 2100,
      history: [
        { at: MINUTE_AGO, text: 'failed, will be tried again, 95 ms; server-error: 503' },
        { at: MINUTE_AGO, text: 'delivered, 112 ms; message id ts-1' },
      ],
    },
  ],
  more: 0,
};

export const tracedWith = (text: string): TracedAlert => ({
  ...{ ...TRACED, id: text, service: text, protocol: text, type: text, itemId: text, txHash: text, more: 3 },
  deliveries: TRACED.deliveries.map((one) => ({
    ...{ ...one, to: text, error: text },
    history: [{ at: MINUTE_AGO, text }],
  })),
});
