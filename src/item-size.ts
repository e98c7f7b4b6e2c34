/** How large an item is, and what is kept of one that is too large. Pure. */
import { hasFired, type JsonObject, type JsonValue } from './alert.ts';
import { beginningOf } from './text.ts';

/** In bytes, as JSON. An item goes into the job of each of its destinations, and into each of its messages. */
export const LARGEST_ITEM = 256 * 1024;

const sizes = new WeakMap<JsonObject, number>();

/** Bytes of its JSON. Each item is measured once. */
export const itemSize = (item: JsonObject): number => {
  const known = sizes.get(item) ?? Buffer.byteLength(JSON.stringify(item));
  sizes.set(item, known);
  return known;
};

/** How much is kept of a text in it, and of a list. */
interface Room {
  text: number;
  list: number;
}

/** The first that makes it small enough. */
const ROOMS: readonly Room[] = [
  { text: 16_000, list: 1000 },
  { text: 4000, list: 200 },
  { text: 1000, list: 50 },
  { text: 250, list: 10 },
  { text: 250, list: 0 },
];

const cutText = (text: string, most: number): string =>
  text.length <= most ? text : `${beginningOf(text, most)}… (${text.length - most} characters left out)`;

const cutValue = (value: JsonValue, room: Room): JsonValue => {
  if (typeof value === 'string') return cutText(value, room.text);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, room.list).map((one) => cutValue(one, room));
  return cutEntries(Object.entries(value), room);
};

const cutEntries = (entries: readonly [string, JsonValue][], room: Room): JsonObject =>
  Object.fromEntries(
    entries.slice(0, room.list).map(([key, value]) => [cutText(key, room.text), cutValue(value, room)]),
  );

const isScalar = (value: JsonValue): boolean => typeof value !== 'object' || value === null;

/** What names the item, and the detectors that fired, come first: what comes last is left out. */
const ordered = (item: JsonObject): JsonObject => {
  const { detections } = item;
  const isObject = typeof detections === 'object' && detections !== null && !Array.isArray(detections);
  const fired = isObject
    ? Object.entries(detections).toSorted(([, one], [, other]) => Number(hasFired(other)) - Number(hasFired(one)))
    : [];
  const entries = Object.entries(isObject ? { ...item, detections: Object.fromEntries(fired) } : item);
  return Object.fromEntries(entries.toSorted(([, one], [, other]) => Number(isScalar(other)) - Number(isScalar(one))));
};

/** An item of at most `most` bytes: itself, or what is kept of it. */
export const boundItem = (item: JsonObject, most = LARGEST_ITEM): JsonObject => {
  if (itemSize(item) <= most) return item;
  const whole = ordered(item);
  // A list that has no room at all still leaves the item's own short fields.
  const own = Math.max(20, Math.min(Object.keys(whole).length, 200));
  for (const room of ROOMS) {
    const kept = Object.fromEntries(
      Object.entries(whole)
        .slice(0, own)
        .map(([key, value]) => [cutText(key, room.text), cutValue(value, room)]),
    );
    if (itemSize(kept) <= most) return kept;
  }
  return {};
};
