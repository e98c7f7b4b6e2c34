/** Monitoring services of the sandbox, a config that names them, and the program's commands run against both. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import type { ProtocolSeed } from '../../src/sandbox/service/model.ts';
import type { Quirks } from '../../src/sandbox/service/quirks.ts';
import { createSandboxService, type SandboxService } from '../../src/sandbox/service/service.ts';
import { type Ran, type RunOptions, runInProcess } from './in-process.ts';

export interface ServiceWorld {
  /** The first one. */
  service: SandboxService;
  services: Record<string, SandboxService>;
  configFile: string;
  /** Writes a file beside the config and gives its path. */
  file(name: string, content: string): Promise<string>;
  /** Runs a command as the program does, errors and exit code included. */
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Runs a command that has to end well, and gives what it printed. */
  print(...args: string[]): Promise<string>;
  /** The same with `--json`, read. */
  json<T>(...args: string[]): Promise<T>;
}

export interface WorldOptions {
  /** By the service's name in the config. Default: `main` with one protocol, `Vault`. */
  services?: Record<string, readonly ProtocolSeed[]>;
  quirks?: Partial<Quirks>;
  pageSize?: number;
  timeout?: string;
}

export const API_KEY = 'test-key';

const temporaryDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-cli-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

const configOf = (urls: Record<string, string>, { pageSize = 100, timeout = '10s' }: WorldOptions): string =>
  stringify({
    services: Object.entries(urls).map(([name, baseUrl]) => ({ name, baseUrl, apiKey: API_KEY, pageSize, timeout })),
    channels: { webhook: {} },
    chains: { '424242': { name: 'Test Chain' } },
  });

/** Stopped with the test. */
export const startServiceWorld = async (options: WorldOptions = {}): Promise<ServiceWorld> => {
  const { services: seeds = { main: [{ name: 'Vault' }] }, quirks } = options;
  const directory = await temporaryDirectory();
  const services: Record<string, SandboxService> = {};
  const urls: Record<string, string> = {};
  for (const [name, protocols] of Object.entries(seeds)) {
    const service = createSandboxService({ apiKeys: [{ apiKey: API_KEY, protocols }], ...(quirks ? { quirks } : {}) });
    onTestFinished(() => service.stop());
    services[name] = service;
    urls[name] = (await service.start()).url;
  }
  const [service] = Object.values(services);
  if (service === undefined) throw new Error('a world without a service');
  const file = async (name: string, content: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, content);
    return path;
  };
  const configFile = await file('tocsin.yaml', configOf(urls, options));

  const run: ServiceWorld['run'] = (args, runOptions = {}) =>
    runInProcess(args, { env: { TOCSIN_CONFIG: configFile }, ...runOptions });
  const print: ServiceWorld['print'] = async (...args) => {
    const { code, out, err } = await run(args);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return out;
  };
  return {
    service,
    services,
    configFile,
    file,
    run,
    print,
    json: async (...args) => JSON.parse(await print(...args, '--json')),
  };
};
