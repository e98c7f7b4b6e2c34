/** Addresses with their checksum. Source: EIP-55. Pure. */
import { keccak_256 } from '@noble/hashes/sha3.js';

const mixedCase = (lower: string): string => {
  const hash = keccak_256(new TextEncoder().encode(lower));
  const digits = [...lower].map((digit, index) => {
    const half = (hash[index >> 1] ?? 0) >> (index % 2 === 0 ? 4 : 0);
    return (half & 0xf) >= 8 ? digit.toUpperCase() : digit;
  });
  return `0x${digits.join('')}`;
};

const CHECKSUMS_MAX = 5000;
const checksums = new Map<string, string>();

/**
 * The address with its checksum, so that a mistyped digit shows. Found once for each of the last few
 * thousand: a digest names the same ones again and again.
 */
export const checksumAddress = (address: string): string => {
  const lower = address.slice(2).toLowerCase();
  const known = checksums.get(lower);
  if (known !== undefined) return known;
  const found = mixedCase(lower);
  checksums.set(lower, found);
  if (checksums.size > CHECKSUMS_MAX) checksums.delete(checksums.keys().next().value ?? '');
  return found;
};
