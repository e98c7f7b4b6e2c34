/**
 * A monitoring service that does as little as it can, so that it costs little beside what is measured: it lists protocols
 * and their inspections, and notes when it was asked and when it told of each inspection first.
 */
import type { ServerResponse } from 'node:http';
import type { ChannelEntry } from '../../src/alert.ts';
import { type Inspection, inspectionOf } from './inspection.ts';

export interface ServiceSettings {
  protocols: number;
  /** The first so many never answer when their inspections are asked for. */
  hanging: number;
  /** Inspections of the first protocol that are there from the start, a millisecond apart up to now. */
  stored: number;
}

interface Stored {
  at: number;
  id: string;
  json: string;
}

const PAGE = 500;

const protocolName = (n: number): string => `Protocol ${n}`;

const pageOf = (items: readonly string[], pageNumber: number, total: number): string =>
  `{"page":[${items.join(',')}],"pageNumber":${pageNumber},"total":${total}}`;

/** `now`: milliseconds of the clock that everything is measured by. */
export const createService = (
  { protocols, hanging, stored }: ServiceSettings,
  channelOf: (n: number) => ChannelEntry,
  now: () => number,
) => {
  const inspections: Stored[][] = Array.from({ length: protocols }, () => []);
  let polls: number[][] = inspections.map(() => []);
  let requests = 0;
  let count = 0;
  const toldAt = new Map<string, number>();

  const write = (n: number, at: number): Inspection => {
    const inspection = inspectionOf(count, protocolName(n), at);
    count += 1;
    inspections[n]?.push({ at, id: inspection._id, json: JSON.stringify(inspection) });
    return inspection;
  };
  const startedAt = Date.now();
  for (let left = stored; left > 0; left -= 1) write(0, startedAt - left);

  const listing = (pageNumber: number): string => {
    const start = (pageNumber - 1) * PAGE;
    const length = Math.max(0, Math.min(PAGE, protocols - start));
    const page = Array.from({ length }, (_, index) => {
      const n = start + index;
      const settings = { notificationChannels: [channelOf(n)] };
      return JSON.stringify({ protocols: { protocolId: `id-${n}`, descriptor: protocolName(n), setttings: settings } });
    });
    return `[${pageOf(page, pageNumber, protocols)}]`;
  };

  const list = (n: number, query: URLSearchParams, response: ServerResponse): void => {
    const after = Date.parse(query.get('startDate') ?? '1970-01-01');
    const before = Date.parse(query.get('endDate') ?? '9999-01-01');
    const pageNumber = Number(query.get('pageNumber') ?? 1);
    const size = Number(query.get('pageSize') ?? PAGE);
    const found = (inspections[n] ?? []).filter(({ at }) => at > after && at < before);
    const page = found.slice((pageNumber - 1) * size, pageNumber * size);
    const json = page.map((item) => item.json);
    const toldNow = now();
    for (const { id } of page) if (!toldAt.has(id)) toldAt.set(id, toldNow);
    response.end(pageOf(json, pageNumber, found.length));
  };

  return {
    /** Writes one inspection of a protocol, dated now. */
    write: (n: number): void => {
      write(n, Date.now());
    },
    written: (): number => count,
    toldAt: (id: string): number | undefined => toldAt.get(id),
    /** What was asked since it was last called: by protocol the times of its polls, and how many requests in all. */
    asked: (): { requests: number; polls: number[][] } => {
      const report = { requests, polls };
      requests = 0;
      polls = polls.map(() => []);
      return report;
    },
    answer: (target: string, response: ServerResponse): void => {
      requests += 1;
      const [path = '', search = ''] = target.split('?');
      const query = new URLSearchParams(search);
      response.setHeader('content-type', 'application/json');
      if (path === '/protocols') {
        response.end(listing(Number(query.get('pageNumber') ?? 1)));
        return;
      }
      const n = Number(/^\/Protocol%20(\d+)\//.exec(path)?.[1] ?? -1);
      if (!query.has('pageNumber')) polls[n]?.push(now());
      if (n >= hanging) list(n, query, response);
    },
  };
};
