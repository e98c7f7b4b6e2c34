import picomatch from 'picomatch';

/** `protocols.include` and `exclude` as one question. Names are plain text, so `*` also crosses a `/` in a name. */
export const createNameFilter = (
  include: readonly string[],
  exclude: readonly string[],
): ((name: string) => boolean) => {
  const options = { bash: true, dot: true, nonegate: true } as const;
  const matches = (globs: readonly string[]) => {
    const tests = globs.map((glob) => picomatch(glob, options));
    return (name: string) => globs.includes(name) || tests.some((test) => test(name));
  };
  const isIncluded = matches(include);
  const isExcluded = matches(exclude);
  return (name) => isIncluded(name) && !isExcluded(name);
};
