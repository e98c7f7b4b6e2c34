/** Writes the files that are made from others: docs/configuration.md, docs/metrics.md, and the rules for Kubernetes. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configurationReference } from './reference/configuration.ts';
import { metricsReference } from './reference/metrics.ts';
import { prometheusRule } from './reference/prometheus-rule.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (file: string): Promise<string> => readFile(join(ROOT, file), 'utf8');

export const EVERY_KEY_FILE = 'docs/every-key.yaml';
export const RULES_FILE = 'config/prometheus-rules.yml';

/** What each file has to say, by its path. */
export const references = async (): Promise<Record<string, string>> => ({
  'docs/configuration.md': configurationReference(await read(EVERY_KEY_FILE)),
  'docs/metrics.md': await metricsReference(await read(RULES_FILE)),
  'deploy/kubernetes/components/monitoring/prometheus-rule.yaml': prometheusRule(await read(RULES_FILE)),
});

if (import.meta.main) {
  for (const [file, text] of Object.entries(await references())) await writeFile(join(ROOT, file), text);
}
