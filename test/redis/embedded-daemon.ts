/** A daemon of its own for the tests of the embedded Redis: DATADIR [exit]; says READY and the server's process id. */
import { startEmbeddedRedis } from '../../src/redis/embedded.ts';

const [, , dataDir = '', then] = process.argv;
const silent = { info: () => {}, warn: () => {}, error: () => {} };

try {
  const redis = await startEmbeddedRedis({ dataDir, log: silent });
  process.stdout.write(`READY ${redis.pid()}\n`);
  if (then === 'exit') process.exit(0);
  // Somewhere to live: the server alone keeps nobody running.
  setInterval(() => {}, 1000);
} catch (error) {
  process.stdout.write(`${String(error)}\n`);
  process.exitCode = 1;
}
