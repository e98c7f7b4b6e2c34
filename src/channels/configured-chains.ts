/** The chains that messages name and link: the well-known ones, and what the config adds. */
import { type Chains, WELL_KNOWN_CHAINS } from './chains.ts';

export const chainsOf = ({ chains }: { chains: Chains }): Chains => ({ ...WELL_KNOWN_CHAINS, ...chains });
