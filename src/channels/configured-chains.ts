/** The chains that messages name and link: the well-known ones, and what the config adds. */

import type { Config } from '../config/schema.ts';
import { type Chains, WELL_KNOWN_CHAINS } from './chains.ts';

export const chainsOf = (config: Config): Chains => ({ ...WELL_KNOWN_CHAINS, ...config.chains });
