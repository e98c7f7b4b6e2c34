/** `tocsin cursor`: how far each protocol's sources are read, and to move that by hand. */
import { SOURCES } from '../alert.ts';
import { UsageError } from '../errors.ts';
import { createCursorAdmin, type TrackState } from '../features/cursors/cursors.ts';
import type { OperatorAction } from '../ledger/operator-log.ts';
import { RETENTION_SECONDS } from '../ledger/record.ts';
import { nameText } from '../text.ts';
import { ago, iso } from '../time.ts';
import { type Action, answer, type CommonOptions } from './context.ts';
import { oneOf, parseMoment } from './options.ts';
import { type Column, renderTable, timeCell } from './table.ts';
import { confirm } from './terminal.ts';
import { exactTime } from './trace.ts';
import { withView } from './with-view.ts';

interface ShowOptions extends CommonOptions {
  protocol?: string;
  source?: string;
  service?: string;
}

interface SetOptions extends ShowOptions {
  protocol: string;
  to: string;
  yes?: boolean;
}

const selectionOf = ({ protocol, source, service }: ShowOptions) => ({
  ...{ protocol, service },
  source: source === undefined ? undefined : oneOf('--source', source, SOURCES),
});

/** As a script gets it. */
const plain = ({ service, protocol, source, cursor, oldestOpen }: TrackState, now: number) => ({
  service,
  protocol,
  source,
  ...(cursor && { start: iso(cursor.start), position: iso(cursor.position), sweptTo: iso(cursor.sweptTo) }),
  ...(cursor?.polledAt === undefined
    ? {}
    : { lastRead: iso(cursor.polledAt), lagSeconds: Math.max(0, Math.round((now - cursor.polledAt) / 1000)) }),
  ...(oldestOpen === undefined ? {} : { oldestOnItsWay: iso(oldestOpen) }),
});

const isOneService = (states: readonly TrackState[]): boolean => new Set(states.map(({ service }) => service)).size < 2;

const columnsFor = (states: readonly TrackState[], now: number): Column<TrackState>[] => [
  ...(isOneService(states) ? [] : [{ head: 'service', cell: ({ service }: TrackState) => service }]),
  { head: 'protocol', shrinks: true, cell: ({ protocol }) => protocol },
  { head: 'source', cell: ({ source }) => source },
  { head: 'queued up to (UTC)', cell: ({ cursor }) => timeCell(cursor?.position) },
  { head: 'swept to (UTC)', cell: ({ cursor }) => timeCell(cursor?.sweptTo) },
  { head: 'last read', cell: ({ cursor }) => ago(cursor?.polledAt, now) },
  { head: 'oldest on its way', cell: ({ oldestOpen }) => timeCell(oldestOpen) },
];

export const showCursors: Action<ShowOptions> = (options, context) =>
  withView(options, context, async (view, config) => {
    const cursors = createCursorAdmin({ ...view.store, config, catalog: view.catalog });
    const states = await cursors.states(await cursors.tracks(selectionOf(options)));
    const now = Date.now();
    const data = states.map((state) => plain(state, now));
    const table = () => renderTable(states, columnsFor(states, now), context);
    const text = () => (states.length === 0 ? 'no protocol is known yet\n' : table());
    return answer(context, options, data, text, context.show);
  });

/** What moving a cursor to `at` would cost, as phrases that follow "this"; none where it costs nothing. */
const costsOf = (states: readonly TrackState[], at: number, now: number): string[] => {
  const skipped = states.flatMap(({ cursor }) => (cursor && cursor.position < at ? cursor.position : []));
  const isForgotten = now - at > RETENTION_SECONDS * 1000;
  return [
    ...(skipped.length === 0
      ? []
      : [`skips items written after ${exactTime(iso(Math.min(...skipped)))} that are not queued yet`]),
    ...(isForgotten
      ? [
          `sends alerts again that were forwarded more than ${RETENTION_SECONDS / 86_400} days ago, as the ledger has forgotten them`,
        ]
      : []),
  ];
};

const movedText = ({ service, protocol, source, cursor }: TrackState, at: number): string => {
  const before = cursor === undefined ? 'it was never read before' : `before: ${exactTime(iso(cursor.position))}`;
  return `${source} of ${nameText(protocol)} (service ${service}): ${exactTime(iso(at))}; ${before}`;
};

const moveOf = ({ service, protocol, source, cursor }: TrackState, at: number): OperatorAction => ({
  action: 'cursor-moved',
  service,
  protocol,
  source,
  movedTo: iso(at),
  ...(cursor === undefined ? {} : { before: iso(cursor.position) }),
});

const EXPLANATION =
  'The next poll reads from there. Alerts that the ledger has as delivered, dead or waiting are not sent again.';

export const setCursor: Action<SetOptions> = (options, context) =>
  withView(options, context, async (view, config) => {
    const now = Date.now();
    const at = parseMoment(options.to, '--to', now);
    if (at > now) throw new UsageError(`--to lies in the future (got '${options.to}')`);
    const cursors = createCursorAdmin({ ...view.store, config, catalog: view.catalog });
    const states = await cursors.states(await cursors.tracks(selectionOf(options)));
    const services = new Set(states.map(({ service }) => service));
    if (services.size > 1) {
      throw new UsageError(`several services have this protocol: take --service ${[...services].join(' or ')}`);
    }
    const costs = costsOf(states, at, now);
    if (costs.length > 0) await confirm(context, costs.join(', and '), options.yes);
    for (const state of states) {
      await cursors.move(state, at);
      await view.store.operatorLog.record(moveOf(state, at));
    }
    const data = states.map((state) => ({ ...plain(state, now), movedTo: iso(at) }));
    const lines = () => [...states.map((state) => movedText(state, at)), EXPLANATION];
    return answer(context, options, data, () => `${lines().join('\n')}\n`);
  });
