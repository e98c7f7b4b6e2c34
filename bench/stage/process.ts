/** What a process has used so far, as the kernel counts it: CPU time of all its threads, and memory. Linux only. */
import { readFileSync } from 'node:fs';

/** Of a second, in which the kernel counts CPU time. It is 100 on every Linux that Node runs on. */
const TICKS_A_SECOND = 100;
const MB = 1e6;

/** CPU time since its start, in seconds. */
export const cpuOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program may contain spaces; after it comes the state, which is the third field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
};

const statusOf = (pid: number, field: string): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * 1024) / MB;
};

/** Resident, in MB of a million bytes. */
export const memoryOf = (pid: number): number => statusOf(pid, 'VmRSS');
/** The most that was resident so far. */
export const peakMemoryOf = (pid: number): number => statusOf(pid, 'VmHWM');
