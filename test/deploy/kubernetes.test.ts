/** deploy/kubernetes: the manifests keep to the published schemas, and agree with the image and the program. */
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { startCommand } from '../support/program.ts';
import { freePort } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import { readCompose, readProject } from './compose-files.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = 'deploy/kubernetes';
const FILES = ['namespace.yaml', 'tocsin.yaml', 'network-policy.yaml', 'redis.yaml'];

interface Probe {
  httpGet?: { path: string; port: string };
}
interface Container {
  image: string;
  args?: string[];
  env: { name: string; value: string }[];
  ports: { name: string; containerPort: number }[];
  securityContext: object;
  resources: { limits: Record<string, string> };
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
  startupProbe?: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
}
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  spec: {
    replicas?: number;
    template?: { metadata: { labels: object }; spec: Record<string, unknown> & { containers: Container[] } };
    selector?: { matchLabels: object };
    ingress?: { ports: object[]; from: object[] }[];
    egress?: { ports: { port: number }[] }[];
  } & Record<string, unknown>;
}

const readManifests = async (): Promise<Manifest[]> => {
  const texts = await Promise.all(FILES.map((file) => readProject(`${FOLDER}/${file}`)));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
};

const manifest = async (kind: string, name: string): Promise<Manifest> => {
  const found = (await readManifests()).find((each) => each.kind === kind && each.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
};

const podOf = ({ spec }: Manifest) => {
  const pod = spec.template?.spec;
  const [container] = pod?.containers ?? [];
  if (pod === undefined || container === undefined) throw new Error('no pod');
  return { pod, container };
};

const scratch = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-kubernetes-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));

/** `Dockerfile` sets it for every container. */
const imageVariable = async (name: string): Promise<string> =>
  new RegExp(`^(?:ENV)? +${name}=(\\S+)`, 'm').exec(await readProject('Dockerfile'))?.[1] ?? '';

describe('the schemas of Kubernetes', () => {
  test('accept every value', async () => {
    const manifests = await readManifests();
    expect(manifests.length).toBe(9);
    for (const each of manifests) {
      const specifier = `kubernetes-models/${each.apiVersion}/${each.kind}`;
      const module = await import(/* @vite-ignore */ specifier);
      const model = new module[each.kind](each) as { validate(): void };
      expect(() => model.validate(), `${each.kind} ${each.metadata.name}`).not.toThrow();
    }
  });

  test('know every key', async () => {
    const directory = await scratch();
    await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
    await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
    const check = async (manifests: readonly Manifest[]): Promise<string> => {
      const typed = manifests.map(({ apiVersion, kind, ...rest }, index) => {
        const type = `import('kubernetes-models/${apiVersion}/${kind}').I${kind}`;
        return `export const m${index}: ${type} = ${JSON.stringify({ apiVersion, kind, ...rest })};\n`;
      });
      await writeFile(join(directory, 'manifests.ts'), typed.join(''));
      const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--ignoreConfig'];
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      return spawnSync(process.execPath, [tsc, ...options, join(directory, 'manifests.ts')], { encoding: 'utf8' })
        .stdout;
    };
    const manifests = await readManifests();
    expect(await check(manifests)).toBe('');
    // What it would say of a key that is misspelt.
    const wrong = structuredClone(manifests.filter(({ kind }) => kind === 'StatefulSet'));
    for (const each of wrong) Object.assign(podOf(each).container, { livenessProb: {} });
    expect(await check(wrong)).toContain(`"livenessProb"' does not exist`);
  });
});

test('kubectl renders them', async ({ skip }) => {
  const kubectl = (...args: string[]) => spawnSync('kubectl', args, { encoding: 'utf8' });
  if (kubectl('version', '--client').status !== 0) skip('kubectl is not installed');
  const directory = await scratch();
  await cp(join(ROOT, FOLDER), directory, { recursive: true });
  await rename(join(directory, 'secrets.env.example'), join(directory, 'secrets.env'));
  const { stdout, stderr } = kubectl('kustomize', directory);
  expect(stderr).toBe('');
  const rendered = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest & { data?: object });
  const made = rendered.filter(({ kind }) => ['ConfigMap', 'Secret'].includes(kind));
  expect(made.map(({ kind, data = {} }) => [kind, Object.keys(data).length > 0])).toEqual([
    ['ConfigMap', true],
    ['Secret', true],
  ]);
  expect(stdout).toContain(`name: ${made[0]?.metadata.name}\n        name: config`);
});

test('kustomization.yaml has every file, and the version of the program', async () => {
  const text = await readProject(`${FOLDER}/kustomization.yaml`);
  const { resources, images } = parse(text) as { resources: string[]; images: { newTag: string }[] };
  const there = (await readdir(join(ROOT, FOLDER))).filter((file) => file.endsWith('.yaml'));
  expect(resources.toSorted()).toEqual(there.filter((file) => file !== 'kustomization.yaml').toSorted());
  expect(resources.toSorted()).toEqual(FILES.toSorted());
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

test.each(['tocsin', 'tocsin-redis'])('%s runs without rights', async (name) => {
  const { pod, container } = podOf(await manifest('StatefulSet', name));
  expect(pod).toMatchObject({
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(container.resources.limits.memory).toBeDefined();
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
  expect(ports).toEqual([53, 53, 6379, 443, 587]);
  expect(spec.ingress?.map((rule) => rule.ports)).toEqual([[{ protocol: 'TCP', port: 'ops' }]]);
  const redis = await manifest('NetworkPolicy', 'tocsin-redis');
  expect(redis.spec).toMatchObject({ egress: [], policyTypes: ['Ingress', 'Egress'] });
  // Every policy, budget and service is for pods that there are.
  const manifests = await readManifests();
  const labels = manifests.flatMap(({ spec: { template } = {} }) => template?.metadata.labels ?? []);
  const selected = manifests.flatMap(({ kind, spec = {} }) => {
    if (kind === 'NetworkPolicy') return [(spec.podSelector as { matchLabels: object }).matchLabels];
    if (kind === 'Service') return [spec.selector as object];
    return spec.selector ? [spec.selector.matchLabels] : [];
  });
  expect(selected.length).toBe(8);
  for (const each of selected) expect(labels).toContainEqual(each);
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
