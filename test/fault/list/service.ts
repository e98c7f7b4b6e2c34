/** The service misbehaves, in every way that the sandbox knows. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault as Answer } from '../../../src/sandbox/service/faults.ts';
import type { Quirks } from '../../../src/sandbox/service/quirks.ts';
import { metricsTell } from '../daemon-process.ts';
import type { Fault } from '../fault.ts';

const EACH_MS = 3000;
const BEFORE_LISTING_MS = 10_000;

const ANSWERS: readonly Answer[] = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 503, retryAfter: 2 },
  { kind: 'status', status: 429, retryAfter: 2 },
  { kind: 'status', status: 401 },
  { kind: 'status', status: 404 },
  { kind: 'reset' },
  { kind: 'hang' },
  { kind: 'slow', durationMs: 5000 },
  { kind: 'cut' },
  { kind: 'truncated' },
  { kind: 'invalid-json' },
  { kind: 'wrong-type', contentType: 'text/html' },
  { kind: 'huge', bytes: 30_000_000 },
  { kind: 'empty' },
  { kind: 'redirect', location: 'http://127.0.0.1:1/' },
  { kind: 'malformed-item' },
  { kind: 'wrong-shape', body: { page: 'none' } },
  { kind: 'wrong-shape', body: [] },
];

/** Without dates of whole seconds: a stored notification has no id on the wire, and would be another by its date. */
const QUIRKS: readonly Partial<Quirks>[] = [
  { firstPage: 0 },
  { behindLastPage: 'last', maxPageSize: 3 },
  { behindLastPage: 'last', pageNumberEcho: 'missing', unstableTies: true },
  { behindLastPage: 'missing', maxPageSize: 3 },
  { behindLastPage: 'reject', maxPageSize: 3 },
  { pageNumberEcho: 'string' },
  { pageNumberEcho: 'missing', ignoresPageSize: true, defaultPageSize: 4 },
  { totalCounts: 'pages', maxPageSize: 3 },
  { totalCounts: 'page', maxPageSize: 3 },
  { defaultSort: 'asc', ignoresSort: true },
  { withoutNames: 'everything', arrayParams: 'comma' },
  { withoutNames: 'nothing' },
  { ignoredBounds: 'both' },
  { dateField: 'updatedAt', sortField: 'updatedAt' },
  { dateField: 'txTimestamp', sortField: 'txTimestamp' },
  { dateFormat: 'offset' },
  { dateFormat: 'milliseconds' },
  { extraFields: true, nullArrays: true },
  { contentEncoding: 'gzip' },
  { contentEncoding: 'br' },
  { contentEncoding: 'deflate' },
  { emptyPage: 'missing' },
  { extraChannels: [{ name: 'fax', contacts: ['1'] }] },
  { listing: 'split' },
  { errorBody: 'html' },
  { unstableTies: true, pageOverlap: 2, maxPageSize: 3 },
  { shiftPages: 5, maxPageSize: 3 },
];

export const SERVICE_FAULTS: readonly Fault[] = [
  {
    name: 'service-away',
    what: 'the service is stopped for 10 s',
    doubles: 'none',
    isQuick: true,
    grip: 'service',
    strike: async ({ sandbox: { service } }) => {
      await service.stop();
      await sleep(10_000);
      await service.start();
    },
  },
  {
    name: 'service-told',
    what: 'the service is stopped until a listing has failed, too; when it is back, the metrics tell it long before the next listing is due',
    stage: { config: { poll: { catalogEvery: '30s' } } },
    doubles: 'none',
    strike: async ({ sandbox: { service }, daemons: [daemon] }) => {
      await service.stop();
      await metricsTell(daemon, 'tocsin_trouble{trouble="service"} 1');
      await sleep(35_000);
      await service.start();
      for (const trouble of ['service', 'unread']) {
        await metricsTell(daemon, `tocsin_trouble{trouble="${trouble}"} 0`, BEFORE_LISTING_MS);
      }
    },
  },
  {
    name: 'service-answers',
    what: `${ANSWERS.length} kinds of wrong answers of the service, 3 s each`,
    doubles: 'none',
    strike: async ({ sandbox: { service }, note }) => {
      for (const fault of ANSWERS) {
        note(JSON.stringify(fault));
        const end = service.addFault({ fault, times: Number.POSITIVE_INFINITY });
        await sleep(EACH_MS);
        end();
      }
    },
  },
  {
    name: 'service-quirks',
    what: `${QUIRKS.length} ways in which services differ, 3 s each, changing under the daemon`,
    doubles: 'none',
    strike: async ({ sandbox: { service }, note }) => {
      for (const quirks of QUIRKS) {
        note(JSON.stringify(quirks));
        service.changeQuirks(quirks);
        await sleep(EACH_MS);
        service.resetQuirks();
      }
    },
  },
];
