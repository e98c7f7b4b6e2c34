/** How every HTTP receiver treats a message: script first, then rate, then the provider's own checks. */
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonValue } from '../json.ts';
import { resetConnection } from '../listener.ts';
import { createRates, type RateRule } from './rates.ts';
import { createMessageStore, type ReceiverKind, type ReceiverView } from './received.ts';
import { createScript, type Script } from './script.ts';

export interface HttpAnswer {
  status: number;
  headers?: Record<string, string>;
  /** Text as it is; anything else as JSON. Default empty. */
  body?: JsonValue;
}

/** With `recorded`, the message is checked and kept as accepted although the sender gets another answer, or none. */
export type HttpVerdict =
  | ({ kind: 'answer'; recorded?: boolean } & HttpAnswer)
  | { kind: 'hang'; recorded?: boolean }
  | { kind: 'reset'; recorded?: boolean }
  /** The usual treatment, answered late. */
  | { kind: 'slow'; durationMs: number };

/** The outcome of a provider's checks. `accepted` only where they all passed. */
export interface Judgement<Raw> {
  answer: HttpAnswer;
  code: string;
  accepted?: { text: string; raw: Raw; id?: string; partOf?: string };
}

export interface HttpReceiver<Raw> {
  /** With `call`, a message that comes by another method than usual: its script is that method's, and no rate holds. */
  receive(response: ServerResponse, destination: string, judge: () => Judgement<Raw>, call?: string): Promise<void>;
  /** Calls that carry no message: only their own script is asked, with the method as the destination. */
  answer(response: ServerResponse, method: string, usual: () => HttpAnswer): Promise<void>;
  view: ReceiverView<Raw>;
  script: Script<HttpVerdict>;
  callScript: Script<HttpVerdict>;
}

/** Options that all HTTP receivers share. */
export interface HttpReceiverOptions {
  /** Enforced with the provider's own 429. Default none. */
  rates?: readonly RateRule[];
  /** Epoch milliseconds. Default `Date.now`. */
  now?: () => number;
  /** Messages and attempts kept. Default 10,000. */
  keep?: number;
}

const encode = (body: JsonValue | undefined): { type: string; text: string } => {
  if (body === undefined) return { type: 'text/plain; charset=utf-8', text: '' };
  if (typeof body === 'string') return { type: 'text/plain; charset=utf-8', text: body };
  return { type: 'application/json; charset=utf-8', text: JSON.stringify(body) };
};

export const sendHttp = (response: ServerResponse, { status, headers = {}, body }: HttpAnswer): void => {
  const { type, text } = encode(body);
  response.writeHead(status, { 'content-type': type, ...headers }).end(text);
};

const play = (response: ServerResponse, verdict: Exclude<HttpVerdict, { kind: 'slow' }>): void => {
  if (verdict.kind === 'answer') sendHttp(response, verdict);
  if (verdict.kind === 'reset') resetConnection(response);
};

export const createHttpReceiver = <Raw>(
  kind: ReceiverKind,
  limited: (waitMs: number) => HttpAnswer,
  { rates: rules = [], now = Date.now, keep }: HttpReceiverOptions = {},
): HttpReceiver<Raw> => {
  const { add, addAttempt, view } = createMessageStore<Raw>(kind, now, keep);
  const script = createScript<HttpVerdict>();
  const callScript = createScript<HttpVerdict>();
  const rates = createRates(rules, now);
  const settle = (destination: string, { accepted }: Judgement<Raw>): void => {
    if (accepted) add(destination, accepted);
  };

  const verdictOn = (destination: string, call: string | undefined): HttpVerdict | undefined =>
    call === undefined ? script.take(destination) : callScript.take(call);
  const waitOf = (destination: string, call: string | undefined): number =>
    call === undefined ? rates.take(destination) : 0;

  return {
    receive: async (response, destination, judge, call) => {
      const verdict = verdictOn(destination, call);
      if (verdict && verdict.kind !== 'slow') {
        addAttempt(destination, 'scripted', verdict.kind === 'answer' ? String(verdict.status) : verdict.kind);
        if (verdict.recorded) settle(destination, judge());
        return play(response, verdict);
      }
      const waitMs = waitOf(destination, call);
      if (waitMs > 0) {
        addAttempt(destination, 'limited', '429');
        return sendHttp(response, limited(waitMs));
      }
      const judgement = judge();
      addAttempt(destination, judgement.accepted ? 'accepted' : 'refused', judgement.code);
      settle(destination, judgement);
      if (verdict) await delay(verdict.durationMs, undefined, { ref: false });
      return sendHttp(response, judgement.answer);
    },
    answer: async (response, method, usual) => {
      const verdict = callScript.take(method);
      if (verdict && verdict.kind !== 'slow') return play(response, verdict);
      if (verdict) await delay(verdict.durationMs, undefined, { ref: false });
      return sendHttp(response, usual());
    },
    view,
    script,
    callScript,
  };
};
