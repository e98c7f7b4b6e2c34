/** `tocsin inspections` and `tocsin notifications`: what the service has inspected and stored. */

import type { JsonObject, JsonValue } from '../alert.ts';
import { type Chains, WELL_KNOWN_CHAINS } from '../channels/chains.ts';
import { firedDetections } from '../channels/content/reading.ts';
import type { Config } from '../config/schema.ts';
import { UsageError } from '../errors.ts';
import type { InspectionStats } from '../service/protocols.ts';
import type { InspectionQuery } from '../service/queries.ts';
import {
  ASSESSMENTS,
  type Assessment,
  type Inspection,
  type Notification,
  notificationId,
  type Page,
  readAssessment,
} from '../service/wire.ts';
import { cleanLine, shorten } from '../text.ts';
import { type Action, answer } from './context.ts';
import { limitOf, pageSizeFor, printListing } from './listing.ts';
import { parseMoment } from './options.ts';
import { type ServiceOptions, withServices } from './services.ts';
import { type Column, renderTable, timeCell } from './table.ts';

interface PeriodOptions {
  since?: string;
  until?: string;
  sort?: string;
}

export interface InspectionOptions extends PeriodOptions {
  protocol: string;
  chain?: string;
  contract?: string;
  id?: string[];
  hash?: string;
  origin?: string;
  status?: string;
  detected?: string[];
}

const check = (option: string, text: string | undefined, form: RegExp, rule: string): string | undefined => {
  if (text === undefined || form.test(text)) return text;
  throw new UsageError(`${option} must be ${rule} (got '${text}')`);
};

const ADDRESS = /^0x[0-9a-f]{40}$/i;
const ADDRESS_RULE = 'an address: 0x and 40 hex digits';

const assessmentOf = (text: string | undefined): Assessment | undefined => {
  if (text === undefined) return undefined;
  const read = readAssessment(text);
  const found = ASSESSMENTS.find((known) => known === read);
  if (found === undefined) throw new UsageError(`--status must be one of ${ASSESSMENTS.join(', ')} (got '${text}')`);
  return found;
};

const sortOf = (text: string | undefined): 'asc' | 'dsc' | undefined => {
  if (text === undefined || text === 'asc' || text === 'dsc') return text;
  throw new UsageError(`--sort must be asc or dsc (got '${text}')`);
};

const named = (option: string, texts: readonly string[] | undefined): readonly string[] | undefined => {
  if (texts?.some((text) => text.trim() === '')) throw new UsageError(`${option} is empty`);
  return texts;
};

/** Both ends are exclusive, as the service has it. */
export const periodOf = ({ since, until, sort }: PeriodOptions, now: number) => {
  const startDate = since === undefined ? undefined : parseMoment(since, '--since', now);
  const endDate = until === undefined ? undefined : parseMoment(until, '--until', now);
  if (startDate !== undefined && endDate !== undefined && startDate >= endDate)
    throw new UsageError('--since must be before --until');
  return { startDate, endDate, sort: sortOf(sort) };
};

/** The options as a query. Throws a `UsageError` for what the service could not be asked. */
export const inspectionQuery = (options: InspectionOptions, now: number): InspectionQuery => {
  const { protocol, chain, contract, id, hash, origin, status, detected } = options;
  if (contract !== undefined && chain === undefined) throw new UsageError('--contract needs --chain beside it');
  return {
    protocol,
    chainId: check('--chain', chain, /^[1-9]\d{0,19}$/, 'a chain id in decimal digits'),
    contractAddress: check('--contract', contract, ADDRESS, ADDRESS_RULE),
    id: named('--id', id),
    hash: check('--hash', hash, /^0x[0-9a-f]{64}$/i, 'a transaction hash: 0x and 64 hex digits'),
    origin: check('--origin', origin, ADDRESS, ADDRESS_RULE),
    status: assessmentOf(status),
    detected: named('--detected', detected),
    ...periodOf(options, now),
  };
};

const FIELD_MAX = 80;

/** A text or a number in one line that is not long; anything else is the empty text. */
export const fieldText = (value: JsonValue | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? shorten(cleanLine(String(value)), FIELD_MAX) : '';

/** The chain's name where it is known, else its id, which comes as a number or as text. */
export const createChainText = ({ chains: own }: Config): ((item: JsonObject) => string) => {
  const chains: Chains = { ...WELL_KNOWN_CHAINS, ...own };
  return ({ chainId }) => {
    const id = fieldText(chainId);
    return Object.hasOwn(chains, id) ? (chains[id]?.name ?? id) : id;
  };
};

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

const inspectionColumns = (chainText: (item: JsonObject) => string): Column<Inspection>[] => [
  { head: 'inspected (UTC)', cell: ({ dates }) => timeCell(dates.createdAt ?? dates.txTimestamp) },
  { head: 'assessment', shrinks: true, cell: ({ assessment }) => assessment.replace(/^suspecious$/, 'suspicious') },
  { head: 'chain', shrinks: true, cell: ({ raw }) => chainText(raw) },
  { head: 'transaction', cell: ({ txHash }) => txHash },
];

export const listInspections: Action<ListOptions> = async (options, context) => {
  const limit = limitOf(options);
  const asked = inspectionQuery(options, Date.now());
  return await withServices(options, context, async (services) => {
    const { client, pageSize, config } = await services.listing([options.protocol]);
    const query = { ...asked, sort: asked.sort ?? 'dsc', pageSize: pageSizeFor(limit, pageSize) };
    const columns = inspectionColumns(createChainText(config));
    const layout = { ...context, below: (inspection: Inspection) => [detailsOf(inspection)] };
    return await printListing<Inspection>(
      context,
      { ...options, limit },
      {
        what: 'inspections',
        fetchPage: (pageNumber) => client.listInspections({ ...query, pageNumber }, context.signal),
        identify: ({ id }) => id,
        rawOf: ({ raw }) => raw,
        render: (found) => renderTable(found, columns, layout),
      },
    );
  });
};

const COUNTS = ['critical', 'suspicious', 'total', 'page'] as const;

const renderStats = (stats: InspectionStats): string =>
  COUNTS.map((name) => `${name.padEnd(12)}${String(stats[name] ?? 'not given').padStart(10)}\n`).join('');

export const inspectionStats: Action<ServiceOptions & InspectionOptions> = async (options, context) => {
  const query = inspectionQuery(options, Date.now());
  return await withServices(options, context, async (services) => {
    const { client } = await services.listing([options.protocol]);
    const stats = await client.inspectionStats(query, context.signal);
    return answer(context, options, stats.raw, () => renderStats(stats));
  });
};

interface NotificationOptions extends ServiceOptions, PeriodOptions {
  /** Commander demands at least one. */
  protocol: string[];
  limit?: string;
  all?: boolean;
}

interface Stored {
  notification: Notification;
  /** Equal messages of one page are different ones. */
  key: string;
}

const numbered = (page: Page<Notification>): Page<Stored> => {
  const times = new Map<string, number>();
  const items = page.items.map((notification) => {
    const id = notificationId(notification);
    const time = (times.get(id) ?? 0) + 1;
    times.set(id, time);
    return { notification, key: `${id} ${time}` };
  });
  return { ...page, items };
};

const NOTIFICATION_COLUMNS: readonly Column<Stored>[] = [
  { head: 'stored (UTC)', cell: ({ notification }) => timeCell(notification.dates.createdAt) },
  { head: 'protocol', shrinks: true, cell: ({ notification }) => notification.protocol },
];

export const notifications: Action<NotificationOptions> = async (options, context) => {
  const limit = limitOf(options);
  const period = periodOf(options, Date.now());
  const protocols = [...new Set(options.protocol)];
  return await withServices(options, context, async (services) => {
    const { client, pageSize } = await services.listing(protocols);
    const size = pageSizeFor(limit, pageSize);
    const query = { protocols, ...period, sort: period.sort ?? 'dsc', pageSize: size } as const;
    const layout = { ...context, below: ({ notification }: Stored) => [notification.message] };
    return await printListing<Stored>(
      context,
      { ...options, limit },
      {
        what: 'notifications',
        fetchPage: async (pageNumber) =>
          numbered(await client.listNotifications({ ...query, pageNumber }, context.signal)),
        identify: ({ key }) => key,
        rawOf: ({ notification }) => notification.raw,
        render: (found) => renderTable(found, NOTIFICATION_COLUMNS, layout),
      },
    );
  });
};
