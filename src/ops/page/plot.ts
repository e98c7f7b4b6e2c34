/** Alerts and delivery times of the last day, as SVG that needs no script. Pure. */
import { counted, type Html, html } from '../../text.ts';
import { clockText } from '../../time.ts';
import type { ActivityStep } from './details.ts';
import { many, nothing, tookText } from './text.ts';

/** The drawing is stretched to its place; words stand beside it, so that they are not. */
const WIDTH = 720;
const HEIGHT = 100;

/** Times are drawn so that each doubling is as high, from a quarter of a second. */
const LEAST_MS = 250;
const GRID: readonly (readonly [ms: number, text: string])[] = [
  [1000, '1 s'],
  [10_000, '10 s'],
  [60_000, '1 min'],
  [600_000, '10 min'],
  [3_600_000, '1 h'],
  [36_000_000, '10 h'],
];

const round = (value: number): string => value.toFixed(1).replace(/\.0$/, '');

/** A round number not below: the top of the scale. */
const topOf = (value: number): number => {
  const size = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 5, 10].map((each) => each * size).find((each) => each >= value) ?? value;
};

const clockOf = (at: number): string => clockText(at, 'minutes').slice(11);

const bars = (steps: readonly ActivityStep[], top: number): Html[] => {
  const width = WIDTH / steps.length;
  return steps.flatMap(({ at, alerts }, index) => {
    if (alerts === 0) return [];
    const height = Math.max(2, (alerts / top) * HEIGHT);
    return html`<rect x="${round(index * width + width * 0.1)}" y="${round(HEIGHT - height)}" width="${round(width * 0.8)}" height="${round(height)}"><title>${clockOf(at)}: ${counted(alerts, 'alert')}</title></rect>`;
  });
};

const heightOf = (ms: number, topMs: number): number =>
  HEIGHT * (1 - Math.log2(Math.max(LEAST_MS, ms) / LEAST_MS) / Math.log2(topMs / LEAST_MS));

/** From the median to what 95 of 100 took: one line for each step that had a delivery. */
const spans = (steps: readonly ActivityStep[], topMs: number): Html[] => {
  const width = WIDTH / steps.length;
  return steps.flatMap(({ at, latency }, index) => {
    if (latency === undefined) return [];
    const { medianMs, mostMs } = latency;
    const [middle, end] = [heightOf(medianMs, topMs), heightOf(mostMs, topMs)];
    const x = round(index * width + width * 0.1);
    const title = html`<title>${clockOf(at)}: half within ${tookText(medianMs)}, 95 of 100 within ${tookText(mostMs)}</title>`;
    return html`<g>${title}<rect class="span" x="${x}" y="${round(end)}" width="${round(width * 0.8)}" height="${round(Math.max(1, middle - end))}"/><rect class="median" x="${x}" y="${round(middle - 1.5)}" width="${round(width * 0.8)}" height="3"/></g>`;
  });
};

const drawing = (label: string, content: Html): Html =>
  html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${content}</svg>`;

const line = (y: number): Html => html`<line class="grid" x1="0" x2="${WIDTH}" y1="${round(y)}" y2="${round(y)}"/>`;

/** Words beside the drawing, from top to bottom in parts of its height. */
const scale = (marks: readonly { text: string; y: number }[]): Html =>
  html`<svg class="scale" viewBox="0 0 48 ${HEIGHT}" aria-hidden="true">${marks.map(({ text, y }) => html`<text x="44" y="${round(Math.min(HEIGHT - 2, Math.max(9, y + 3)))}" text-anchor="end">${text}</text>`)}</svg>`;

const alertsPlot = (steps: readonly ActivityStep[]): Html => {
  const total = steps.reduce((sum, { alerts }) => sum + alerts, 0);
  const busiest = steps.reduce((most, step) => (step.alerts > most.alerts ? step : most));
  const top = topOf(busiest.alerts);
  const said =
    total === 0
      ? 'no alert'
      : `${counted(total, 'alert')}, most of them at ${clockOf(busiest.at)}: ${many(busiest.alerts)} in ten minutes`;
  return html`<figure><figcaption><b>Alerts</b> <span>${total === 0 ? 'none in 24 hours' : `${many(total)} in 24 hours, at most ${many(busiest.alerts)} in ten minutes`}</span></figcaption>
<div class="plot">${scale([
    { text: many(top), y: 0 },
    { text: '0', y: HEIGHT },
  ])}${drawing(`Alerts of the last 24 hours: ${said}`, html`${line(0.5)}${line(HEIGHT - 0.5)}<g class="bars">${bars(steps, top)}</g>`)}</div>`;
};

const latencyPlot = (steps: readonly ActivityStep[]): Html => {
  const known = steps.flatMap(({ latency }) => latency ?? []);
  const slowest = Math.max(LEAST_MS, ...known.map(({ mostMs }) => mostMs));
  const topMs = GRID.map(([ms]) => ms).find((ms) => ms >= slowest) ?? slowest;
  const grid = GRID.filter(([ms]) => ms <= topMs).slice(-3);
  const medians = known.map(({ medianMs }) => medianMs).sort((a, b) => a - b);
  const median = medians[Math.floor(medians.length / 2)];
  const said =
    median === undefined ? 'no delivery' : `usually half within ${tookText(median)}; slowest ${tookText(slowest)}`;
  const marks = grid.map(([ms, text]) => ({ text, y: heightOf(ms, topMs) }));
  return html`<figure><figcaption><b>Delivery time</b> <span>${median === undefined ? 'nothing was delivered in 24 hours' : `half within ${tookText(median)}, the slowest 5 of 100 up to ${tookText(slowest)}`}</span></figcaption>
<div class="plot">${scale(marks)}${drawing(`Delivery times of the last 24 hours: ${said}`, html`${grid.map(([ms]) => line(heightOf(ms, topMs)))}${spans(steps, topMs)}`)}</div>`;
};

const axis = html`<div class="axis" aria-hidden="true"><span>24 h ago</span><span>18 h</span><span>12 h</span><span>6 h</span><span>now</span></div></figure>`;

export const plotOf = (steps: readonly ActivityStep[]): Html =>
  steps.length === 0
    ? nothing
    : html`<section class="plots" aria-label="The last 24 hours">${alertsPlot(steps)}${axis}${latencyPlot(steps)}${axis}</section>`;
