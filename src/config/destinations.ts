/** The section `destinations` of the configuration. */
import { z } from 'zod';
import { CHANNEL_KINDS } from '../alert.ts';

const ALLOW_RULE = `must be KIND:GLOB with one of ${CHANNEL_KINDS.join(', ')}, like slack:C024* or email:*@example.com`;

export const destinationsSection = z.strictObject({
  gate: z.boolean().default(false).describe('Hold alerts for a new destination until somebody approves it.'),
  allow: z
    .array(
      z.string({ error: ALLOW_RULE }).regex(new RegExp(`^(${CHANNEL_KINDS.join('|')}):\\S+$`), { error: ALLOW_RULE }),
    )
    .prefault([])
    .describe('KIND:GLOB on addresses that need no approval.'),
});
