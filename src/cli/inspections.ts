/** `tocsin inspections list|stats`: what the service inspected, as a table or as it gave it. */
import type { JsonObject } from '../alert.ts';
import { firedDetections } from '../channels/content/reading.ts';
import type { InspectionStats } from '../service/protocols.ts';
import type { Inspection } from '../service/wire.ts';
import { type CommandContext, EXIT, type ExitCode, writeJson } from './context.ts';
import { type InspectionOptions, inspectionQuery } from './inspection-filter.ts';
import { createChainText, fieldText, timeText } from './item-text.ts';
import { limitOf, pageSizeFor, printListing } from './listing.ts';
import { type ServiceOptions, withServices } from './services.ts';
import { renderTable } from './table.ts';

interface ListOptions extends ServiceOptions, InspectionOptions {
  limit?: string;
  all?: boolean;
}

/** What the row has no room for: ids and hashes for `trace` and `--id`. */
const detailsOf = ({ id, raw }: Inspection): string => {
  const detected = firedDetections(raw).map(({ id }) => fieldText(id));
  return [
    id,
    fieldText(raw.invokedMethodName),
    detected.length === 0 ? 'nothing detected' : `detected ${detected.join(', ')}`,
  ]
    .filter((text) => text !== '')
    .join('  ');
};

const renderInspections = (
  inspections: readonly Inspection[],
  chainText: (item: JsonObject) => string,
  width: number | undefined,
): string =>
  renderTable(
    inspections,
    [
      { head: 'inspected (UTC)', cell: ({ dates }) => timeText(dates.createdAt ?? dates.txTimestamp) },
      { head: 'assessment', shrinks: true, cell: ({ assessment }) => assessment.replace(/^suspecious$/, 'suspicious') },
      { head: 'chain', shrinks: true, cell: ({ raw }) => chainText(raw) },
      { head: 'transaction', cell: ({ txHash }) => txHash },
    ],
    { width, below: (inspection) => [detailsOf(inspection)] },
  );

export const listInspections = async (options: ListOptions, context: CommandContext): Promise<ExitCode> => {
  const limit = limitOf(options);
  const asked = inspectionQuery(options, Date.now());
  return await withServices(options, context, async (services) => {
    const { client, pageSize, config } = await services.listing([options.protocol]);
    const query = { ...asked, sort: asked.sort ?? 'dsc', pageSize: pageSizeFor(limit, pageSize) };
    await printListing<Inspection>(
      {
        what: 'inspections',
        fetchPage: (pageNumber) => client.listInspections({ ...query, pageNumber }, context.signal),
        identify: ({ id }) => id,
        rawOf: ({ raw }) => raw,
        render: (found) => renderInspections(found, createChainText(config), context.width),
      },
      { json: options.json === true, limit },
      context,
    );
    return EXIT.done;
  });
};

const COUNTS = ['critical', 'suspicious', 'total', 'page'] as const;

const renderStats = (stats: InspectionStats): string =>
  COUNTS.map((name) => `${name.padEnd(12)}${String(stats[name] ?? 'not given').padStart(10)}\n`).join('');

export const inspectionStats = async (
  options: ServiceOptions & InspectionOptions,
  context: CommandContext,
): Promise<ExitCode> => {
  const query = inspectionQuery(options, Date.now());
  return await withServices(options, context, async (services) => {
    const { client } = await services.listing([options.protocol]);
    const stats = await client.inspectionStats(query, context.signal);
    if (options.json === true) writeJson(context, stats.raw);
    else context.write(renderStats(stats));
    return EXIT.done;
  });
};
