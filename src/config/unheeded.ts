import type { Config } from './schema.ts';

/** What the config asks for and this version does not do yet: said at the start and by `check`, never kept silent. */
export const unheeded = ({ alerts }: Config): string[] => [
  ...(alerts.correlate && alerts.sources.includes('notifications')
    ? ['alerts.correlate: is not acted on yet; a stored notification is sent besides its inspection']
    : []),
];
