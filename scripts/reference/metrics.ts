/** docs/metrics.md: every metric with its type, labels and help, from the registry, and the rules that use it. */
import { parse } from 'yaml';
import { createMetrics } from '../../src/ops/metrics.ts';
import { cell, code, MADE } from './markdown.ts';

interface Rule {
  alert?: string;
  record?: string;
  expr: string;
}

interface Metric {
  name: string;
  help: string;
  type: string;
  labelNames: readonly string[];
}

const HEAD = `# Metrics

${MADE}

Every daemon serves these at \`/metrics\` of \`ops.listen\` (default \`127.0.0.1:9464\`). Counters and histograms belong to one
daemon and begin at 0 when it starts. Queues, destinations and troubles are the same for all daemons on one Redis: take
their largest value, not their sum. [config/prometheus-rules.yml](../config/prometheus-rules.yml) has alerting rules,
[runbook.md](runbook.md) says what to do about each, and
[config/grafana-dashboard.json](../config/grafana-dashboard.json) is a dashboard to import.

Names of metrics and labels never change. Others name protocols and destinations, so the values of labels have characters that
a screen cannot show, such as control characters, as \`\\uXXXX\`.
`;

const rulesOf = (text: string): Rule[] => {
  const { groups } = parse(text) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
};

/** The series of a histogram have names of their own. */
const uses = ({ expr }: Rule, name: string): boolean =>
  new RegExp(`(?<![\\w:])${name}(_bucket|_sum|_count)?(?![\\w:])`).test(expr);

/** A rule that records a series is used where that series is. */
const alertsWith = (rules: readonly Rule[], name: string): string[] => [
  ...new Set(
    rules
      .filter((rule) => uses(rule, name))
      .flatMap(({ alert, record }) => (alert === undefined ? alertsWith(rules, record ?? '') : [alert])),
  ),
];

const linkTo = (alert: string): string => `[${alert}](runbook.md#${alert.toLowerCase()})`;

const rowOf = ({ name, type, labelNames, help }: Metric, rules: readonly Rule[]): string => {
  const labels = labelNames.map(code).join(', ');
  const used = alertsWith(rules, name).map(linkTo).join(', ');
  return `| ${code(name)} | ${type} | ${labels} | ${cell(help)} | ${used} |`;
};

const table = (metrics: readonly Metric[], rules: readonly Rule[]): string =>
  [
    '| metric | type | labels | meaning | rules |',
    '|---|---|---|---|---|',
    ...metrics.map((one) => rowOf(one, rules)),
  ].join('\n');

/** `rulesText`: config/prometheus-rules.yml. */
export const metricsReference = async (rulesText: string): Promise<string> => {
  const rules = rulesOf(rulesText);
  const metrics = createMetrics({ version: '0.0.0' });
  const all = metrics.registry.getMetricsAsArray() as unknown as Metric[];
  const [own, standard] = [true, false].map((isOwn) => all.filter(({ name }) => name.startsWith('tocsin_') === isOwn));
  return `${HEAD}
## Of Tocsin

${table(own ?? [], rules)}

## Of the process and of Node

${table(standard ?? [], rules)}
`;
};
