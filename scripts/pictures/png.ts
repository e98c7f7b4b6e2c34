/** Makes a screenshot small: a palette instead of full colours. Source: https://www.w3.org/TR/png-3/ */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** More make hardly a difference to text on flat grounds. */
const COLORS_MAX = 128;
/** Colours that are nearer than this are one, so that the edges of letters leave room for other colours. */
const NEAR = 20;
/** But for grounds: they cover more than this part of the picture. */
const GROUND = 0.002;

interface Pixels {
  width: number;
  height: number;
  /** 3 or 4 bytes a pixel. */
  channels: number;
  bytes: Buffer;
}

function* chunksIn(png: Buffer): Generator<{ type: string; data: Buffer }> {
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    yield { type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) };
    at += length + 12;
  }
}

const paeth = (left: number, above: number, corner: number): number => {
  const [toLeft, toAbove] = [Math.abs(above - corner), Math.abs(left - corner)];
  const toCorner = Math.abs(left + above - 2 * corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
};

const PREDICT: readonly ((left: number, above: number, corner: number) => number)[] = [
  () => 0,
  (left) => left,
  (_left, above) => above,
  (left, above) => (left + above) >> 1,
  paeth,
];

/** Undoes the filters of the rows. Each row has a byte in front that names its filter. */
const unfilter = (raw: Buffer, { width, height, channels }: Omit<Pixels, 'bytes'>): Buffer => {
  const stride = width * channels;
  const bytes = Buffer.alloc(stride * height);
  const byteOf = (row: number, x: number): number => (row < 0 || x < 0 ? 0 : (bytes[row * stride + x] ?? 0));
  for (let row = 0; row < height; row += 1) {
    const begin = row * (stride + 1);
    const predict = PREDICT[raw[begin] ?? 0] ?? paeth;
    for (let x = 0; x < stride; x += 1) {
      const left = x - channels;
      const predicted = predict(byteOf(row, left), byteOf(row - 1, x), byteOf(row - 1, left));
      bytes[row * stride + x] = (raw[begin + 1 + x] ?? 0) + predicted;
    }
  }
  return bytes;
};

const readPixels = (png: Buffer): Pixels => {
  const all = [...chunksIn(png)];
  const header = all.find(({ type }) => type === 'IHDR')?.data ?? Buffer.alloc(13);
  const size = { width: header.readUInt32BE(0), height: header.readUInt32BE(4), channels: header[9] === 6 ? 4 : 3 };
  const data = Buffer.concat(all.filter(({ type }) => type === 'IDAT').map(({ data: part }) => part));
  return { ...size, bytes: unfilter(inflateSync(data), size) };
};

const colorAt = ({ bytes }: Pixels, at: number): number => bytes.readUIntBE(at, 3);

const distance = (one: number, other: number): number => {
  const [red, green, blue] = [16, 8, 0].map((shift) => ((one >> shift) & 255) - ((other >> shift) & 255));
  return Math.hypot(red ?? 0, green ?? 0, blue ?? 0);
};

const nearest = (palette: readonly number[], color: number): number => {
  let best = 0;
  for (const index of palette.keys())
    if (distance(palette[index] ?? 0, color) < distance(palette[best] ?? 0, color)) best = index;
  return best;
};

/** The most frequent colours that differ. */
const paletteOf = (counts: ReadonlyMap<number, number>, pixels: number): number[] => {
  const palette: number[] = [];
  for (const [color, count] of [...counts].toSorted(([, one], [, other]) => other - one)) {
    if (palette.length === COLORS_MAX) break;
    const isGround = count > pixels * GROUND;
    if (isGround || palette.every((chosen) => distance(chosen, color) >= NEAR)) palette.push(color);
  }
  return palette;
};

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
};

/** The same picture with few colours. */
export const shrinkPng = (png: Buffer): Buffer => {
  const pixels = readPixels(png);
  const { width, height, channels, bytes } = pixels;
  const counts = new Map<number, number>();
  for (let at = 0; at < bytes.length; at += channels) {
    const color = colorAt(pixels, at);
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const palette = paletteOf(counts, width * height);
  const indexes = new Map([...counts.keys()].map((color) => [color, nearest(palette, color)]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row += 1)
    for (let x = 0; x < width; x += 1)
      rows[row * (width + 1) + 1 + x] = indexes.get(colorAt(pixels, (row * width + x) * channels)) ?? 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const colors = Buffer.alloc(palette.length * 3);
  for (const [index, color] of palette.entries()) colors.writeUIntBE(color, index * 3, 3);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colors),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};
