/**
 * Loaded into a daemon before its program: writes to a file how many bytes it has allocated so far. That is what the heap
 * grew by between collections of garbage, so it is exact to one young generation.
 */
import { writeFileSync } from 'node:fs';
import { GCProfiler } from 'node:v8';

const LOOK_MS = 200;
const file = process.env.BENCH_ALLOCATIONS;

let profiler = new GCProfiler();
let total = 0;
let left = 0;
profiler.start();
setInterval(() => {
  const collections = profiler.stop()?.statistics ?? [];
  profiler = new GCProfiler();
  profiler.start();
  for (const { beforeGC, afterGC } of collections) {
    total += Math.max(0, beforeGC.heapStatistics.usedHeapSize - left);
    left = afterGC.heapStatistics.usedHeapSize;
  }
  if (file !== undefined && collections.length > 0) writeFileSync(file, String(total));
}, LOOK_MS).unref();
