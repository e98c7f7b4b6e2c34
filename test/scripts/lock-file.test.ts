/** npm checks a package against the lock file only where that has a hash, and leaves out other platforms'; `make pin` fills them in. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('every package, also of other platforms, has a strong hash', () => {
  const { packages }: { packages: Record<string, { integrity?: string }> } = JSON.parse(
    readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
  );
  const { '': _root, ...installed } = packages;
  const weak = Object.entries(installed).filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity));
  expect(weak.map(([path]) => path)).toEqual([]);
});
