/**
 * A monitoring service that does as little as it can, so that it costs little beside what is measured: it lists protocols
 * and their inspections, and notes when it was asked and when it told of each inspection first.
 */
import type { ServerResponse } from 'node:http';
import type { ChannelEntry } from '../../src/item.ts';
import type { Dates } from './dates.ts';
import { inspectionOf } from './inspection.ts';

export interface ServiceSettings {
  protocols: number;
  /** The first so many never answer when their inspections are asked for. */
  hanging: number;
  /** The others are not, until something is stored for one of them. Default: all. */
  listed?: number;
}

interface Stored {
  at: number;
  id: string;
  json: string;
}

/** So many inspections at once, of the protocols in turn from this one on. Those that were not listed are from now on. */
export interface StoreOrder {
  count: number;
  from: number;
  to: number;
  dates: Dates;
  /** Of a text in each of them. Default: none. */
  bytes?: number;
}

const PAGE = 500;
/** Tocsin takes no more from one API key. More protocols are those of several services. */
const PROTOCOLS_A_SERVICE = 10_000;
export const servicesFor = (protocols: number): number => Math.ceil(protocols / PROTOCOLS_A_SERVICE);

/** Service, path and query. */
const TARGET = /^\/service-(\d+)\/([^?]*)\??(.*)$/;

export const protocolName = (n: number): string => `Protocol ${n}`;

/** The first of them that is later; they are in order of their dates. */
const firstAfter = (inspections: readonly Stored[], at: number): number => {
  let [low, high] = [0, inspections.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((inspections[middle]?.at ?? 0) > at) high = middle;
    else low = middle + 1;
  }
  return low;
};

const NOTHING = '{"page":[],"pageNumber":1,"total":0}';

const pageOf = (items: readonly string[], pageNumber: number, total: number): string =>
  `{"page":[${items.join(',')}],"pageNumber":${pageNumber},"total":${total}}`;

/** `now`: milliseconds of the clock that everything is measured by. */
export const createService = (
  { protocols, hanging, listed = protocols }: ServiceSettings,
  channelsOf: (n: number) => ChannelEntry[],
  now: () => number,
) => {
  const inspections: Stored[][] = Array.from({ length: protocols }, () => []);
  let polls: number[][] = inspections.map(() => []);
  let requests = 0;
  let count = 0;
  const toldAt = new Map<string, number>();
  const writtenAt = new Map<string, number>();

  const write = (n: number, at: number, bytes?: number): void => {
    const inspection = inspectionOf(count, protocolName(n), at, bytes);
    count += 1;
    writtenAt.set(inspection._id, now());
    inspections[n]?.push({ at, id: inspection._id, json: JSON.stringify(inspection) });
  };

  const listing = (service: number, pageNumber: number): string => {
    const total = Math.min(PROTOCOLS_A_SERVICE, listed - service * PROTOCOLS_A_SERVICE);
    const skipped = (pageNumber - 1) * PAGE;
    const start = service * PROTOCOLS_A_SERVICE + skipped;
    const length = Math.max(0, Math.min(PAGE, total - skipped));
    const page = Array.from({ length }, (_, index) => {
      const n = start + index;
      const settings = { notificationChannels: channelsOf(n) };
      return JSON.stringify({ protocols: { protocolId: `id-${n}`, descriptor: protocolName(n), setttings: settings } });
    });
    return `[${pageOf(page, pageNumber, total)}]`;
  };

  const list = (n: number, query: URLSearchParams, response: ServerResponse): void => {
    const after = Date.parse(query.get('startDate') ?? '1970-01-01');
    const before = Date.parse(query.get('endDate') ?? '9999-01-01');
    const pageNumber = Number(query.get('pageNumber') ?? 1);
    const size = Number(query.get('pageSize') ?? PAGE);
    const all = inspections[n] ?? [];
    const [start, end] = [firstAfter(all, after), firstAfter(all, before - 1)];
    const page = all.slice(Math.min(end, start + (pageNumber - 1) * size), Math.min(end, start + pageNumber * size));
    const toldNow = now();
    for (const { id } of page) if (!toldAt.has(id)) toldAt.set(id, toldNow);
    response.end(
      pageOf(
        page.map(({ json }) => json),
        pageNumber,
        Math.max(0, end - start),
      ),
    );
  };

  return {
    /** Writes one inspection of a protocol, dated now. */
    write: (n: number): void => {
      write(n, Date.now());
    },
    store: ({ count: wanted, from, to, dates: { perMs, agoMs }, bytes }: StoreOrder): void => {
      const startedAt = Date.now() - agoMs;
      listed = Math.max(listed, to);
      for (let n = 0; n < wanted; n += 1)
        write(from + (n % (to - from)), startedAt - Math.floor((wanted - n) / perMs), bytes);
    },
    written: (): number => count,
    told: (): number => toldAt.size,
    toldAt: (id: string): number | undefined => toldAt.get(id),
    writtenAt: (id: string): number | undefined => writtenAt.get(id),
    /** What was asked since it was last called: by protocol the times of its polls, and how many requests in all. */
    asked: (): { requests: number; polls: number[][] } => {
      const report = { requests, polls };
      requests = 0;
      polls = polls.map(() => []);
      return report;
    },
    answer: (target: string, response: ServerResponse): void => {
      requests += 1;
      const [, service = '', path = '', search = ''] = TARGET.exec(target) ?? [];
      const query = new URLSearchParams(search);
      response.setHeader('content-type', 'application/json');
      if (path === 'protocols')
        return void response.end(listing(Number(service), Number(query.get('pageNumber') ?? 1)));
      if (path === 'notifications') return void response.end(NOTHING);
      const n = Number(/^Protocol%20(\d+)\//.exec(path)?.[1] ?? -1);
      if (!query.has('pageNumber')) polls[n]?.push(now());
      if (n >= hanging) list(n, query, response);
    },
  };
};
