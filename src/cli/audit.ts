/** `tocsin audit`: compares what the services list with what became of it, and queues differences again. */

import { openAuditCommand } from '../app/review.ts';
import { loadConfig } from '../config/load.ts';
import { type AuditReport, isBalanced, isMissingHealed, type ProtocolAudit, sumOf } from '../features/audit/balance.ts';
import { cleanLine, counted, firstFew, nameText } from '../text.ts';
import { clockText } from '../time.ts';
import { type Action, answer, EXIT } from './context.ts';
import { parseMoment } from './options.ts';
import { type Column, renderTable } from './table.ts';

const COLUMNS: readonly Column<ProtocolAudit>[] = [
  { head: 'protocol', shrinks: true, cell: ({ protocol }) => protocol },
  { head: 'listed', isNumber: true, cell: ({ listed }) => listed },
  ...(['delivered', 'waiting', 'muted', 'dead', 'unwanted', 'unread'] as const).map(
    (head): Column<ProtocolAudit> => ({ head, isNumber: true, cell: ({ counts }) => counts[head] }),
  ),
  { head: 'missing', isNumber: true, cell: ({ missing }) => missing.length },
  { head: 'lost', isNumber: true, cell: ({ lost }) => lost.length },
];

/** After this many of a protocol the rest are only counted; `--json` has them all. */
const NAMED = 50;

const done = (healed: boolean): string => (healed ? 'queued again' : 'not queued again');

const differencesOf = (audit: ProtocolAudit): string[] => {
  const { missing, lost, disagreement, onlyBooked } = audit;
  const transactionOf = (txHash = ''): string => (txHash === '' ? '' : `, transaction ${txHash}`);
  const healed = done(isMissingHealed(audit));
  const lacking = missing.map(
    ({ itemId, txHash }) => `the ledger lacks inspection ${itemId}${transactionOf(txHash)}: ${healed}`,
  );
  const jobs = lost.map((one) => `the job of ${one.itemId} to ${one.destination} was lost: ${done(one.healed)}`);
  return [
    ...firstFew(lacking, NAMED),
    ...firstFew(jobs, NAMED),
    ...(disagreement
      ? [`note: the service's statistics count ${disagreement.critical} critical, its list ${disagreement.listed}`]
      : []),
    ...(onlyBooked.length > 0 ? [`note: ${onlyBooked.length} in the ledger that the service no longer lists`] : []),
  ].map((line) => `${audit.protocol}: ${line}`);
};

const isWorthARow = (audit: ProtocolAudit): boolean => audit.listed > 0 || differencesOf(audit).length > 0;

const totalOf = (protocols: readonly ProtocolAudit[]): string => {
  const { listed, healed: _healed, ...parts } = sumOf(protocols);
  const named = Object.entries(parts).filter(([, count]) => count > 0);
  const sum = named.map(([name, count]) => `${count} ${name}`).join(' + ') || '0';
  return `${protocols.every(isBalanced) ? 'balanced' : 'NOT balanced'}: ${listed} listed, ${sum}`;
};

const trimmedText = (protocols: readonly ProtocolAudit[]): string[] => {
  const last = protocols
    .flatMap(({ trimmedTo }) => trimmedTo ?? [])
    .toSorted()
    .at(-1);
  if (last === undefined) return [];
  return [`note: compared from ${clockText(last)}: the ledger was full and has removed older alerts`];
};

/** A table, the differences, and what was done about them. Ends with a line feed. */
const renderAudit = ({ protocols, unaudited }: AuditReport, layout: { width?: number }): string => {
  const rows = protocols.filter(isWorthARow);
  const quiet = protocols.length - rows.length;
  const lines = [
    ...rows.flatMap(differencesOf),
    ...unaudited.map(({ protocol, problem }) => `${nameText(protocol)}: not compared: ${problem}`),
    ...(quiet > 0 ? [`${counted(quiet, 'protocol')} without anything to account for`] : []),
    ...trimmedText(protocols),
    totalOf(protocols),
  ];
  return `${rows.length > 0 ? `${renderTable(rows, COLUMNS, layout)}\n` : ''}${lines.map(cleanLine).join('\n')}\n`;
};

export const audit: Action<{ since: string; dryRun?: boolean }> = async (options, context) => {
  const since = parseMoment(options.since, '--since', Date.now());
  const config = await loadConfig(options.config, context.env);
  const command = await openAuditCommand(config, context.signal);
  try {
    const report = await command.audit(since, options.dryRun !== true);
    const balanced = report.protocols.every(isBalanced);
    const data = { balanced, totals: sumOf(report.protocols), ...report };
    answer(context, options, data, () => renderAudit(report, context), context.show);
    if (!balanced) return EXIT.finding;
    return report.unaudited.length > 0 ? EXIT.temporary : EXIT.done;
  } finally {
    await command.close();
  }
};
