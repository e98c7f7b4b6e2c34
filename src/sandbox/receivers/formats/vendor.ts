/** A receiver that answers as one vendor does: what it publishes about its API is a list of rules, and nothing else passes. */
import { type JsonValue, parseJson } from '../../json.ts';
import { createHttpListener, type Exchange, type ListenOptions, urlHost } from '../../listener.ts';
import {
  createHttpReceiver,
  type HttpAnswer,
  type HttpReceiverOptions,
  type HttpVerdict,
  type Judgement,
} from '../http-receiver.ts';
import type { ReceiverView } from '../received.ts';
import type { Script } from '../script.ts';
import { stringsIn } from './rules.ts';

export interface VendorRaw {
  method: string;
  path: string;
  query: string;
  /** Lower-cased names. */
  headers: Exchange['headers'];
  body: JsonValue;
}

/** What the vendor makes of a request whose body is JSON; `problems`: why it is refused. */
export interface VendorVerdict {
  answer: HttpAnswer;
  problems: readonly string[];
}

export interface Vendor {
  contentType: RegExp;
  /** Default: POST alone. */
  methods?: readonly string[];
  /** Before the body is looked at: a path or a key that the vendor does not know. */
  admit?(exchange: Exchange): HttpAnswer | undefined;
  /** The JSON in a body of another form, such as one with a file. Default: the body. */
  jsonOf?(exchange: Exchange): string;
  judge(request: VendorRaw, bytes: number): VendorVerdict;
  malformed: HttpAnswer;
  limited(waitMs: number): HttpAnswer;
}

export interface VendorReceiver extends ReceiverView<VendorRaw> {
  start(): Promise<{ url: string; port: number }>;
  stop(): Promise<void>;
  script: Script<HttpVerdict>;
  /** Why the last refused request was refused. */
  problems(): readonly string[];
}

export type VendorOptions = ListenOptions & HttpReceiverOptions;

export const secondsIn = (waitMs: number): string => String(Math.max(1, Math.ceil(waitMs / 1000)));

const refused = (answer: HttpAnswer): Judgement<VendorRaw> => ({ answer, code: String(answer.status) });

export const createVendorReceiver = (vendor: Vendor, options: VendorOptions = {}): VendorReceiver => {
  const { host = '127.0.0.1' } = options;
  const http = createHttpReceiver<VendorRaw>('webhook', vendor.limited, options);
  let problems: readonly string[] = [];

  const judge = (exchange: Exchange): Judgement<VendorRaw> => {
    const { method, path, query, headers, body: bytes } = exchange;
    if (!(vendor.methods ?? ['POST']).includes(method)) return refused({ status: 405 });
    const stopped = vendor.admit?.(exchange);
    if (stopped !== undefined) return refused(stopped);
    if (!vendor.contentType.test(headers['content-type'] ?? '')) return refused({ status: 415 });
    const body = parseJson(vendor.jsonOf?.(exchange) ?? bytes.toString());
    if (body === undefined) return refused(vendor.malformed);
    const verdict = vendor.judge({ method, path, query, headers, body }, bytes.length);
    if (verdict.problems.length > 0) {
      problems = verdict.problems;
      return refused(verdict.answer);
    }
    const accepted = { text: stringsIn(body).join('\n'), raw: { method, path, query, headers, body } };
    return { answer: verdict.answer, code: String(verdict.answer.status), accepted };
  };

  const listener = createHttpListener(options, (exchange) =>
    http.receive(exchange.response, exchange.path, () => judge(exchange)),
  );

  return {
    ...http.view,
    script: http.script,
    problems: () => problems,
    start: async () => {
      const port = await listener.start();
      return { port, url: `http://${urlHost(host)}:${port}` };
    },
    stop: listener.stop,
  };
};
