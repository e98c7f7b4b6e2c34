/** The components of the manifests: what kubectl makes of each, and that the Redis which fails over is that of compose. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cp, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readCompose, readProject, unescaped } from './compose-files.ts';
import {
  COMPONENTS,
  FOLDER,
  findManifest,
  type Manifest,
  parseManifests,
  podOf,
  ROOT,
  readManifests,
  scratch,
  typeErrors,
  validate,
} from './manifests.ts';

const kubectl = (...args: string[]) => spawnSync('kubectl', args, { encoding: 'utf8' });
const lacksKubectl = kubectl('version', '--client').status === 0 ? undefined : 'kubectl is not installed';

/** As an operator has it, with these components. */
const render = async (...components: string[]): Promise<Manifest[]> => {
  const directory = await scratch();
  await cp(join(ROOT, FOLDER), directory, { recursive: true });
  await rename(join(directory, 'secrets.env.example'), join(directory, 'secrets.env'));
  const file = join(directory, 'kustomization.yaml');
  const list = components.map((name) => `  - components/${name}\n`).join('');
  const text = (await readFile(file, 'utf8')).replace(/^components:\n(?: .*\n)+/m, list && `components:\n${list}`);
  await writeFile(file, text);
  const { stdout, stderr } = kubectl('kustomize', directory);
  expect(stderr).toBe('');
  return parseManifests(stdout);
};

const namesOf = (manifests: readonly Manifest[]): string[] =>
  manifests.map(({ kind, metadata }) => `${kind} ${metadata.name.replace(/-[a-z0-9]{10}$/, '-HASH')}`).toSorted();

const BASE = [
  ...['ConfigMap tocsin-HASH', 'Namespace tocsin', 'PodDisruptionBudget tocsin', 'Secret tocsin-HASH'],
  ...['Service tocsin', 'Service tocsin-pods', 'StatefulSet tocsin'],
];
const REDIS = ['Service tocsin-redis', 'StatefulSet tocsin-redis'];
const REDIS_HA = [
  ...['NetworkPolicy tocsin-redis-ha', 'PodDisruptionBudget tocsin-redis-ha'],
  ...['Service tocsin-redis-ha', 'StatefulSet tocsin-redis-ha'],
];
const POLICIES = ['NetworkPolicy tocsin', 'NetworkPolicy tocsin-redis'];
const MONITORING = ['PodMonitor tocsin', 'PrometheusRule tocsin'];

test.skipIf(lacksKubectl !== undefined).each<[components: string[], made: string[]]>([
  [[], [...BASE, ...REDIS]],
  [['network-policy'], [...BASE, ...REDIS, ...POLICIES]],
  [['ha'], [...BASE, ...REDIS_HA]],
  [['monitoring'], [...BASE, ...REDIS, ...MONITORING]],
  [['openshift'], [...BASE, ...REDIS]],
  [[...COMPONENTS], [...BASE, ...REDIS_HA, ...POLICIES, ...MONITORING]],
])('kubectl renders the components %j, and the schemas accept it', async (components, made) => {
  const rendered = await render(...components);
  expect(namesOf(rendered)).toEqual(made.toSorted());
  for (const each of rendered) {
    await expect(validate(each), `${each.kind} ${each.metadata.name}`).resolves.toBeUndefined();
    expect(each.metadata.namespace ?? each.metadata.name).toBe('tocsin');
  }
  expect(await typeErrors(rendered)).toBe('');
  // The pods have the config and the secrets by the names that were made for this content.
  const [config, secret] = ['ConfigMap', 'Secret'].map((kind) => rendered.find((each) => each.kind === kind));
  const daemon = podOf(findManifest(rendered, 'StatefulSet', 'tocsin'));
  expect(daemon.pod.volumes).toContainEqual({ name: 'config', configMap: { name: config?.metadata.name } });
  expect(JSON.stringify(rendered.filter(({ kind }) => kind === 'StatefulSet'))).toContain(`"${secret?.metadata.name}"`);
  expect(Object.keys(config?.data ?? {})).toEqual(['tocsin.yaml']);
  expect(daemon.container.image).toMatch(/^registry\.example\.com\/tocsin:\d/);
});

const USER = ['runAsUser', 'runAsGroup', 'fsGroup'];
const userOf = (manifests: readonly Manifest[], name: string): string[] => {
  const { securityContext } = podOf(findManifest(manifests, 'StatefulSet', name)).pod;
  return USER.filter((key) => key in securityContext);
};

test('a user is fixed only where the image does not name one, and none is on OpenShift', async ({ skip }) => {
  const files = await readManifests();
  expect(userOf(files, 'tocsin')).toEqual(['fsGroup']);
  for (const name of ['tocsin-redis', 'tocsin-redis-ha']) expect(userOf(files, name)).toEqual(USER);
  skip(lacksKubectl !== undefined, lacksKubectl);
  for (const components of [['openshift'], ['ha', 'openshift']]) {
    const rendered = await render(...components);
    for (const { kind, metadata } of rendered) {
      if (kind === 'StatefulSet') expect(userOf(rendered, metadata.name), metadata.name).toEqual([]);
    }
    expect(podOf(findManifest(rendered, 'StatefulSet', 'tocsin')).pod.securityContext.runAsNonRoot).toBe(true);
  }
});

test('with Sentinels a config without them is refused, as with compose', async ({ skip }) => {
  skip(lacksKubectl !== undefined, lacksKubectl);
  const { env } = podOf(findManifest(await render('ha'), 'StatefulSet', 'tocsin')).container;
  const { services } = await readCompose('docker-compose.ha.yml');
  const value = unescaped(services['tocsin-1']?.environment?.TOCSIN_REDIS_URL ?? '');
  expect(env).toContainEqual({ name: 'TOCSIN_REDIS_URL', value });
  expect(env.map(({ name }) => name)).toContain('TOCSIN_OPS_PROBES');
});

test('Redis and the Sentinels are started as by compose, whose commands are run in compose-ha.test.ts', async () => {
  const { services } = await readCompose('docker-compose.ha.yml');
  const { pod } = podOf(findManifest(await readManifests(), 'StatefulSet', 'tocsin-redis-ha'));
  const scripts = Object.fromEntries(pod.containers.map(({ name, args }) => [name, String(args)]));
  const asHere = (name: string): string =>
    unescaped(String(services[name]?.command)).replace('redis-1 6379', 'tocsin-redis-ha-0.tocsin-redis-ha 6379');
  const [choice, ...rest] = scripts.redis?.split('\n') ?? [];
  expect(rest.join('\n')).toBe(asHere('redis-2').replace(/\n$/, ' \\\n  --maxmemory 900mb\n'));
  expect(scripts.sentinel).toBe(asHere('sentinel-1'));
  // All but the first begin as its replicas.
  const masterOf = (pod: string): string =>
    execFileSync('sh', ['-euc', `${choice}\nprintf %s "$REPLICA_OF"`], { env: { POD: pod }, encoding: 'utf8' });
  expect(['tocsin-redis-ha-0', 'tocsin-redis-ha-2'].map(masterOf)).toEqual([
    '',
    'tocsin-redis-ha-0.tocsin-redis-ha 6379',
  ]);
});

test('its password comes in the form that compose gives it', async () => {
  const { services } = await readCompose('docker-compose.ha.yml');
  const { pod } = podOf(findManifest(await readManifests(), 'StatefulSet', 'tocsin-redis-ha'));
  const [compose, here] = [await scratch(), await scratch()];
  const inDirectory = (script: string, directory: string): string => script.replaceAll('/run/redis-secret', directory);
  execFileSync('sh', ['-c', inDirectory(unescaped(String(services['redis-password']?.command)), compose)]);
  const password = await readFile(join(compose, 'password'), 'utf8');
  execFileSync('sh', ['-c', inDirectory(String(pod.initContainers?.[0]?.args), here)], {
    env: { REDIS_PASSWORD: password },
  });
  for (const file of ['password', 'redis.conf']) {
    expect(await readFile(join(here, file), 'utf8')).toBe(await readFile(join(compose, file), 'utf8'));
  }
});

test('what is scraped is the page of each daemon, and the rules are those for Prometheus', async () => {
  const manifests = await readManifests();
  const { spec } = findManifest(manifests, 'PodMonitor', 'tocsin');
  const { pod, container } = podOf(findManifest(manifests, 'StatefulSet', 'tocsin'));
  expect(pod.containers).toHaveLength(1);
  const [endpoint] = spec.podMetricsEndpoints as { port: string; path: string }[];
  expect(container.ports.map(({ name }) => name)).toContain(endpoint?.port);
  expect(endpoint?.path).toBe('/metrics');
  const rules = findManifest(manifests, 'PrometheusRule', 'tocsin');
  expect(rules.spec).toEqual(parse(await readProject('config/prometheus-rules.yml')));
});
