/** One request and its answer: its headers, and its body, decompressed and taken in up to a bound only. */
import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type Dispatcher, errors, type Pool } from 'undici';

export interface Response {
  statusCode: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Whole where it was asked to be small and is; else a stream, which has to be read to its end or destroyed. */
  body: Readable | Buffer;
}

/** A larger answer is read as a stream. */
const MOST_WHOLE_BYTES = 65_536;

/** An answer that says how long it is, is not compressed, and refuses nothing. */
const isSmall = (statusCode: number, headers: Response['headers'], maxBytes: number): boolean => {
  const { 'content-length': length, 'content-encoding': encoding } = headers;
  const isPlain = statusCode >= 200 && statusCode <= 299 && encoding === undefined;
  return isPlain && typeof length === 'string' && Number(length) <= Math.min(MOST_WHOLE_BYTES, maxBytes);
};

const streamOf = (controller: Dispatcher.DispatchController, isOver: () => boolean): Readable =>
  new Readable({
    read: () => {
      if (!isOver()) controller.resume();
    },
    destroy: (error, callback) => {
      // Its connection is free again, and may have another request by now.
      if (!isOver()) controller.abort(error ?? new errors.RequestAbortedError());
      callback(error);
    },
  });

interface Exchange {
  /** Rejects where no answer began. */
  response: Promise<Response>;
  /** A stream that has begun ends with an error, as with that of what came later. */
  abort(): void;
}

/**
 * A small answer comes whole and without a stream: undici would make one of each, which costs a poll that finds nothing a
 * third of its CPU. `maxBytes`: no more is held whole.
 */
export const exchange = (pool: Pool, request: Dispatcher.DispatchOptions, maxBytes: number): Exchange => {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  let isOver = false;
  let isAborted = false;
  let started: Dispatcher.DispatchController | undefined;
  let stream: Readable | undefined;
  let answer: Pick<Response, 'statusCode' | 'headers'> | undefined;
  const whole: Buffer[] = [];
  const fail = (error: Error): void => {
    reject(error);
    stream?.destroy(error);
  };
  const abort = (): void => {
    isAborted = true;
    const error = new errors.RequestAbortedError();
    fail(error);
    started?.abort(error);
  };
  pool.dispatch(request, {
    onRequestStart: (controller) => {
      started = controller;
      if (isAborted) abort();
    },
    onResponseStart: (controller, statusCode, headers) => {
      if (statusCode < 200) return;
      answer = { statusCode, headers };
      if (isSmall(statusCode, headers, maxBytes)) return;
      stream = streamOf(controller, () => isOver);
      // It fails before anybody reads it.
      stream.on('error', () => {});
      resolve({ ...answer, body: stream });
    },
    onResponseData: (controller, chunk) => {
      if (stream === undefined) whole.push(chunk);
      else if (!stream.push(chunk)) controller.pause();
    },
    onResponseEnd: () => {
      isOver = true;
      if (stream !== undefined) stream.push(null);
      else if (answer !== undefined) resolve({ ...answer, body: Buffer.concat(whole) });
    },
    onResponseError: (_controller, error) => {
      isOver = true;
      fail(error);
    },
  });
  return { response: promise, abort };
};

/** The first value of a header; names are lower-case. */
export const headerOf = ({ headers }: Response, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

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

const decoder = new TextDecoder();
/** UTF-8. One decoder for all, as it costs more to make than to use. */
export const decodeText = (bytes: Uint8Array): string => decoder.decode(bytes);

export interface BodyStart {
  text: string;
  /** False where the bound cut it off. */
  isWhole: boolean;
}

/** Reads at most `maxBytes`, counted after decompression: a small answer can become a very large one. */
export const readBody = async (body: Readable, maxBytes: number): Promise<BodyStart> => {
  const chunks: Buffer[] = [];
  let size = 0;
  // By its events: an iterator costs a poll that finds nothing more than all that it reads.
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
  const text = decodeText(Buffer.concat(chunks).subarray(0, maxBytes));
  return { text, isWhole: size <= maxBytes };
};

/** Twice as many as the largest answer holds where it is full of real items. */
export const MOST_VALUES = 2_000_000;

/** A smaller answer cannot hold enough of them to matter, and is not searched. */
const SEARCHED_FROM = MOST_VALUES / 2;

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const COMMA = ','.charCodeAt(0);
const OPENING: readonly number[] = ['['.charCodeAt(0), '{'.charCodeAt(0)];

/** The quote that ends the text whose quote is at `from`. */
const endOfText = (json: string, from: number): number => {
  for (let at = json.indexOf('"', from + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let escapes = 0;
    while (json.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return json.length;
};

/**
 * Where an answer begins to hold too many values; undefined where it does not. Found before it is parsed: of 20 MB of `{},`
 * the parser makes a gigabyte. By what comes before each value: a comma or an opening bracket.
 */
export const tooManyValuesAt = (json: string, most = MOST_VALUES): number | undefined => {
  if (json.length <= Math.min(SEARCHED_FROM, most)) return undefined;
  let count = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at);
    else if (code === COMMA || OPENING.includes(code)) count += 1;
    if (count > most) return at;
  }
  return undefined;
};
