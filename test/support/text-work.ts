/** Counts how many characters of text a piece of work looks at, so that a test can bound it without a clock. */

type Method = (this: unknown, ...args: unknown[]) => unknown;

const OF_STRINGS = ['replace', 'replaceAll', 'split', 'match', 'matchAll', 'trim', 'trimEnd', 'normalize'] as const;
const OF_PATTERNS = ['test', 'exec'] as const;

/** Calls `work`, and gives its result with the characters that the methods of strings and patterns were handed. */
export const countingText = <T>(work: () => T): { result: T; characters: number } => {
  let characters = 0;
  let isNested = false;
  const undo: (() => void)[] = [];
  const count = (prototype: object, name: string, lengthOf: (self: unknown, args: unknown[]) => number): void => {
    const original = Reflect.get(prototype, name) as Method;
    const counted: Method = function (...args) {
      if (isNested) return original.apply(this, args);
      characters += lengthOf(this, args);
      isNested = true;
      try {
        return original.apply(this, args);
      } finally {
        isNested = false;
      }
    };
    Reflect.defineProperty(prototype, name, { value: counted, writable: true, configurable: true });
    undo.push(() => Reflect.defineProperty(prototype, name, { value: original, writable: true, configurable: true }));
  };
  for (const name of OF_STRINGS) count(String.prototype, name, (self) => String(self).length);
  for (const name of OF_PATTERNS) count(RegExp.prototype, name, (_self, [text]) => String(text).length);
  try {
    return { result: work(), characters };
  } finally {
    for (const one of undo) one();
  }
};
