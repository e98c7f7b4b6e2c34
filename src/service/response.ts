/** An answer as it comes: its headers, and its body, decompressed and taken in up to a bound only. */
import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Response } from './exchange.ts';

/** The first value of a header; names are lower-case. */
export const headerOf = ({ headers }: Response, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** What we ask for. */
export const ACCEPTED_ENCODINGS = 'gzip, br';

/** `deflate` is not asked for, but some gateways know nothing else. One over the other has no honest use. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['deflate', createInflate],
]);

export const encodingOf = (response: Response): string =>
  (headerOf(response, 'content-encoding') ?? '').trim().toLowerCase() || 'identity';

/** The body as it was before it was compressed; undefined where the encoding is one that we do not know. */
export const openBody = (response: Response): Readable | undefined => {
  const encoding = encodingOf(response);
  const body = Buffer.isBuffer(response.body) ? Readable.from([response.body]) : response.body;
  if (encoding === 'identity') return body;
  const decoder = DECODERS.get(encoding)?.();
  // The reader of the decoder gets what goes wrong with either of them.
  return decoder && pipeline(body, decoder, () => {});
};

export interface BodyStart {
  text: string;
  /** False where the bound cut it off. */
  isWhole: boolean;
}

/** Reads at most `maxBytes`, counted after decompression: a small answer can become a very large one. */
export const readBody = async (body: Readable, maxBytes: number): Promise<BodyStart> => {
  const chunks: Buffer[] = [];
  let size = 0;
  // By its events: an iterator costs a quiet poll more than all that it reads.
  await new Promise<void>((resolve, reject) => {
    body.on('error', reject).on('end', resolve);
    body.on('close', () => reject(new Error('the answer ended early')));
    body.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      resolve();
      body.destroy();
    });
  });
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBytes));
  return { text, isWhole: size <= maxBytes };
};
