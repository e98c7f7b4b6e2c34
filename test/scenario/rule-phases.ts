/** What a daemon exposes while it is well, broken and mended: held against the rules, and as series for promtool. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { type Matcher, namesOf } from '../support/promql.ts';
import { until } from '../support/until.ts';

export const RULES = fileURLToPath(new URL('../../config/prometheus-rules.yml', import.meta.url));

export interface Rule {
  alert: string;
  expr: string;
}

export const rules = (parse(readFileSync(RULES, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

/** Values by series, and which metrics count. Empty where nobody answers. */
export interface Scrape {
  values: ReadonlyMap<string, number>;
  counting: ReadonlySet<string>;
}

const ASKED = new Set(rules.flatMap(({ expr }) => namesOf(expr).selectors.map(({ metric }) => metric)));

const metricOf = (series: string): string => series.split('{')[0] ?? '';

/** Only the series that a rule asks for. */
const scrapeOf = (text: string): Scrape => {
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  const counting = types.flatMap(([, name = '', type]) => {
    if (type === 'histogram') return ['bucket', 'count', 'sum'].map((part) => `${name}_${part}`);
    return type === 'counter' ? [name] : [];
  });
  const samples = [...text.matchAll(/^(\w+(?:\{.*\})?) (\S+)$/gm)].filter(([, series = '']) =>
    ASKED.has(metricOf(series)),
  );
  return {
    values: new Map(samples.map(([, series = '', value]) => [series, Number(value)])),
    counting: new Set(counting),
  };
};

const matches = ({ label, operator, value }: Matcher, series: string): boolean => {
  const given = new RegExp(`[{,]${label}="([^"]*)"`).exec(series)?.[1] ?? '';
  const isMet = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(given) : given === value;
  return operator.startsWith('!') ? !isMet : isMet;
};

/** The end of a rule that compares one gauge with a number, whatever daemon says so. */
const GAUGE =
  /^(?:(?:max|min)(?: by \([\w, ]+\))? ?\()?\w+(?:\{[^}]*\})?\)? (==|>) ([\d.]+)(?: and on \(instance, job\) \w+)?$/;
/** A rule that asks whether a counter has grown. */
const GROWTH = /^sum(?: by \([\w, ]+\))? ?\(increase\(\w+(?:\{[^}]*\})?\[\w+\]\)\) > 0$/;

/** Whether a rule's condition is met now, of one daemon; undefined where only Prometheus can say. */
const isMet = ({ expr }: Rule, now: Scrape, before: Scrape): boolean | undefined => {
  const [, operator, bound] = GAUGE.exec(expr) ?? [];
  if (operator === undefined && !GROWTH.test(expr)) return undefined;
  const [selector] = namesOf(expr).selectors;
  return [...now.values].some(([series, value]) => {
    if (metricOf(series) !== selector?.metric) return false;
    if (!selector.matchers.every((matcher) => matches(matcher, series))) return false;
    if (operator === undefined) return value > (before.values.get(series) ?? Number.POSITIVE_INFINITY);
    return operator === '==' ? value === Number(bound) : value > Number(bound);
  });
};

/** Those that need no range and no other series than one gauge's or one counter's. */
const plainRules = rules.filter(({ expr }) => GAUGE.test(expr) || GROWTH.test(expr));
const gaugeRules = plainRules.filter(({ expr }) => !GROWTH.test(expr));

const metNow = (asked: readonly Rule[], now: Scrape, before: Scrape): string[] =>
  asked.filter((rule) => isMet(rule, now, before)).map(({ alert }) => alert);

/** A worker that has a job at this moment would have it for the whole phase. */
const busyQueues = ({ values }: Scrape): string[] => [
  ...new Set(
    [...values].flatMap(([series, value]) => {
      const [, queue] = /^tocsin_queue_jobs\{queue="(deliver-\w+)"/.exec(series) ?? [];
      return queue === undefined || value === 0 ? [] : [queue];
    }),
  ),
];

const SCRAPED = { well: 60, mended: 120 };
/** So long what was held up is worked off, in minutes. */
const CAUGHT_UP = 10;

/** Until the daemon knows; much longer than it takes. */
const PATIENCE_MS = 90_000;

const NEVER = '_';

/** A counter goes evenly from one scrape to the next; everything else is what it is at the end, for the whole phase. */
const valuesOf = (series: string, from: Scrape, to: Scrape, minutes: number, evenly = minutes): string[] => {
  const [begin, end] = [from.values.get(series), to.values.get(series)];
  const grows = to.counting.has(metricOf(series)) && begin !== undefined && end !== undefined && end > begin;
  return Array.from({ length: minutes }, (_, minute) => {
    if (end === undefined) return NEVER;
    return grows ? `${begin + (end - begin) * Math.min(1, (minute + 1) / evenly)}` : `${end}`;
  });
};

/** Prometheus adds these to each series. */
const withInstance = (series: string): string => {
  const [, metric, labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? [];
  return `${metric}{${labels}${labels === '' ? '' : ','}instance="a",job="tocsin"}`;
};

const firing = (minute: number, alerts: readonly string[]) => ({
  // One rule may fire for several reasons, destinations or queues.
  expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
  eval_time: `${minute}m`,
  exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
});

type Busy = readonly string[];

export interface Breakage {
  /** The rules that fire then, and no others. */
  fires: readonly string[];
  /** How long it lasts. Default: 60. */
  minutes?: number;
  /** Queues of deliveries in which something waits then. Default: none. */
  busy?: Busy;
  /** What counters do until this has ended, they do at once; afterwards they go on evenly. Default: nothing. */
  begin?(): unknown;
  break(): unknown;
  /** What happens afterwards, one after the other, while it lasts: looked at after each, and each lasts as long. */
  further?: readonly (() => unknown)[];
  mend(): unknown;
}

export interface Played {
  fires: readonly string[];
  /** For promtool. */
  test: unknown;
}

export interface Phases {
  /** Breaks it, waits until the daemon's own metrics say so, mends it, and waits again. */
  play(breakage: Breakage): Promise<Played>;
}

/** Of a daemon that is well now. `goesWell` is what it does while all is well. */
export const watchPhases = async (read: () => Promise<string>, goesWell: () => Promise<void>): Promise<Phases> => {
  /** The first scrape that is as it has to be; else says what is otherwise. */
  const scrape = async (asked: readonly Rule[], before: Scrape, met: readonly string[] = [], busy: Busy = []) => {
    let last = before;
    const look = async (): Promise<Scrape | undefined> => {
      last = scrapeOf(await read());
      return `${metNow(asked, last, before)}` === `${met}` && `${busyQueues(last)}` === `${busy}` ? last : undefined;
    };
    return until(`met: ${met}`, look, PATIENCE_MS).catch((error: unknown) => {
      expect({ met: metNow(asked, last, before), busy: busyQueues(last) }).toEqual({ met, busy });
      throw error;
    });
  };
  const nothing: Scrape = { values: new Map(), counting: new Set() };
  const first = await scrape(gaugeRules, nothing);
  await goesWell();
  let [before, well] = [first, await scrape(plainRules, first)];

  /** What it does to the series, step by step; the last one is waited for. */
  const watchBreaking = async ({ fires, busy, break: breakIt, further = [] }: Breakage): Promise<Scrape[]> => {
    const plain = plainRules.map(({ alert }) => alert).filter((alert) => fires.includes(alert));
    const seen: Scrape[] = [];
    await breakIt();
    for (const step of further) {
      seen.push(scrapeOf(await read()));
      await step();
    }
    return [...seen, await scrape(plainRules, well, plain, busy)];
  };

  const play = async (breakage: Breakage): Promise<Played> => {
    const { fires, minutes = 60, begin, mend } = breakage;
    await begin?.();
    const begun = begin === undefined ? well : scrapeOf(await read());
    const steps = await watchBreaking(breakage);
    const broken = steps.at(-1) ?? begun;
    await mend();
    const mended = await scrape(gaugeRules, broken);
    const series = [...new Set([before, well, ...steps, mended].flatMap(({ values }) => [...values.keys()]))];
    const lengthOf = (step: number, of: number): number =>
      Math.floor(((step + 1) * (minutes - 1)) / of) - Math.floor((step * (minutes - 1)) / of);
    const test = {
      interval: '1m',
      input_series: series.map((one) => ({
        series: withInstance(one),
        values: [
          ...valuesOf(one, before, well, SCRAPED.well),
          ...valuesOf(one, well, begun, 1),
          ...steps.flatMap((to, step) => valuesOf(one, steps[step - 1] ?? begun, to, lengthOf(step, steps.length))),
          ...valuesOf(one, broken, mended, SCRAPED.mended, CAUGHT_UP),
        ].join(' '),
      })),
      promql_expr_test: [
        firing(SCRAPED.well - 1, []),
        firing(SCRAPED.well + minutes - 1, fires),
        firing(SCRAPED.well + minutes + SCRAPED.mended - 1, []),
      ],
    };
    [before, well] = [mended, mended];
    return { fires, test };
  };
  return { play };
};
