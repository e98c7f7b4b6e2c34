import { fileURLToPath } from 'node:url';

/** A file by its path from this directory: that is `src/` in a checkout, and `dist/` in a build, which has no folders. */
export const programPath = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
