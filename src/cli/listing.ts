/** A list of the service on its way to the operator: walked page by page, as a table or as one JSON array. */
import type { JsonObject } from '../alert.ts';
import { UsageError } from '../errors.ts';
import { walkPages } from '../service/paginate.ts';
import type { Page } from '../service/wire.ts';
import { counted } from '../text.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode } from './context.ts';
import { createProgress } from './terminal.ts';

interface Listing<T> {
  /** Plural, as people call its items: `inspections`. */
  what: string;
  fetchPage(pageNumber: number | undefined): Promise<Page<T>>;
  identify(item: T): string;
  /** As the service gave it. */
  rawOf(item: T): JsonObject;
  /** Ends with a line feed. */
  render(items: readonly T[]): string;
}

const DEFAULT_LIMIT = 50;

/** From `--limit` and `--all`. Throws a `UsageError`. */
export const limitOf = ({ limit, all }: { limit?: string; all?: boolean }): number => {
  if (limit === undefined) return all === true ? Number.POSITIVE_INFINITY : DEFAULT_LIMIT;
  if (all === true) throw new UsageError('--limit and --all exclude each other');
  if (!/^[1-9]\d{0,8}$/.test(limit)) throw new UsageError(`--limit must be a whole number from 1 (got '${limit}')`);
  return Number(limit);
};

/** One more than is wanted shows whether there are more. */
export const pageSizeFor = (limit: number, configured: number): number => Math.min(limit + 1, configured);

/** Item by item, one a line, so that a long list needs no memory; an array all the same. */
const createJsonPrinter = <T>({ rawOf }: Listing<T>, { write }: CommandContext) => {
  let isFirst = true;
  return {
    add: (items: readonly T[]): void => {
      for (const item of items) {
        write(`${isFirst ? '[\n' : ',\n'}${JSON.stringify(rawOf(item))}`);
        isFirst = false;
      }
    },
    end: (): void => write(isFirst ? '[]\n' : '\n]\n'),
  };
};

const createTextPrinter = <T>({ what, render }: Listing<T>, { show }: CommandContext) => {
  const all: T[] = [];
  return {
    add: (items: readonly T[]): void => {
      for (const item of items) all.push(item);
    },
    end: (): void => show(all.length === 0 ? `No ${what}.\n` : render(all)),
  };
};

/** Prints up to `limit` items (`Infinity` for all), and says on standard error what is not among them. */
export const printListing = async <T>(
  context: CommandContext,
  { json = false, limit }: CommonOptions & { limit: number },
  listing: Listing<T>,
): Promise<ExitCode> => {
  const { what, fetchPage, identify } = listing;
  const printer = json ? createJsonPrinter(listing, context) : createTextPrinter(listing, context);
  // Items that appear on the same terminal are progress enough.
  const progress = createProgress({ ...context, isErrorTty: context.isErrorTty && !(json && context.isTty) });
  const problems: string[] = [];
  let pages = 0;
  let count = 0;
  let hasMore = false;
  try {
    for await (const page of walkPages(fetchPage, identify)) {
      const items = page.items.slice(0, limit - count);
      printer.add(items);
      problems.push(...page.malformed.map(({ problem }) => problem));
      pages += 1;
      count += items.length;
      hasMore = items.length < page.items.length;
      if (hasMore) break;
      progress.show(`${what}: ${count} on ${counted(pages, 'page')} so far`);
    }
  } finally {
    progress.end();
  }
  printer.end();
  if (hasMore)
    context.warn(`tocsin: there are more ${what} than these ${count}; --all or a higher --limit shows more\n`);
  if (problems.length > 0) {
    const reasons = [...new Set(problems)].join('; ');
    context.warn(`tocsin: malformed ${what} left out: ${problems.length} (${reasons})\n`);
  }
  return EXIT.done;
};
