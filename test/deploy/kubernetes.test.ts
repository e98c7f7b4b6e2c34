/** The manifests for Kubernetes: held against its schemas, the program, the image and each other. */
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { startCommand } from '../support/program.ts';
import { freePort } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import { readCompose, readProject } from './compose-files.ts';
import {
  COMPONENTS,
  FOLDER,
  FOLDERS,
  filesIn,
  findManifest,
  type Manifest,
  podOf,
  ROOT,
  readKustomization,
  readManifests,
  scratch,
  typeErrors,
  validate,
} from './manifests.ts';

const manifest = async (kind: string, name: string): Promise<Manifest> =>
  findManifest(await readManifests(), kind, name);

const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));

/** `Dockerfile` sets it for every container. */
const imageVariable = async (name: string): Promise<string> =>
  new RegExp(`^(?:ENV)? +${name}=(\\S+)`, 'm').exec(await readProject('Dockerfile'))?.[1] ?? '';

describe('the schemas of Kubernetes and of the Prometheus operator', () => {
  test('accept every value', async () => {
    const manifests = await readManifests();
    expect(manifests.length).toBe(15);
    for (const each of manifests) {
      await expect(validate(each), `${each.kind} ${each.metadata.name}`).resolves.toBeUndefined();
    }
    const wrong = structuredClone(manifests.filter(({ kind }) => ['StatefulSet', 'PodMonitor'].includes(kind)));
    for (const each of wrong) {
      each.spec.selector = 'tocsin' as never;
      await expect(validate(each)).rejects.toThrow('selector');
    }
  });

  test('know every key', async () => {
    const manifests = await readManifests();
    expect(await typeErrors(manifests)).toBe('');
    // What they would say of a key that is misspelt.
    const wrong = structuredClone(manifests.filter(({ kind }) => ['StatefulSet', 'PodMonitor'].includes(kind)));
    for (const each of wrong) Object.assign(each.spec, { selectr: {} });
    const said = await typeErrors(wrong);
    expect(said.match(/"selectr"' does not exist/g)).toHaveLength(wrong.length);
  });
});

test.each(FOLDERS)('%s/kustomization.yaml has every file that is there', async (folder) => {
  const { resources = [], components } = await readKustomization(folder);
  expect(resources.toSorted()).toEqual((await filesIn(folder)).toSorted());
  if (folder !== FOLDER) return;
  // All are named; those that not every cluster needs stand in comments.
  const text = await readProject(`${folder}/kustomization.yaml`);
  const named = [...text.matchAll(/^ {2}(?:# )?- components\/(\S+)$/gm)].map(([, name]) => name);
  expect(named.toSorted()).toEqual([...COMPONENTS].toSorted());
  expect(components).toEqual(['components/network-policy']);
});

test('kustomization.yaml has the version of the program', async () => {
  const { images = [] } = await readKustomization(FOLDER);
  const { version } = JSON.parse(await readProject('package.json')) as { version: string };
  expect(images.map(({ newTag }) => newTag)).toEqual([version]);
});

test('config and variables together are a config that works, and no secret is given away', async () => {
  const given = variablesOf(await readProject(`${FOLDER}/secrets.env.example`));
  const { TOCSIN_REDIS_URL, REDIS_PASSWORD, ...secrets } = given;
  expect(Object.values({ ...secrets, REDIS_PASSWORD }).join('')).toBe('');
  const example = await readProject('config/tocsin.example.yaml');
  const named = [...example.matchAll(/^[^#\n]*\$\{([A-Z_]+)\}/gm)].map(([, name]) => name);
  expect(Object.keys(secrets).toSorted()).toEqual(named.toSorted());
  expect(await readProject('.gitignore')).toContain(`/${FOLDER}/secrets.env\n`);

  const config = await loadConfig(join(ROOT, FOLDER, 'config/tocsin.yaml'), {
    ...Object.fromEntries(Object.keys(secrets).map((name) => [name, `xoxb-${name}`])),
    TOCSIN_REDIS_URL,
    REDIS_PASSWORD: 'abc123',
    TOCSIN_DATA_DIR: await imageVariable('TOCSIN_DATA_DIR'),
  });
  const service = await manifest('Service', 'tocsin-redis');
  expect(config.redis.url?.reveal()).toBe(`redis://:abc123@${service.metadata.name}:6379/0`);
});

test.each(['tocsin', 'tocsin-redis', 'tocsin-redis-ha'])('%s runs without rights', async (name) => {
  const { pod } = podOf(await manifest('StatefulSet', name));
  expect(pod).toMatchObject({
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  });
  for (const { securityContext } of [...pod.containers, ...(pod.initContainers ?? [])]) {
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  }
  for (const { resources } of pod.containers) expect(resources.limits.memory).toMatch(/^\d+[MG]i$/);
});

test('each pod has a place for its data, and can write nowhere else but in /tmp', async () => {
  const { spec, ...rest } = await manifest('StatefulSet', 'tocsin');
  const { container } = podOf({ spec, ...rest });
  const writable = container.volumeMounts.filter(({ readOnly }) => readOnly !== true);
  expect(writable).toEqual([
    { name: 'data', mountPath: '/data' },
    { name: 'tmp', mountPath: '/tmp' },
  ]);
  expect(spec.volumeClaimTemplates).toMatchObject([{ metadata: { name: 'data' } }]);
  for (const name of ['TOCSIN_DATA_DIR', 'XDG_CACHE_HOME']) expect(await imageVariable(name)).toMatch(/^\/data\//);
  const config = container.volumeMounts.find(({ name }) => name === 'config');
  expect(`${config?.mountPath}/tocsin.yaml`).toBe(await imageVariable('TOCSIN_CONFIG'));
});

test('only stopped loops restart a daemon; what it depends on holds up a rollout alone', async () => {
  const { pod, container } = podOf(await manifest('StatefulSet', 'tocsin'));
  expect(container.startupProbe?.httpGet?.path).toBe('/livez');
  expect(container.livenessProbe.httpGet?.path).toBe('/livez');
  expect(container.readinessProbe.httpGet?.path).toBe('/readyz');
  const [port] = container.ports;
  expect(await imageVariable('TOCSIN_OPS_LISTEN')).toBe(`0.0.0.0:${port?.containerPort}`);
  expect(port?.name).toBe('ops');
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
  expect(probes.map((probe) => probe?.httpGet?.port)).toEqual(['probes', 'probes', 'probes']);
  const apart = container.ports.find(({ name }) => name === 'probes');
  expect(container.env).toEqual([{ name: 'TOCSIN_OPS_PROBES', value: `0.0.0.0:${apart?.containerPort}` }]);
  const { services } = await readCompose('docker-compose.yml');
  expect(`${pod.terminationGracePeriodSeconds}s`).toBe(services.tocsin?.stop_grace_period);
  expect(container.resources.limits.memory).toBe('512Mi');
  expect(await manifest('PodDisruptionBudget', 'tocsin')).toMatchObject({
    spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
  });
  for (const name of ['tocsin', 'tocsin-pods']) {
    expect(await manifest('Service', name)).toMatchObject({ spec: { publishNotReadyAddresses: true } });
  }
});

test('the network lets out what the daemon needs, and in what reads its pages', async () => {
  const { spec } = await manifest('NetworkPolicy', 'tocsin');
  const ports = spec.egress?.flatMap((rule) => rule.ports.map(({ port }) => port));
  expect(ports).toEqual([53, 53, 5353, 5353, 6379, 26379, 443, 587]);
  expect(spec.ingress?.map((rule) => rule.ports)).toEqual([[{ protocol: 'TCP', port: 'ops' }]]);
  const redis = await manifest('NetworkPolicy', 'tocsin-redis');
  expect(redis.spec).toMatchObject({ egress: [], policyTypes: ['Ingress', 'Egress'] });
  // Every policy, budget and service is for pods that there are.
  const manifests = await readManifests();
  const labels = manifests.flatMap(({ spec: { template } = {} }) => (template ? [template.metadata.labels] : []));
  const selected = manifests.flatMap(({ kind, spec = {} }) => {
    if (kind === 'NetworkPolicy') return [(spec.podSelector as { matchLabels: object }).matchLabels];
    if (kind === 'Service') return [spec.selector as object];
    return spec.selector ? [spec.selector.matchLabels] : [];
  });
  expect(selected.length).toBe(13);
  for (const each of selected) expect(labels).toContainEqual(expect.objectContaining(each));
});

test('its Redis keeps what it is given, and lets nobody in without the password', async () => {
  const { container } = podOf(await manifest('StatefulSet', 'tocsin-redis'));
  const port = await freePort();
  const script = String(container.args).replace('--dir /data', `--dir ${await scratch()} --port ${port}`);
  const server = startCommand(['sh', '-c', script], { REDIS_PASSWORD: 'abc123' });
  const open = (password?: string): Redis => {
    const redis = new Redis({ port, ...(password === undefined ? {} : { password }) });
    redis.on('error', () => {});
    onTestFinished(() => redis.disconnect());
    return redis;
  };
  const redis = open('abc123');
  await until('Redis answers', () => redis.ping().catch(() => undefined));
  const settings = (await redis.config('GET', 'append*')) as string[];
  expect(settings.join(' ')).toMatch(/appendfsync everysec/);
  expect((await redis.info('memory')).includes('maxmemory_policy:noeviction')).toBe(true);
  expect((await redis.info('persistence')).includes('aof_enabled:1')).toBe(true);
  await expect(open().get('x')).rejects.toThrow(/NOAUTH/);
  // It is the process that gets the signal, so its end is a clean one.
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
});
