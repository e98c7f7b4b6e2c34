/** What starts the program, and a Node that cannot run it. */
import { expect, test } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { MAIN, startCommand } from './support/program.ts';

test('an older Node is named, with the one that is needed, in one line', async () => {
  const older = 'Object.defineProperty(process.versions, "node", { value: "20.19.2" })';
  const program = startCommand([process.execPath, '--import', `data:text/javascript,${older}`, MAIN, 'status']);
  expect(await program.ended).toBe(1);
  expect(program.stderr()).toBe(
    `tocsin: this is Node 20.19.2 (${process.execPath}), and Tocsin needs Node 24 or newer: install that, and put it first in PATH\n`,
  );
  expect(packageJson.engines.node).toBe('>=24');
});
