/** The alerting rules as an object for the Prometheus operator. */

const HEAD = `# Made of config/prometheus-rules.yml by "npm run reference": change that.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: tocsin
spec:
`;

/** `rules`: the file for Prometheus, which is the specification of the object as it is. */
export const prometheusRule = (rules: string): string =>
  `${HEAD}${rules.replace(/^[\s\S]*?(?=^groups:)/m, '').replaceAll(/^(?=.)/gm, '  ')}`;
