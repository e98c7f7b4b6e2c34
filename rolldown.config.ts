/**
 * The program as plain JavaScript in `dist/`: our sources and the packages that they use in a few files, which Node finds and
 * reads in two thirds of the time. They lie side by side, so that `src/program-path.ts` is as deep there as here.
 */
import { defineConfig } from 'rolldown';

/** Ours, where a package is loaded when it is first used. Without this line the bundler sees what that is, and takes it in. */
const OWN_REQUIRE = 'const require = createRequire(import.meta.url);';

export default defineConfig({
  input: 'src/main.ts',
  platform: 'node',
  // As Node would: nothing newer has to be written in an older way.
  transform: { target: 'esnext' },
  // The board looks for its files beside its code. Node warns of the old calls that telegraf makes, but not of a package's.
  // The last one is an addon that nobody installs.
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
