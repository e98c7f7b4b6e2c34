/** A plot as SVG: how many to the right, each ten times the one before; microseconds upwards, from zero. Pure. */

export interface Line {
  name: string;
  points: readonly (readonly [x: number, y: number])[];
}

const WIDTH = 720;
const HEIGHT = 360;
const LEFT = 64;
const RIGHT = 40;
const TOP = 48;
const BOTTOM = 48;
const COLOURS = ['#c2410c', '#1d4ed8', '#15803d'];
const FONT = 'font-family="system-ui, sans-serif" font-size="13"';

/** The next 1, 2 or 5 with zeros. */
const roundUp = (value: number): number => {
  const ten = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * ten >= value) ?? 10) * ten;
};

const text = (x: number, y: number, anchor: 'start' | 'middle' | 'end', content: string, fill = '#555'): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${fill}" ${FONT}>${content}</text>`;

const scalesFor = (lines: readonly Line[]) => {
  const all = lines.flatMap(({ points }) => points);
  const decades = all.map(([x]) => Math.log10(x));
  const [least, most] = [Math.floor(Math.min(...decades)), Math.ceil(Math.max(...decades))];
  const highest = roundUp(Math.max(...all.map(([, y]) => y)));
  return {
    least,
    most,
    highest,
    x: (value: number): number => LEFT + ((Math.log10(value) - least) / (most - least)) * (WIDTH - LEFT - RIGHT),
    y: (value: number): number => HEIGHT - BOTTOM - (value / highest) * (HEIGHT - TOP - BOTTOM),
  };
};

type Scales = ReturnType<typeof scalesFor>;

const gridOf = ({ least, most, highest, x, y }: Scales): string[] => {
  const levels = [0, 0.25, 0.5, 0.75, 1].map((share) => share * highest);
  const decades = Array.from({ length: most - least + 1 }, (_, n) => 10 ** (least + n));
  return [
    ...levels.flatMap((level) => [
      `<path d="M${LEFT} ${y(level).toFixed(1)}H${WIDTH - RIGHT}" stroke="#ddd"/>`,
      text(LEFT - 8, y(level) + 4, 'end', level.toLocaleString('en')),
    ]),
    ...decades.map((decade) => text(x(decade), HEIGHT - BOTTOM + 20, 'middle', decade.toLocaleString('en'))),
  ];
};

const lineOf = ({ name, points }: Line, index: number, { x, y }: Scales): string[] => {
  const colour = COLOURS[index % COLOURS.length] ?? '#000';
  const at = points.map(([px, py]) => `${x(px).toFixed(1)} ${y(py).toFixed(1)}`);
  return [
    `<path d="M${at.join('L')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    ...points.map(([px, py]) => `<circle cx="${x(px).toFixed(1)}" cy="${y(py).toFixed(1)}" r="3.5" fill="${colour}"/>`),
    text(LEFT + index * 220, HEIGHT - 8, 'start', name, colour),
  ];
};

export const plot = (lines: readonly Line[], title: string): string => {
  const drawn = lines.filter(({ points }) => points.length > 0);
  const scales = scalesFor(drawn);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text(LEFT, 24, 'start', title, '#111'),
    ...gridOf(scales),
    ...drawn.flatMap((line, index) => lineOf(line, index, scales)),
    '</svg>',
    '',
  ].join('\n');
};
