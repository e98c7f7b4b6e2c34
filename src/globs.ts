/** Globs on names, as the config writes them. */
import picomatch from 'picomatch';

/** True for a text that one of the globs fits. Names are plain text, so `*` also crosses a `/` or a line end in a name. */
export const createGlobs = (
  globs: readonly string[],
  { ignoreCase = false }: { ignoreCase?: boolean } = {},
): ((text: string) => boolean) => {
  const options = { bash: true, dot: true, nonegate: true, flags: ignoreCase ? 'si' : 's' } as const;
  const tests = globs.map((glob) => picomatch(glob, options));
  return (text) => globs.includes(text) || tests.some((test) => test(text));
};
