/** Transactions that a text names. */

/** As a whole: neither a part of longer hexadecimal data nor of a word. */
const HASH = /(?<![0-9a-z])0x[0-9a-f]{64}(?![0-9a-z])/gi;

/** Hashes in lower case, each once, in their order. */
export const transactionsIn = (text: string): string[] => [
  ...new Set(Array.from(text.matchAll(HASH), ([hash]) => hash.toLowerCase())),
];
