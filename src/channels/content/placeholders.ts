/** What may stand in the URL of a link of the config's. */

export const PLACEHOLDERS = ['hash', 'chain', 'chainId', 'address', 'protocol', 'detector', 'id'] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

export const PLACEHOLDER = /\{([A-Za-z]+)\}/g;
