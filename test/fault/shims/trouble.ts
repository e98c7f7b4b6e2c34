/**
 * Loaded into a daemon before it starts (`node --import`): its clock, its name server, its event loop and its files, as the suite says in the file
 * that TOCSIN_FAULT_FILE names. Nothing of the daemon knows of it.
 */
import dns from 'node:dns';
import { closeSync, openSync, readFileSync } from 'node:fs';

export interface Trouble {
  /** How far this process' clock is ahead. */
  clockMs?: number;
  /** What becomes of a question for a name: no such name, no answer at all. */
  names?: 'unknown' | 'silent';
  /** For so long its event loop stands still, again and again. */
  blockedMs?: number;
  /** So many files are open besides its own. */
  openFiles?: number;
}

const LOOK_EVERY_MS = 50;
/** Between two times it goes on, so that it can still be asked. */
const BLOCK_EVERY_MS = 2000;
const file = process.env.TOCSIN_FAULT_FILE ?? '';

let trouble: Trouble = {};
const held: number[] = [];
const holdFiles = (): void => {
  const wanted = trouble.openFiles ?? 0;
  while (held.length < wanted) held.push(openSync(file, 'r'));
  for (const one of held.splice(wanted)) closeSync(one);
};
const look = (): void => {
  try {
    trouble = JSON.parse(readFileSync(file, 'utf8')) as Trouble;
    holdFiles();
  } catch {
    // Being written just now, or none: as before.
  }
};
look();
setInterval(look, LOOK_EVERY_MS).unref();

const block = (): void => {
  const until = performance.now() + (trouble.blockedMs ?? 0);
  while (performance.now() < until);
};
setInterval(block, BLOCK_EVERY_MS).unref();

const RealDate = Date;
const now = (): number => RealDate.now() + (trouble.clockMs ?? 0);
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [], self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self) as Date,
  apply: () => new RealDate(now()).toString(),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
});

const realLookup = dns.lookup;
type Answer = (error: NodeJS.ErrnoException) => void;
const lookup = (name: string, ...rest: unknown[]): void => {
  const answer = rest.at(-1) as Answer;
  if (trouble.names === 'silent') return;
  if (trouble.names === 'unknown') {
    const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), {
      code: 'ENOTFOUND',
      errno: -3008,
      syscall: 'getaddrinfo',
      hostname: name,
    });
    return void setImmediate(() => answer(error));
  }
  Reflect.apply(realLookup, dns, [name, ...rest]);
};
Object.assign(dns, { lookup });
