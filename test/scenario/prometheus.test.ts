/** The rules, the dashboard and the runbook for a team's Prometheus: they ask only for what a daemon really exposes. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Matcher, namesOf, type Selector } from '../support/promql.ts';
import { lacksPromtool, promtool, promtoolOn } from '../support/promtool.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const RULES = join(ROOT, 'config/prometheus-rules.yml');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
}

interface Panel {
  type: string;
  title: string;
  datasource?: { uid: string };
  targets?: { expr: string; legendFormat: string; datasource: { uid: string } }[];
}

interface Dashboard {
  title: string;
  uid: string;
  panels: Panel[];
  templating: { list: { name: string; type: string; query: string | { query: string } }[] };
}

const rules = (parse(read('config/prometheus-rules.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(read('config/grafana-dashboard.json')) as Dashboard;
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ where: title, expr, text: legendFormat })),
);
const asked = [
  ...rules.map(({ alert, expr, annotations }) => ({ where: alert, expr, text: Object.values(annotations).join(' ') })),
  ...queries,
];

/** By metric, what each of its labels was seen with. */
type Exposed = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

const exposedIn = (text: string): Exposed => {
  const exposed = new Map<string, Map<string, Set<string>>>();
  for (const line of text.split('\n')) {
    const [, metric, labels = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (metric === undefined) continue;
    const known = exposed.get(metric) ?? new Map<string, Set<string>>();
    exposed.set(metric, known);
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      known.set(label, (known.get(label) ?? new Set()).add(value));
    }
  }
  return exposed;
};

/** Prometheus adds these to each series. */
const ADDED = ['instance', 'job'];

/** A list of words has to have been seen word by word; of a pattern one value. What is left out need not be there. */
const isSeen = ({ operator, value }: Matcher, seen: ReadonlySet<string>): boolean => {
  if (operator.startsWith('!') || value.startsWith('$')) return true;
  if (operator === '=') return seen.has(value);
  if (/^[\w|]+$/.test(value)) return value.split('|').every((one) => seen.has(one));
  return [...seen].some((one) => new RegExp(`^(?:${value})$`).test(one));
};

const unknownIn = ({ metric, matchers }: Selector, exposed: Exposed): string[] => {
  const labels = exposed.get(metric);
  if (!labels) return [metric];
  return matchers
    .filter((matcher) => !isSeen(matcher, labels.get(matcher.label) ?? new Set()) || !labels.has(matcher.label))
    .map(({ label, operator, value }) => `${metric}{${label}${operator}"${value}"}`);
};

/** A daemon that has had every trouble of which only then there is a series. */
const exposeAll = async (): Promise<Exposed> => {
  const stops: (() => Promise<void>)[] = [];
  const fallback = { after: '1s', channels: [{ name: 'email', contacts: ['oncall@example.com'] }] };
  try {
    const world = await startWorld({ names: ['Vault'], config: { fallback }, onFinished: (stop) => stops.push(stop) });
    const daemon = await world.start();
    await daemon.watching();
    world.sandbox.receivers.slack.revokeToken();
    world.sandbox.receivers.webhook.script.always({ kind: 'answer', status: 410 });
    world.critical('Vault', 2);
    await until('a sender and a destination are broken', async () => {
      const broken = exposedIn((await daemon.ask('/metrics')).text).get('tocsin_broken_destinations');
      const ids = [...(broken?.get('destination') ?? [])];
      return ids.includes('sender-slack') && ids.some((id) => id.startsWith('webhook-'));
    });
    await until('others are delivered', async () => (await daemon.metric('tocsin_alert_latency_seconds_count')) > 1);
    return exposedIn((await daemon.ask('/metrics')).text);
  } finally {
    for (const stop of stops) await stop();
  }
};

describe('what a daemon exposes', () => {
  let exposed: Exposed;
  beforeAll(async () => {
    exposed = await exposeAll();
  });

  test.each(asked)('$where asks for its metrics and labels, with values that there are: $expr', ({ expr }) => {
    const { selectors, grouping } = namesOf(expr);
    expect(selectors.length).toBeGreaterThan(0);
    expect(selectors.flatMap((selector) => unknownIn(selector, exposed))).toEqual([]);
    const labels = selectors.flatMap(({ metric }) => [...(exposed.get(metric)?.keys() ?? [])]);
    // What `label_replace` makes is named as a text.
    const made = /label_replace/.test(expr) ? [...expr.matchAll(/"(\w+)"/g)].map(([, label = '']) => label) : [];
    expect(grouping.filter((label) => ![...labels, ...made, ...ADDED].includes(label))).toEqual([]);
  });

  test.each(asked)('the words of $where name labels that its series have: $text', ({ expr, text }) => {
    const { selectors, grouping } = namesOf(expr);
    const named = [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\b[^}]*\}\}/g)].map(([, label = '']) => label);
    const labels = selectors.flatMap(({ metric }) => [...(exposed.get(metric)?.keys() ?? [])]);
    const given = /\b(?:by|on) ?\(|^absent\(|^(?:max|sum)\(/.test(expr) ? grouping : [...labels, ...ADDED];
    expect(named.filter((label) => label !== 'value' && !given.includes(label))).toEqual([]);
  });

  test('a name or value that there is not would be found', () => {
    const unknown = (expr: string) => namesOf(expr).selectors.flatMap((selector) => unknownIn(selector, exposed));
    expect(unknown('sum by (kind) (rate(tocsin_deliverys_total[5m])) > 0')).toEqual(['tocsin_deliverys_total']);
    expect(unknown('tocsin_redis_up{service="sandbox"} == 0')).toEqual(['tocsin_redis_up{service="sandbox"}']);
    expect(unknown('increase(tocsin_deliveries_total{outcome=~"dead|failed"}[1h])')).toEqual([
      'tocsin_deliveries_total{outcome=~"dead|failed"}',
    ]);
    expect(unknown('max(tocsin_dead_deliveries) > 0 unless on (kind) tocsin_muted_total')).toEqual([]);
  });
});

describe('the rules', () => {
  test('each has a name of its own, a severity, a sentence for people and its heading in the runbook', () => {
    expect(rules.length).toBeGreaterThan(20);
    for (const { alert, labels, annotations } of rules) {
      expect(alert).toMatch(/^Tocsin[A-Z]\w+$/);
      expect(['critical', 'warning']).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\.$/);
      expect(annotations.description).toMatch(/\.$/);
      expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    }
    const headings = [...read('docs/runbook.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(rules.map(({ alert }) => alert));
  });

  test('the runbook says of each what it means, what people miss, what to look at and what to do', () => {
    const [, ...parts] = read('docs/runbook.md').split(/^## /m);
    for (const part of parts) {
      expect([...part.matchAll(/^- \*\*(.+?)\*\*/gm)].map(([, lead]) => lead)).toEqual([
        'Means',
        'People miss',
        'Look at',
        'Do',
      ]);
    }
    const links = [...read('docs/runbook.md').matchAll(/\]\(#(\w+)\)/g)].map(([, to]) => to);
    expect(links.filter((to) => !rules.some(({ alert }) => alert.toLowerCase() === to))).toEqual([]);
  });

  test('promtool accepts them', async ({ skip }) => {
    skip(lacksPromtool() !== undefined, lacksPromtool());
    const { status, said } = await promtool('check', 'rules', RULES);
    expect(said).toContain(`${rules.length} rules found`);
    expect(status).toBe(0);
  });
});

describe('the dashboard', () => {
  test('has one row for each question of an on-call', () => {
    expect(dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
      'Is it reading?',
      'Is it delivering?',
      'How late?',
      'What waits?',
      'What is dead?',
      'Is it well itself?',
    ]);
  });

  test('asks the data source that is chosen on it', () => {
    const chosen = dashboard.templating.list.find(({ name }) => name === 'datasource');
    expect(chosen).toMatchObject({ type: 'datasource', query: 'prometheus' });
    const plots = dashboard.panels.filter(({ type }) => type !== 'row');
    expect(plots.length).toBeGreaterThan(20);
    for (const { datasource, targets = [] } of plots) {
      expect(targets.length).toBeGreaterThan(0);
      for (const source of [datasource, ...targets.map((target) => target.datasource)]) {
        expect(source?.uid).toBe(`\${${chosen?.name}}`);
      }
    }
  });

  test('promtool understands each of its queries', async ({ skip }) => {
    skip(lacksPromtool() !== undefined, lacksPromtool());
    const recorded = queries.map(({ expr }, index) => ({
      record: `query:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const { said } = await promtoolOn({ groups: [{ name: 'dashboard', rules: recorded }] }, 'check', 'rules');
    expect(said).toContain(`${queries.length} rules found`);
  });
});
