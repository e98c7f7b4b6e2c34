/** Where a relative `dataDir` is: beside the config file, whatever directory a command is started in. */
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Config } from './schema.ts';

/** What a daemon leaves there; another program's directory of the same name has neither. */
const TRACES = ['state.json', 'redis'];

const hasData = (directory: string): boolean => TRACES.some((name) => existsSync(join(directory, name)));

/**
 * Earlier versions began at the working directory. Data that is there and not beside the config goes on being used: the
 * path then stays relative, as it was written.
 */
export const placeDataDir = (file: string, dataDir: string): string => {
  const place = resolve(dirname(file), dataDir);
  const isAtOldPlace = resolve(dataDir) !== place && !hasData(place) && hasData(dataDir);
  return isAtOldPlace ? dataDir : place;
};

/** A sentence for the operator of a daemon whose data is still at the old place; nothing otherwise. */
export const oldPlaceOf = (file: string, { dataDir }: Pick<Config, 'dataDir'>): string | undefined => {
  if (isAbsolute(dataDir)) return undefined;
  const [old, place] = [resolve(dataDir), resolve(dirname(file), dataDir)];
  return `the data is used where an earlier version has put it, in ${old}: stop the daemons and move it to ${place}, beside the config, or write its full path into dataDir`;
};
