/** Requests to the ops server, taken apart, and answers to them. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Answer {
  code: number;
  type: string;
  body: string | Buffer;
  /** Besides those of every answer, or instead. */
  headers?: Readonly<Record<string, string>>;
}

/** A request, taken apart. */
export interface Asked {
  path: string;
  query: URLSearchParams;
  request: IncomingMessage;
}

/** Pages for people, such as `ops/page`. */
export interface OpsPages {
  /** Undefined: it has no such page. */
  answer(asked: Asked): Promise<Answer> | undefined;
  /** Answers by itself, for as long as it likes; false: it does not. */
  stream(asked: Asked, response: ServerResponse): boolean;
}

export const TEXT_TYPE = 'text/plain; charset=utf-8';

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  // With `no-referrer` a browser names no origin when it sends a form of ours.
  'referrer-policy': 'same-origin',
};

export const ONLY_READ: Answer = {
  code: 405,
  type: TEXT_TYPE,
  body: 'only GET and HEAD\n',
  headers: { allow: 'GET, HEAD' },
};

export const send = (
  request: IncomingMessage,
  response: ServerResponse,
  { code, type, body, headers }: Answer,
): void => {
  const all = { ...HEADERS, ...headers, 'content-type': type, 'content-length': Buffer.byteLength(body) };
  response.writeHead(code, all);
  response.end(request.method === 'HEAD' ? undefined : body);
};

export const askedOf = (request: IncomingMessage): Asked => {
  const [path = '/', query = ''] = (request.url ?? '/').split('?', 2);
  return { path, query: new URLSearchParams(query), request };
};
