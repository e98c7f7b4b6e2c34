/** What one request can read: one protocol's inspections, or the notifications of several protocols. */
import type { Source } from '../alert.ts';
import { contentId } from '../identity.ts';
import type { Track } from './cursor.ts';

export interface Stream {
  service: string;
  source: Source;
  protocols: string[];
}

export const tracksOf = ({ service, source, protocols }: Stream): Track[] =>
  protocols.map((protocol) => ({ service, source, protocol }));

const keys = new WeakMap<Stream, string>();

/** The same for the same names: 32 hex digits. Asked for at each poll, so it is reckoned once. */
export const streamKey = (stream: Stream): string => {
  const key = keys.get(stream) ?? contentId(stream.service, stream.source, ...stream.protocols);
  keys.set(stream, key);
  return key;
};
