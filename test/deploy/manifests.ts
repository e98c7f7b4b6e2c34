/** The manifests for Kubernetes as data, and what the schemas of Kubernetes and of the Prometheus operator say of them. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readProject } from './compose-files.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const FOLDER = 'deploy/kubernetes';

interface Probe {
  httpGet?: { path: string; port: string };
}
interface Container {
  name: string;
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
interface Pod {
  [key: string]: unknown;
  securityContext: Record<string, unknown>;
  containers: Container[];
  initContainers?: Container[];
}
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  data?: Record<string, string>;
  spec: {
    replicas?: number;
    template?: { metadata: { labels: Record<string, string> }; spec: Pod };
    selector?: { matchLabels: Record<string, string> };
    ingress?: { ports: object[]; from: object[] }[];
    egress?: { ports: { port: number }[] }[];
  } & Record<string, unknown>;
}

export interface Kustomization {
  resources?: string[];
  components?: string[];
  images?: { newTag: string }[];
}

export const COMPONENTS = ['ha', 'monitoring', 'network-policy', 'openshift'] as const;
/** The folders with a kustomization.yaml: that of the whole, and those of its components. */
export const FOLDERS = [FOLDER, ...COMPONENTS.map((name) => `${FOLDER}/components/${name}`)];

export const readKustomization = async (folder: string): Promise<Kustomization> =>
  parse(await readProject(`${folder}/kustomization.yaml`)) as Kustomization;

/** Every YAML file beside a kustomization.yaml. */
export const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(join(ROOT, folder))).filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml');

export const parseManifests = (text: string): Manifest[] =>
  parseAllDocuments(text).map((document) => document.toJS() as Manifest);

/** As they stand in the files, without what components change. */
export const readManifests = async (): Promise<Manifest[]> => {
  const files = await Promise.all(
    FOLDERS.map(async (folder) => (await filesIn(folder)).map((file) => `${folder}/${file}`)),
  );
  return (await Promise.all(files.flat().map(readProject))).flatMap(parseManifests);
};

export const findManifest = (all: readonly Manifest[], kind: string, name: string): Manifest => {
  const found = all.find((each) => each.kind === kind && each.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
};

export const podOf = ({ spec }: Manifest) => {
  const pod = spec.template?.spec;
  const [container] = pod?.containers ?? [];
  if (pod === undefined || container === undefined) throw new Error('no pod');
  return { pod, container };
};

export const scratch = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-kubernetes-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

const schemaOf = ({ apiVersion, kind }: Manifest): string =>
  `${apiVersion.startsWith('monitoring.coreos.com/') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'}/${apiVersion}/${kind}`;

/** Throws where a value is none that the schema knows. */
export const validate = async (each: Manifest): Promise<void> => {
  const module = await import(/* @vite-ignore */ schemaOf(each));
  (new module[each.kind](each) as { validate(): void }).validate();
};

/** What the types say, which are made from the same schemas: they also know which keys there are. Empty where all is well. */
export const typeErrors = async (manifests: readonly Manifest[]): Promise<string> => {
  const directory = await scratch();
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
  const typed = manifests.map((each, index) => {
    const { apiVersion, kind, ...rest } = each;
    const type = `import('${schemaOf(each)}').I${kind}`;
    return `export const m${index}: ${type} = ${JSON.stringify({ apiVersion, kind, ...rest })};\n`;
  });
  await writeFile(join(directory, 'manifests.ts'), typed.join(''));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--ignoreConfig'];
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  return spawnSync(process.execPath, [tsc, ...options, join(directory, 'manifests.ts')], { encoding: 'utf8' }).stdout;
};
