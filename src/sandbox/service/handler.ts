/** One request from arrival to answer: log, key, route, fault, endpoint, answer. */
import type { Journal } from '../journal.ts';
import type { JsonValue } from '../json.ts';
import type { Exchange } from '../listener.ts';
import { type Answer, errorAnswer, jsonAnswer, sendAnswer, spoilAnswer, spoilJson } from './answer.ts';
import type { Call } from './endpoints.ts';
import type { Fault, Faults } from './faults.ts';
import { type Query, readQuery } from './query.ts';
import type { Quirks } from './quirks.ts';
import { Refusal } from './refusal.ts';
import { type Endpoint, findRoute, type Route } from './routes.ts';
import { dressAnswer } from './wire.ts';

export interface RequestRecord {
  method: string;
  /** As it came, without the query. */
  path: string;
  /** Decoded; every value of a name. */
  query: Record<string, string[]>;
  headers: Exchange['headers'];
  body: string;
  /** Epoch milliseconds by our clock. */
  at: number;
  endpoint?: Endpoint;
  /** Protocols that the path or the query names. */
  protocols: string[];
  fault?: Fault['kind'];
  /** The wait that the answer named, as it was sent. */
  retryAfter?: string;
  /** Absent while the answer is not begun, and for good where none is given. */
  status?: number;
}

interface HandlerDependencies {
  basePath: string;
  keys: ReadonlySet<string>;
  endpoints: Record<Endpoint, (call: Call) => JsonValue>;
  faults: Faults;
  quirks(): Readonly<Quirks>;
  requests: Journal<RequestRecord>;
  /** Called with every request once its answer is on its way. */
  onAnswered(request: RequestRecord): void;
  /** Our clock. */
  now(): number;
}

/** The request is not looked at any further: the answer is the fault. */
const REPLACING: ReadonlySet<Fault['kind']> = new Set(['status', 'reset', 'hang', 'redirect', 'empty', 'invalid-json']);

const BEARER = /^Bearer +(\S+)$/i;

const keyOf = ({ headers }: Exchange): string | undefined => BEARER.exec(headers.authorization ?? '')?.[1];

const groupQuery = (raw: string): Record<string, string[]> => {
  const params = new URLSearchParams(raw);
  return Object.fromEntries([...params.keys()].map((name) => [name, params.getAll(name)]));
};

const createRecord = (exchange: Exchange, at: number): RequestRecord => ({
  method: exchange.method,
  path: exchange.path,
  query: groupQuery(exchange.query),
  headers: exchange.headers,
  body: exchange.body.toString(),
  at,
  protocols: [],
});

/** A refusal is an answer as well; what else is thrown is a mistake of ours. */
const refusing = <Value>(act: () => Value): Value | Refusal => {
  try {
    return act();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
};

export const createHandler = (parts: HandlerDependencies): ((exchange: Exchange) => Promise<void>) => {
  const routeOf = ({ method, path }: Exchange): Route => {
    if (!path.startsWith(`${parts.basePath}/`)) throw new Refusal(404, 'no such path');
    return findRoute(method, path.slice(parts.basePath.length));
  };

  const run = (exchange: Exchange, route: Route, query: Query, quirks: Quirks): JsonValue => {
    const apiKey = keyOf(exchange);
    if (apiKey === undefined || !parts.keys.has(apiKey)) throw new Refusal(401, 'the API key is missing or unknown');
    const { endpoint, protocol = '', place } = route;
    const answer = parts.endpoints[endpoint]({ apiKey, protocol, place, query, quirks, body: exchange.body });
    return dressAnswer(answer, quirks);
  };

  const answerTo = (act: () => JsonValue, fault: Fault | undefined, quirks: Quirks): Answer => {
    if (fault && REPLACING.has(fault.kind)) return spoilAnswer(jsonAnswer(200, null), fault);
    const value = refusing(act);
    const answer =
      value instanceof Refusal
        ? errorAnswer(value.status, value.message, quirks)
        : jsonAnswer(200, spoilJson(value, fault));
    return spoilAnswer(answer, fault);
  };

  return async (exchange) => {
    const quirks = parts.quirks();
    const record = createRecord(exchange, parts.now());
    parts.requests.add(record);
    const query = readQuery(exchange.query, quirks.arrayParams);
    const route = refusing(() => routeOf(exchange));
    if (!(route instanceof Refusal)) {
      record.endpoint = route.endpoint;
      record.protocols = route.protocol === undefined ? (query.many('protocolName') ?? []) : [route.protocol];
    }
    const fault = parts.faults.take({
      endpoint: record.endpoint,
      protocols: record.protocols,
      apiKey: keyOf(exchange),
    });
    if (fault) record.fault = fault.kind;
    const act = (): JsonValue => {
      if (route instanceof Refusal) throw route;
      return run(exchange, route, query, quirks);
    };
    const answer = answerTo(act, fault, quirks);
    if (fault?.kind !== 'hang' && fault?.kind !== 'reset') record.status = answer.status;
    if (answer.headers['retry-after'] !== undefined) record.retryAfter = answer.headers['retry-after'];
    exchange.response.setHeader('date', new Date(parts.now() + quirks.clockSkewMs).toUTCString());
    const sent = sendAnswer(exchange.response, answer, fault, quirks);
    parts.onAnswered(record);
    await sent;
  };
};
