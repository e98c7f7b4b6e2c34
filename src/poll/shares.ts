/**
 * Which daemon polls which streams, by nothing but who lives: the one with the highest weight for it, so that few streams
 * move when a daemon comes or goes. Every daemon reckons the same, so nobody asks, takes or gives back. While two of them
 * see others, a stream may be polled by both or by none for a moment; nothing that is written depends on this.
 */
import { contentId } from '../identity.ts';
import { type Stream, streamKey } from './stream.ts';

const numberOf = (hex: string): number => Number.parseInt(hex.slice(0, 8), 16);

/** Spreads the bits of both over 32. */
const mix = (a: number, b: number): number => {
  let mixed = Math.imul(a ^ (b >>> 15), 0x2c1b3c6d) ^ b;
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
};

/** Gives whether a stream is `own`'s. `readers`: the ids of all that share the service; one that is not among them has none. */
export const createShare = (own: string, readers: readonly string[]): ((stream: Stream) => boolean) => {
  if (!readers.includes(own)) return () => false;
  const others = readers.filter((id) => id !== own).map((id) => ({ id, seed: numberOf(contentId(id)) }));
  const ownSeed = numberOf(contentId(own));
  return (stream) => {
    const key = numberOf(streamKey(stream));
    const weight = mix(key, ownSeed);
    return others.every(({ id, seed }) => {
      const other = mix(key, seed);
      return weight > other || (weight === other && own < id);
    });
  };
};
