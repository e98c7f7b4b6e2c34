/** Puts an answer on the wire, whole or spoiled by a fault. */

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { isObject, type JsonValue } from '../json.ts';
import { resetConnection } from '../listener.ts';
import type { Fault } from './faults.ts';
import type { Quirks } from './quirks.ts';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

export const jsonAnswer = (status: number, value: JsonValue): Answer => ({
  status,
  headers: JSON_TYPE,
  body: JSON.stringify(value),
});

/** An error as the service words it. */
export const errorAnswer = (status: number, message: string, { errorBody }: Quirks): Answer => {
  switch (errorBody) {
    case 'json':
      return jsonAnswer(status, { statusCode: status, message });
    case 'nested':
      return jsonAnswer(status, { error: { errors: [{ code: `E${status}`, detail: message }] } });
    case 'array':
      return jsonAnswer(status, [message]);
    case 'text':
      return { status, headers: { 'content-type': 'text/plain' }, body: message };
    case 'html':
      return {
        status,
        headers: { 'content-type': 'text/html' },
        body: `<!doctype html><title>${status}</title><h1>${message}</h1>`,
      };
    case 'empty':
      return { status, headers: {}, body: '' };
  }
};

const MALFORMED: JsonValue = { _id: 42, assessment: ['critical'], detections: 'x', createdAt: 'not a date' };

const withMalformed = (answer: JsonValue, item: JsonValue): JsonValue => {
  if (Array.isArray(answer)) return answer.map((element) => withMalformed(element, item));
  if (!isObject(answer) || !Array.isArray(answer.page)) return answer;
  const middle = Math.floor(answer.page.length / 2);
  return { ...answer, page: answer.page.toSpliced(middle, 0, item) };
};

/** Faults that leave a readable answer. */
export const spoilJson = (answer: JsonValue, fault: Fault | undefined): JsonValue => {
  if (fault?.kind === 'wrong-shape') return fault.body;
  if (fault?.kind !== 'malformed-item') return answer;
  return withMalformed(answer, fault.item === undefined ? MALFORMED : fault.item);
};

const half = (text: string): string => text.slice(0, Math.max(1, Math.floor(text.length / 2)));

/** Faults that leave a complete HTTP answer. */
export const spoilAnswer = (answer: Answer, fault: Fault | undefined): Answer => {
  switch (fault?.kind) {
    case 'status':
      return {
        status: fault.status,
        headers: {
          'content-type': fault.contentType ?? 'application/json',
          ...(fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }),
        },
        body: fault.body ?? JSON.stringify({ statusCode: fault.status }),
      };
    case 'redirect':
      return { status: fault.status ?? 302, headers: { location: fault.location }, body: '' };
    case 'truncated':
      return { ...answer, body: half(answer.body) };
    case 'invalid-json':
      return { ...answer, body: '{"page": [}' };
    case 'wrong-type':
      return { ...answer, headers: { ...answer.headers, 'content-type': fault.contentType } };
    case 'empty':
      return { status: 200, headers: {}, body: '' };
    default:
      return answer;
  }
};

const SLOW_PIECES = 50;

const trickle = async (response: ServerResponse, body: Buffer, durationMs: number): Promise<void> => {
  const size = Math.max(1, Math.ceil(body.length / SLOW_PIECES));
  for (let at = 0; at < body.length && !response.destroyed; at += size) {
    response.write(body.subarray(at, at + size));
    await delay(durationMs / SLOW_PIECES, undefined, { ref: false });
  }
  response.end();
};

const SPACES = Buffer.alloc(65_536, ' ');

/** In pieces: as one text, 80 MB would block the daemons of a test that share our process for half a second. */
function* padded(body: Buffer, bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= SPACES.length) yield SPACES.subarray(0, left);
  yield body;
}

const COMPRESSED: Record<Quirks['contentEncoding'], (body: Buffer) => Buffer> = {
  identity: (body) => body,
  gzip: (body) => gzipSync(body),
  br: (body) => brotliCompressSync(body),
  deflate: (body) => deflateSync(body),
};

/** Sends, with those faults that break the connection itself. A hanging answer ends when the server stops. */
export const sendAnswer = async (
  response: ServerResponse,
  { status, headers, body }: Answer,
  fault: Fault | undefined,
  { contentEncoding }: Quirks,
): Promise<void> => {
  if (fault?.kind === 'hang') return;
  if (fault?.kind === 'reset') return resetConnection(response);
  if (fault?.kind === 'huge') {
    response.writeHead(status, { ...headers, 'content-length': fault.bytes + Buffer.byteLength(body) });
    // The reader may have had enough of it.
    return pipeline(Readable.from(padded(Buffer.from(body), fault.bytes)), response).catch(() => {});
  }
  const bytes = COMPRESSED[contentEncoding](Buffer.from(body));
  const encoding = contentEncoding === 'identity' ? {} : { 'content-encoding': contentEncoding };
  response.writeHead(status, { ...headers, ...encoding, 'content-length': bytes.length });
  if (fault?.kind === 'slow') return trickle(response, bytes, fault.durationMs);
  if (fault?.kind === 'cut') {
    response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => resetConnection(response));
    return undefined;
  }
  response.end(bytes);
  return undefined;
};
