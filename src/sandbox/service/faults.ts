/** What goes wrong with a service's answers: which fault, for which requests, how often. `answer.ts` carries them out. */
import type { JsonValue } from '../json.ts';
import type { Random } from '../random.ts';
import type { Endpoint } from './routes.ts';

export type Fault =
  /** Answers with this status instead. `retryAfter` is sent as it is: seconds or an HTTP date. */
  | { kind: 'status'; status: number; retryAfter?: number | string; body?: string; contentType?: string }
  /** The connection is reset before any answer. */
  | { kind: 'reset' }
  /** Never answers. */
  | { kind: 'hang' }
  /** The right answer, a byte at a time with pauses, `durationMs` in all. */
  | { kind: 'slow'; durationMs: number }
  /** Headers and half the answer, then the connection is reset. */
  | { kind: 'cut' }
  /** A complete HTTP answer that holds half of the JSON. */
  | { kind: 'truncated' }
  | { kind: 'invalid-json' }
  /** The right JSON under another content type. */
  | { kind: 'wrong-type'; contentType: string }
  /** The right JSON after this many bytes of white space. */
  | { kind: 'huge'; bytes: number }
  /** 200 without a body. */
  | { kind: 'empty' }
  | { kind: 'redirect'; location: string; status?: 301 | 302 | 303 | 307 | 308 }
  /** One more item in the page that cannot be understood; its neighbours are whole. */
  | { kind: 'malformed-item'; item?: JsonValue }
  /** Valid JSON of the wrong shape. */
  | { kind: 'wrong-shape'; body: JsonValue };

/** Which requests a fault is for; what is left out matches all. */
interface FaultTarget {
  endpoint?: Endpoint;
  /** A protocol that the path or the query names. */
  protocol?: string;
  apiKey?: string;
}

export interface FaultRule extends FaultTarget {
  fault: Fault;
  /** How often it applies before it is removed. Default 1; `Infinity` until cleared. */
  times?: number;
  /** Chance that it applies to a request it matches. Default 1. */
  probability?: number;
  /** Requests let through before it begins. Default 0. */
  after?: number;
}

/** A request as far as faults look at it. */
interface FaultSubject {
  endpoint: Endpoint | undefined;
  protocols: readonly string[];
  apiKey: string | undefined;
}

export interface Faults {
  /** Queues a fault; the first rule that matches a request applies to it. Gives a function that takes the rule back. */
  add(rule: FaultRule): () => void;
  clear(): void;
  /** Rules that can still apply. */
  pending(): number;
  /** The fault for this request; counts as one application of its rule. */
  take(subject: FaultSubject): Fault | undefined;
}

interface LiveRule {
  rule: FaultRule;
  left: number;
  skip: number;
}

const matches = ({ endpoint, protocol, apiKey }: FaultTarget, subject: FaultSubject): boolean =>
  (endpoint === undefined || endpoint === subject.endpoint) &&
  (protocol === undefined || subject.protocols.includes(protocol)) &&
  (apiKey === undefined || apiKey === subject.apiKey);

export const createFaults = (random: Random): Faults => {
  let rules: LiveRule[] = [];
  const applies = (live: LiveRule, subject: FaultSubject): boolean => {
    if (!matches(live.rule, subject)) return false;
    if (live.skip > 0) {
      live.skip -= 1;
      return false;
    }
    return random.chance(live.rule.probability ?? 1);
  };
  return {
    add: (rule) => {
      const live = { rule, left: rule.times ?? 1, skip: rule.after ?? 0 };
      rules.push(live);
      return () => {
        rules = rules.filter((other) => other !== live);
      };
    },
    clear: () => {
      rules = [];
    },
    pending: () => rules.length,
    take: (subject) => {
      const applied = rules.find((live) => applies(live, subject));
      if (!applied) return undefined;
      applied.left -= 1;
      if (applied.left <= 0) rules = rules.filter((live) => live !== applied);
      return applied.rule.fault;
    },
  };
};
