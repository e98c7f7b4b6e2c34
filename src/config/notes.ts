/** What is noted while a document is read: places, findings, and which values came from variables or files. */
import type { Path } from './display.ts';
import type { Finding } from './findings.ts';
import { createPositions, type Positions } from './positions.ts';

export interface Notes {
  positions: Positions;
  findings: readonly Finding[];
  /** Something is wrong beside the values. */
  report(path: Path, offset: number, rule: string): void;
  /** The value itself could not be read. */
  lose(path: Path, rule: string): undefined;
  /** The same because of a variable that is not set, or a file that cannot be read. */
  miss(path: Path, rule: string): void;
  /** Where that was. */
  missing: readonly Path[];
  /** Names of what interpolation put into the value. */
  came(path: Path, sources: readonly string[]): void;
  isLost(path: Path): boolean;
  sourcesAt(path: Path): readonly string[];
}

export const createNotes = (): Notes => {
  const positions = createPositions();
  const findings: Finding[] = [];
  const missing: Path[] = [];
  const lost = new Set<string>();
  const sources = new Map<string, readonly string[]>();
  const lose = (path: Path, rule: string): undefined => {
    findings.push({ path, offset: positions.ofValue(path), rule });
    lost.add(JSON.stringify(path));
  };
  return {
    positions,
    findings,
    missing,
    report: (path, offset, rule) => {
      findings.push({ path, offset, rule });
    },
    lose,
    miss: (path, rule) => {
      lose(path, rule);
      missing.push(path);
    },
    came: (path, names) => {
      sources.set(JSON.stringify(path), names);
    },
    isLost: (path) => lost.has(JSON.stringify(path)),
    sourcesAt: (path) => sources.get(JSON.stringify(path)) ?? [],
  };
};
