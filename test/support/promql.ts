/** Which metrics and labels an expression of PromQL names. Knows as much of the language as rules and dashboards use. */

export interface Matcher {
  label: string;
  operator: '=' | '!=' | '=~' | '!~';
  value: string;
}

export interface Selector {
  metric: string;
  matchers: readonly Matcher[];
}

export interface Names {
  selectors: readonly Selector[];
  /** Of `by`, `without`, `on`, `ignoring` and `group_left`. */
  grouping: readonly string[];
}

/** A duration or a variable of a dashboard counts as a number: neither names anything. */
const TOKEN =
  /\s+|(?<text>"(?:[^"\\]|\\.)*")|(?<number>\$\w+|\d[\w.]*)|(?<word>[a-zA-Z_][\w:]*)|(?<sign>=~|!~|[!=<>]=|[-+*/%^()[\]{},:=<>])/y;

const GROUPING = ['by', 'without', 'on', 'ignoring', 'group_left', 'group_right'];
/** Those that may stand before their `by (...)` instead of their bracket. */
const AGGREGATIONS = ['sum', 'min', 'max', 'avg', 'count', 'topk', 'quantile'];
const WORDS = ['and', 'or', 'unless', 'bool', 'offset', ...GROUPING];
const OPERATORS: readonly string[] = ['=', '!=', '=~', '!~'];

interface Token {
  kind: 'text' | 'number' | 'word' | 'sign';
  value: string;
}

const tokensOf = (expression: string): Token[] => {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < expression.length; at = TOKEN.lastIndex) {
    const found = TOKEN.exec(expression);
    if (!found) throw new Error(`not understood from here: ${expression.slice(at)}`);
    for (const [kind, value] of Object.entries(found.groups ?? {})) {
      if (value !== undefined) tokens.push({ kind: kind as Token['kind'], value });
    }
  }
  return tokens;
};

/** From behind a bracket to the one that closes it; there are none between. */
const until = (tokens: readonly Token[], begin: number, end: string): Token[] => {
  const length = tokens.slice(begin).findIndex(({ value }) => value === end);
  if (length < 0) throw new Error(`${end} is missing`);
  return tokens.slice(begin, begin + length);
};

const matchersIn = (tokens: readonly Token[]): Matcher[] =>
  tokens.flatMap(({ kind, value: label }, index) => {
    const [operator, text] = tokens.slice(index + 1, index + 3);
    if (kind !== 'word') return [];
    if (!OPERATORS.includes(operator?.value ?? '') || text?.kind !== 'text') throw new Error(`no matcher: ${label}`);
    return [{ label, operator: operator?.value as Matcher['operator'], value: text.value.slice(1, -1) }];
  });

export const namesOf = (expression: string): Names => {
  const tokens = tokensOf(expression);
  const selectors: Selector[] = [];
  const grouping: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const { kind, value } = tokens[at] ?? { kind: 'sign', value: '' };
    const next = tokens[at + 1]?.value;
    if (value === '{') throw new Error(`a selector without a metric in: ${expression}`);
    if (kind !== 'word') continue;
    if (GROUPING.includes(value) && next === '(') {
      const labels = until(tokens, at + 2, ')');
      grouping.push(...labels.flatMap((label) => (label.kind === 'word' ? label.value : [])));
      at += labels.length + 2;
    } else if (next === '{') {
      const inside = until(tokens, at + 2, '}');
      selectors.push({ metric: value, matchers: matchersIn(inside) });
      at += inside.length + 2;
    } else if (!WORDS.includes(value) && next !== '(' && !AGGREGATIONS.includes(value)) {
      selectors.push({ metric: value, matchers: [] });
    }
  }
  return { selectors, grouping };
};
