/** The chains that messages name and link: the well-known ones, and what the config adds. */
import { type Chains, WELL_KNOWN_CHAINS } from '../channels/chains.ts';
import type { Config } from '../config/schema.ts';

export const chainsOf = (config: Config): Chains => ({ ...WELL_KNOWN_CHAINS, ...config.chains });
