/**
 * Globs on names, as the config writes them: `*`, `?`, `[a-z]`, `[!a]`, `{one,other}`, and `\` before a character that
 * shall stand for itself. Names come from outside, so somebody may make one long on purpose. The match reads the name
 * once and follows all ways through the glob at the same time, so its time is linear in the length of the name.
 */

/** What a glob matches next: `one` matches one character, `star` any number of them. After a `fork` each of the named steps is tried; it matches no character itself. */
type Step =
  | { kind: 'one'; fits(char: string): boolean }
  | { kind: 'star' }
  | { kind: 'fork'; to: number[] }
  | { kind: 'end' };

type Glob = readonly string[];

/** Where the bracket expression that begins at `start` ends; undefined where it is a plain bracket. */
const endOfClass = (glob: Glob, start: number): number | undefined => {
  const isNot = glob[start + 1] === '!' || glob[start + 1] === '^';
  // A `]` in the first place is one of the characters.
  const end = glob.indexOf(']', start + (isNot ? 3 : 2));
  return end === -1 ? undefined : end;
};

const isNegated = (inner: Glob): boolean => inner[0] === '!' || inner[0] === '^';

/** `inner`: what stands between the brackets. */
const rangesOf = (inner: Glob): [from: string, to: string][] => {
  const members = isNegated(inner) ? inner.slice(1) : inner;
  const ranges: [string, string][] = [];
  for (let index = 0; index < members.length; index += 1) {
    const from = members[index] ?? '';
    const to = members[index + 1] === '-' ? members[index + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) index += 2;
  }
  return ranges;
};

const classOf = (inner: Glob): ((char: string) => boolean) => {
  const isNot = isNegated(inner);
  const ranges = rangesOf(inner);
  return (char) => ranges.some(([from, to]) => char >= from && char <= to) !== isNot;
};

/** The last place of what begins at `index`, a character in most cases. */
const endOfUnit = (glob: Glob, index: number): number => {
  if (glob[index] === '\\') return Math.min(index + 1, glob.length - 1);
  return glob[index] === '[' ? (endOfClass(glob, index) ?? index) : index;
};

/** A range that no character is in, such as `z-a`; undefined where the glob has none. */
export const emptyRangeIn = (text: string): string | undefined => {
  const glob = [...text];
  for (let index = 0; index < glob.length; index = endOfUnit(glob, index) + 1) {
    const ranges = glob[index] === '[' ? rangesOf(glob.slice(index + 1, endOfUnit(glob, index))) : [];
    const empty = ranges.find(([from, to]) => from > to);
    if (empty !== undefined) return empty.join('-');
  }
  return undefined;
};

const DEPTH: Readonly<Record<string, number>> = { '{': 1, '}': -1 };

/** The alternatives of the brace at `start` as `[from, until]`; undefined where it is a plain brace. */
const alternativesOf = (glob: Glob, start: number): [number, number][] | undefined => {
  const found: [number, number][] = [];
  let depth = 0;
  for (let index = start, from = start + 1; index < glob.length; index = endOfUnit(glob, index) + 1) {
    const char = glob[index] ?? '';
    depth += DEPTH[char] ?? 0;
    if (depth !== 0 && !(depth === 1 && char === ',')) continue;
    found.push([from, index]);
    from = index + 1;
    if (depth === 0) return found.length > 1 ? found : undefined;
  }
  return undefined;
};

const literal = (char: string): Step => ({ kind: 'one', fits: (other) => other === char });

const compile = (glob: Glob): Step[] => {
  const steps: Step[] = [];

  const addAlternatives = (alternatives: readonly [number, number][]): void => {
    const fork = { kind: 'fork' as const, to: [] as number[] };
    const exits: { kind: 'fork'; to: number[] }[] = [];
    steps.push(fork);
    for (const [from, until] of alternatives) {
      fork.to.push(steps.length);
      add(from, until);
      const exit = { kind: 'fork' as const, to: [] };
      exits.push(exit);
      steps.push(exit);
    }
    for (const exit of exits) exit.to.push(steps.length);
  };

  /** Gives the last place that it has taken. */
  const addUnit = (index: number): number => {
    const char = glob[index] ?? '';
    const end = endOfUnit(glob, index);
    const alternatives = char === '{' ? alternativesOf(glob, index) : undefined;
    if (alternatives) {
      addAlternatives(alternatives);
      return alternatives.at(-1)?.[1] ?? end;
    }
    if (char === '*') steps.push({ kind: 'star' });
    else if (char === '?') steps.push({ kind: 'one', fits: () => true });
    else if (char === '[' && end > index) steps.push({ kind: 'one', fits: classOf(glob.slice(index + 1, end)) });
    else steps.push(literal(glob[end] ?? ''));
    return end;
  };

  const add = (from: number, until: number): void => {
    for (let index = from; index < until; index += 1) index = addUnit(index);
  };

  add(0, glob.length);
  steps.push({ kind: 'end' });
  return steps;
};

const createMatcher = (glob: string): ((text: string) => boolean) => {
  // The default of `protocols.include`.
  if (glob === '*') return () => true;
  const steps = compile([...glob]);

  /** Every step that can be next once one of `starts` is. */
  const reach = (starts: readonly number[]): Set<number> => {
    const reached = new Set<number>();
    const open = [...starts];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (reached.has(index)) continue;
      reached.add(index);
      const step = steps[index];
      if (step?.kind === 'fork') open.push(...step.to);
      if (step?.kind === 'star') open.push(index + 1);
    }
    return reached;
  };

  const advance = (index: number, char: string): readonly number[] => {
    const step = steps[index];
    if (step?.kind === 'star') return [index];
    return step?.kind === 'one' && step.fits(char) ? [index + 1] : [];
  };

  const first = reach([0]);
  return (text) => {
    let now: ReadonlySet<number> = first;
    for (const char of text) {
      now = reach([...now].flatMap((index) => advance(index, char)));
      if (now.size === 0) return false;
    }
    return now.has(steps.length - 1);
  };
};

/** True for a text that one of the globs fits. Names are plain text and no paths: `*` fits a slash, a dot and a line end. */
export const createGlobs = (
  globs: readonly string[],
  { ignoreCase = false }: { ignoreCase?: boolean } = {},
): ((text: string) => boolean) => {
  const plain = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const matchers = globs.map((glob) => createMatcher(plain(glob)));
  return (text) => globs.includes(text) || matchers.some((fits) => fits(plain(text)));
};

const SPECIAL = /[\\*?[\]{},!^]/g;

/** The glob that fits this text and no other. */
export const literalGlob = (text: string): string => text.replace(SPECIAL, '\\$&');
