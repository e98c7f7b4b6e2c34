/**
 * One request and its answer. A small answer comes whole and without a stream: undici would make one of each, which costs
 * a quiet poll a third of its CPU.
 */
import { Readable } from 'node:stream';
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

/** Collects what comes; `push` gives false where it should pause. */
const collector = (): { chunks: Buffer[]; push(chunk: Buffer): boolean } => {
  const chunks: Buffer[] = [];
  return { chunks, push: (chunk) => chunks.push(chunk) > 0 };
};

/** Rejects where no answer began; a stream ends with the error of what came later. `maxBytes`: no more is held whole. */
export const exchange = (
  pool: Pool,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
  maxBytes: number,
): Promise<Response> =>
  new Promise((resolve, reject) => {
    let isOver = false;
    let started: Dispatcher.DispatchController | undefined;
    let stream: Readable | undefined;
    let answer: Pick<Response, 'statusCode' | 'headers'> | undefined;
    const whole = collector();
    const fail = (error: Error): void => {
      reject(error);
      stream?.destroy(error);
    };
    const abort = (): void => {
      const error = new errors.RequestAbortedError();
      fail(error);
      started?.abort(error);
    };
    signal.addEventListener('abort', abort, { once: true });
    pool.dispatch(request, {
      onRequestStart: (controller) => {
        started = controller;
        if (signal.aborted) abort();
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
        if (!(stream ?? whole).push(chunk)) controller.pause();
      },
      onResponseEnd: () => {
        isOver = true;
        if (stream !== undefined) stream.push(null);
        else if (answer !== undefined) resolve({ ...answer, body: Buffer.concat(whole.chunks) });
      },
      onResponseError: (_controller, error) => {
        isOver = true;
        fail(error);
      },
    });
  });
