/**
 * Where the daemon's CPU time goes while it forwards alerts to one webhook: by folder of src/, by package, by Node's own.
 *
 *   node bench/profile.ts [--alerts 10000] [--program FILE] [--keep FILE.cpuprofile]
 *
 * V8's sampling profile of the alerts after the warm-up. `--keep` keeps it for a flame graph, as in Chromium's tools.
 */
import { statSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { POLL, playTocsin } from './rows/alerts.ts';
import { optionsOf, print, printTable, run } from './run.ts';
import { PROGRAM } from './stage/daemon.ts';
import { webhookEach, withStage } from './stage/stage.ts';

/** As V8 writes it: nodes by id, and which of them ran at each sample. Times in microseconds. */
interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}

const values = optionsOf({
  alerts: { type: 'string', default: '10000' },
  program: { type: 'string', default: PROGRAM },
  keep: { type: 'string' },
});

/** V8's names for what is not work of any program. */
const NOT_WORK = ['idle', 'root'];
const SHOWN = 20;

/** Of V8's own functions, which have no file, it is the caller's. */
const partOf = ({ functionName, url }: Profile['nodes'][number]['callFrame'], caller: string): string => {
  const named = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
  if (named !== undefined) return named;
  const own = /\/src\/(.+)$/.exec(url)?.[1];
  if (own !== undefined) return own.includes('/') ? `src/${own.split('/').slice(0, -1).join('/')}` : 'src/*.ts';
  if (functionName.startsWith('(')) return functionName.slice(1, -1);
  return url.startsWith('node:') ? url.replace(/^(node:internal\/[^/]+|node:[^/]+).*/, '$1') : caller;
};

/** By id of a node. Callers stand before those that they call. */
const partsOf = ({ nodes }: Profile): Map<number, string> => {
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const parts = new Map<number, string>();
  for (const { id, callFrame } of nodes) parts.set(id, partOf(callFrame, parts.get(callers.get(id) ?? -1) ?? 'V8'));
  return parts;
};

/** Microseconds of the last `seconds` of a profile, by part. */
const shareOut = (profile: Profile, seconds: number): Map<string, number> => {
  const { samples, timeDeltas } = profile;
  const parts = partsOf(profile);
  const spent = new Map<string, number>();
  let left = seconds * 1e6;
  for (let index = samples.length - 1; index >= 0 && left > 0; index -= 1) {
    const [id = 0, us = 0] = [samples[index], timeDeltas[index]];
    left -= us;
    const part = parts.get(id) ?? 'unknown';
    if (!NOT_WORK.includes(part)) spent.set(part, (spent.get(part) ?? 0) + us);
  }
  return spent;
};

const record = async (directory: string, count: number) => {
  const settings = {
    ...webhookEach(resolve(values.program), 2),
    poll: POLL,
    environment: { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${directory}` },
  } as const;
  return withStage(settings, (stage) => playTocsin(stage, { count }));
};

const readProfile = async (directory: string): Promise<Profile> => {
  const files = (await readdir(directory)).map((name) => join(directory, name));
  // A restarted daemon leaves a small one of its first start too.
  const [file = ''] = files.toSorted((a, b) => statSync(b).size - statSync(a).size);
  if (values.keep !== undefined) await copyFile(file, values.keep);
  return JSON.parse(await readFile(file, 'utf8')) as Profile;
};

await run(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-bench-profile-'));
  try {
    const count = Number(values.alerts);
    const { daemonUs, perSecond } = await record(directory, count);
    const spent = shareOut(await readProfile(directory), count / perSecond);
    const all = [...spent.values()].reduce((sum, us) => sum + us, 0);
    const rows = [...spent].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN);
    print(`${count} alerts, ${daemonUs.toFixed(0)} us of CPU each in the daemon, profiler included`);
    printTable([
      ['', 'share', 'us an alert'],
      ...rows.map(([part, us]) => [part, `${((100 * us) / all).toFixed(1)} %`, ((daemonUs * us) / all).toFixed(0)]),
    ]);
    return true;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
