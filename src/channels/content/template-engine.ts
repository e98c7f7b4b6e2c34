/**
 * Liquid without files and without clocks: every step of a template is counted, so that none of them makes the daemon stand
 * still, whatever a chain or a service says. LiquidJS counts by itself, but not in all of its filters, and neither
 * comparisons nor what is written; so only filters and tags that were looked at are here.
 * Source: https://liquidjs.com/tutorials/dos.html
 */
import { createRequire } from 'node:module';
import type * as Liquidjs from 'liquidjs';
import type { Arguments, Context, Emitter, Liquid, LiquidOptions, Operators, Template } from 'liquidjs';
import { cleanLine } from '../../text.ts';

type Library = typeof Liquidjs;
type Argument = Arguments extends Iterable<infer One> ? One : never;

/** Those that look at each part of what they get, once or nearly so, and put no list into a list. docs/templates.md lists them. */
export const FILTERS: ReadonlySet<string> = new Set(
  [
    'append capitalize default downcase lstrip prepend remove remove_first remove_last replace replace_first replace_last',
    'rstrip size slice split squish strip strip_html strip_newlines truncate truncatewords upcase url_encode',
    'compact concat find first has join last map reject reverse sort sort_natural sum uniq where',
    'abs at_least at_most ceil divided_by floor minus modulo plus round times',
  ].flatMap((names) => names.split(' ')),
);

export const TAGS: ReadonlySet<string> = new Set(
  'assign break capture case comment continue echo for if liquid raw unless #'.split(' '),
);

/** Steps of one rendering: about one for an entry of a list, a value, and a character that is written or made. */
const STEPS = 20_000;
/** Only a second bound, where a machine is very slow. */
const RENDER_LIMIT_MS = 1000;
const LONGEST_TEMPLATE = 20_000;

/** Looking at this much of a text is a step. */
const CHARACTERS_A_STEP = 100;

/** Steps that it takes to look at a value once; looks no further than the limit. */
const weightOf = (value: unknown): number => {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS_A_STEP;
  if (!Array.isArray(value)) return 1;
  let sum = 1;
  for (const one of value) {
    sum += weightOf(one);
    if (sum > STEPS) break;
  }
  return sum;
};

/** At worst each part of one value is compared with each part of the others. */
const charge = ({ memoryLimit }: Context, values: readonly unknown[]): void =>
  memoryLimit.use(values.length + values.reduce<number>((product, value) => product * weightOf(value), 1));

const boundedFilters = (engine: Liquid): void => {
  for (const [name, filter] of Object.entries(engine.filters)) {
    engine.unregisterFilter(name);
    if (!FILTERS.has(name)) continue;
    const handler = typeof filter === 'function' ? filter : filter.handler;
    engine.registerFilter(name, function (value: unknown, ...others: unknown[]) {
      charge(this.context, [value, ...others]);
      return handler.call(this, value, ...others);
    });
  }
};

const boundedOperators = (operators: Operators): Operators =>
  Object.fromEntries(
    Object.entries(operators).map(([sign, operator]) => {
      if (sign === 'not') return [sign, operator];
      const bounded = (left: unknown, right: unknown, context: Context) => {
        charge(context, [left, right]);
        return operator(left, right, context);
      };
      return [sign, bounded];
    }),
  );

/** It compares by itself, without the operators. */
const boundedCase = ({ CaseTag, evalToken }: Library) =>
  class extends CaseTag {
    override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
      const values = this.branches.flatMap((branch) => branch.values);
      const value = yield this.value.value(context);
      for (const token of values) charge(context, [value, yield evalToken(token, context)]);
      yield* super.render(context, emitter);
    }
  };

/** A text as LiquidJS writes it, of lists without anything between their entries; its own function for that is not public. */
const written = (value: unknown): string => (Array.isArray(value) ? value.map(written).join('') : String(value ?? ''));

/** What is written or captured counts with each character. */
const boundedEmitter = ({ memoryLimit }: Context, { toValue }: Library): Emitter => {
  let buffer = '';
  return {
    get buffer() {
      return buffer;
    },
    write: (value: unknown) => {
      memoryLimit.use(weightOf(value));
      const text = written(toValue(value));
      memoryLimit.use(text.length);
      buffer += text;
    },
  };
};

/** What a node evaluates itself, without the nodes in it: its conditions, arguments and modifiers. */
const partsOf = (argument: Argument): number =>
  'initial' in argument
    ? argument.initial.postfix.length + argument.filters.reduce((sum, { args }) => sum + 1 + args.length, 0)
    : 1;

const nodeCost = (node: Template): number =>
  [...(node.arguments?.() ?? [])].reduce((sum, argument) => sum + partsOf(argument), 1);

/**
 * Each turn of a loop and each block counts with all that stands in it. No option of LiquidJS bounds that: 10.30 declares a
 * `templateLimit`, and does not read it. So its renderer is wrapped, through which every block goes.
 */
const boundedNodes = ({ renderer }: Liquid, library: Library): void => {
  const costs = new WeakMap<readonly Template[], number>();
  const costOf = (nodes: readonly Template[]): number => {
    const known = costs.get(nodes) ?? nodes.reduce((sum, node) => sum + nodeCost(node), 1);
    costs.set(nodes, known);
    return known;
  };
  const render = renderer.renderTemplates.bind(renderer);
  renderer.renderTemplates = (nodes, context, emitter = boundedEmitter(context, library)) => {
    context.memoryLimit.use(costOf(nodes));
    return render(nodes, context, emitter);
  };
};

const require = createRequire(import.meta.url);

/** Loads the library: most configs have no template. */
export const createTemplateEngine = (): Liquid => {
  const library = require('liquidjs') as Library;
  const options: LiquidOptions = {
    ...{ memoryLimit: STEPS, renderLimit: RENDER_LIMIT_MS, parseLimit: LONGEST_TEMPLATE },
    ...{ templates: {}, ownPropertyOnly: true, strictFilters: true, strictVariables: true },
    operators: boundedOperators(library.defaultOperators),
  };
  const engine = new library.Liquid(options);
  for (const name of Object.keys(engine.tags)) if (!TAGS.has(name)) delete engine.tags[name];
  engine.registerTag('case', boundedCase(library));
  boundedFilters(engine);
  boundedNodes(engine, library);
  return engine;
};

/** An error of the engine in words that an operator can act on, in one line. */
export const engineProblem = (error: unknown): string => {
  const [problem = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
  const isUnknown = /^(?:undefined filter: |tag ".*" not found)/.test(problem);
  const steps = `it does more than ${STEPS.toLocaleString('en')} steps`;
  const advice = isUnknown ? '; docs/templates.md lists those that exist' : '';
  return cleanLine(`${problem.replace('memory alloc limit exceeded', steps)}${advice}`);
};
