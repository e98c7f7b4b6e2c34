/** Prints the packages that a release has, in CycloneDX: those that npm lists, and the Node of the tarballs. */
import { execFileSync } from 'node:child_process';
import packageJson from '../package.json' with { type: 'json' };

const LIST = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
const { node } = packageJson.devDependencies;

const listed = JSON.parse(execFileSync('npm', LIST, { encoding: 'utf8', maxBuffer: 1 << 26 })) as {
  components?: object[];
};
const runtime = {
  ...{ 'bom-ref': `node@${node}`, type: 'platform', name: 'node', version: node },
  // By which scanners know it.
  ...{ cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`, purl: `pkg:generic/node@${node}` },
};
process.stdout.write(
  `${JSON.stringify({ ...listed, components: [...(listed.components ?? []), runtime] }, null, 2)}\n`,
);
