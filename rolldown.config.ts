/**
 * The program as plain JavaScript in `dist/`: our sources and the packages that they use in a few files, which Node finds and
 * reads in two thirds of the time. They lie side by side, so that `src/program-path.ts` is as deep there as here.
 */
import { defineConfig } from 'rolldown';

/** How our modules load a package at its first use. Without this line, rolldown sees a `require`, and bundles the package. */
const OWN_REQUIRE = 'const require = createRequire(import.meta.url);';

export default defineConfig({
  input: 'src/main.ts',
  platform: 'node',
  // Node 24 runs the syntax as it stands.
  transform: { target: 'esnext' },
  // The board looks for its files beside its code. telegraf uses deprecated parts of Node, which warns of them outside of
  // node_modules. msgpackr-extract is an optional addon, and is not installed.
  external: [/^@bull-board\//, 'telegraf', 'msgpackr-extract'],
  logLevel: 'warn',
  plugins: [
    {
      name: 'own-require',
      // No line moves, so that maps stay right.
      transform: (code, id) =>
        !id.includes('node_modules') && code.includes(OWN_REQUIRE)
          ? { code: code.replace(OWN_REQUIRE, ''), map: null }
          : null,
    },
  ],
  output: {
    dir: 'dist',
    cleanDir: true,
    chunkFileNames: '[name]-[hash].js',
    comments: { legal: true, annotation: false, jsdoc: false },
  },
});
