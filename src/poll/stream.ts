/** What one request can read, which requests read everything, and which daemon makes which of them. */
import type { Source } from '../alert.ts';
import { getOrCreate } from '../bounded-map.ts';
import { contentId } from '../item.ts';
import { isPathSegment } from '../text.ts';
import type { Track } from './cursor.ts';

/** What one request can read: one protocol's inspections, or the notifications of several protocols. */
export interface Stream {
  service: string;
  source: Source;
  protocols: string[];
}

/** What each poll asks of its stream is reckoned once. */
const tracks = new WeakMap<Stream, readonly Track[]>();
const keys = new WeakMap<Stream, string>();

export const tracksOf = (stream: Stream): readonly Track[] =>
  getOrCreate(tracks, stream, () => {
    const { service, source, protocols } = stream;
    return protocols.map((protocol) => ({ service, source, protocol }));
  });

/** The same for the same names: 32 hex digits. */
export const streamKey = (stream: Stream): string =>
  getOrCreate(keys, stream, () => contentId(stream.service, stream.source, ...stream.protocols));

/** Names one notifications request carries: they travel in the URL, and proxies cut long ones. */
const NAMES_PER_REQUEST = 40;
const NAME_BYTES_PER_REQUEST = 3000;

/** Groups names so that each group fits one request; the same names give the same groups. */
const groupNames = (names: readonly string[]): string[][] => {
  const groups: string[][] = [];
  let bytes = 0;
  for (const name of names.toSorted()) {
    const size = encodeURIComponent(name).length + 20;
    const last = groups.at(-1);
    if (!last || last.length >= NAMES_PER_REQUEST || bytes + size > NAME_BYTES_PER_REQUEST) {
      groups.push([name]);
      bytes = size;
    } else {
      last.push(name);
      bytes += size;
    }
  }
  return groups;
};

/**
 * The requests that read everything: one a protocol for inspections; as few as possible for notifications. Inspections of
 * a protocol whose name no URL can carry are not asked for; the catalog says so.
 */
export const streamsOf = (service: string, names: readonly string[], sources: readonly Source[]): Stream[] =>
  sources.flatMap((source) => {
    const groups = source === 'inspections' ? names.filter(isPathSegment).map((name) => [name]) : groupNames(names);
    return groups.map((protocols) => ({ service, source, protocols }));
  });

/** The oldest so many protocols share one lane of turns, then the next oldest, then all others. */
const LANES = [100, 1000];

/**
 * Who may add protocols can add ten thousand. Those come after all that was there: where not all can be read in time, these
 * are read as if there were none. `protocols`: by name, with since when each is read.
 */
export const createLaneOf = (
  protocols: ReadonlyMap<string, { owedSince?: number | undefined }>,
): ((stream: Stream) => number) => {
  const oldestFirst = [...protocols].toSorted(([, a], [, b]) => (a.owedSince ?? 0) - (b.owedSince ?? 0));
  const lanes = new Map(oldestFirst.map(([name], rank) => [name, LANES.filter((most) => rank >= most).length]));
  return ({ protocols: names }) => Math.min(...names.map((name) => lanes.get(name) ?? LANES.length));
};

const numberOf = (hex: string): number => Number.parseInt(hex.slice(0, 8), 16);

/** Spreads the bits of both over 32. */
const mix = (a: number, b: number): number => {
  let mixed = Math.imul(a ^ (b >>> 15), 0x2c1b3c6d) ^ b;
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
};

/**
 * Whether a stream is assigned to the daemon `own`. `readers`: the ids of all that share the service; one that is not among
 * them has none. A stream belongs to the one with the highest weight for it, so that few streams move when a daemon comes or
 * goes. Every daemon reckons the same, so nobody asks, takes or gives back. While two of them see others, a stream may be
 * polled by both or by none for a moment; nothing that is written depends on this.
 */
export const createAssignment = (own: string, readers: readonly string[]): ((stream: Stream) => boolean) => {
  if (!readers.includes(own)) return () => false;
  const others = readers.filter((id) => id !== own).map((id) => ({ id, seed: numberOf(contentId(id)) }));
  const ownSeed = numberOf(contentId(own));
  return (stream) => {
    const key = numberOf(streamKey(stream));
    const weight = mix(key, ownSeed);
    return others.every(({ id, seed }) => {
      const other = mix(key, seed);
      return weight > other || (weight === other && own < id);
    });
  };
};
