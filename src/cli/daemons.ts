/** `tocsin daemons`: which daemons share this Redis, and which of them are missed. */
import { UsageError } from '../errors.ts';
import { missedOf } from '../features/conditions/daemons.ts';
import { type DaemonStatus, daemonText, shownDaemons } from '../ops/status.ts';
import { ago, iso } from '../time.ts';
import { buildText } from '../version.ts';
import { type Action, answer } from './context.ts';
import { type Column, renderTable } from './table.ts';
import { withView } from './with-view.ts';

export const daemonColumns = (now: string): Column<DaemonStatus>[] => [
  { head: 'host', cell: ({ host }) => host },
  { head: 'pid', isNumber: true, cell: ({ pid }) => pid },
  { head: 'version', cell: buildText },
  { head: 'started', cell: ({ startedAt }) => ago(startedAt, now) },
  { head: 'heard', cell: ({ heardAt }) => ago(heardAt, now) },
  { head: 'state', isRemark: true, cell: daemonText },
];

export const listDaemons: Action = (options, context) =>
  withView(options, context, async (view) => {
    const report = await view.status();
    const shown = shownDaemons(report);
    const text = () =>
      shown.length === 0
        ? 'no daemon runs, and none is missed\n'
        : renderTable(shown, daemonColumns(report.now), context);
    return answer(context, options, shown, text, context.show);
  });

/** By host, of which there may be several, or by id. */
export const forgetDaemon: Action<{ name: string }> = ({ name, ...options }, context) =>
  withView(options, context, async ({ store }) => {
    const known = await store.daemonReports.list();
    const isNamed = ({ id, host }: { id: string; host: string }): boolean => id === name || host === name;
    const missed = missedOf(known).filter(isNamed);
    if (missed.length === 0) {
      const why = known.some(isNamed) ? `${name} runs` : `no daemon '${name}' is missed`;
      throw new UsageError(`${why}; \`tocsin daemons list\` shows them`);
    }
    for (const { id, host, pid } of missed) {
      await store.daemonReports.remove(id);
      await store.operatorLog.record({ action: 'daemon-forgotten', daemonHost: host, daemonPid: pid });
    }
    const data = missed.map(({ id, host, pid, silentMs }) => ({ id, host, pid, heardAt: iso(Date.now() - silentMs) }));
    const text = () =>
      data.map(({ host, pid }) => `${host} (pid ${pid}): forgotten; it is not missed any more\n`).join('');
    return answer(context, options, data, text);
  });
