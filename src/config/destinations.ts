/** The section `destinations` of the configuration. */
import { z } from 'zod';
import { CHANNEL_KINDS } from '../alert.ts';

const ALLOW_RULE = `must be KIND:GLOB with one of ${CHANNEL_KINDS.join(', ')}, like slack:C024* or email:*@example.com`;

export const destinationsSection = z.strictObject({
  gate: z
    .boolean()
    .default(false)
    .describe(
      'Hold alerts for a new destination until `tocsin destinations approve`. The fallback gets them meanwhile. Turning this on blocks every destination until you approve it: start with `tocsin destinations approve --all`.',
    ),
  allow: z
    .array(
      z.string({ error: ALLOW_RULE }).regex(new RegExp(`^(${CHANNEL_KINDS.join('|')}):\\S+$`), { error: ALLOW_RULE }),
    )
    .prefault([])
    .describe(
      'Destinations that need no approval, as KIND:GLOB on the address: slack:C024*, email:*@example.com, telegram:-100123456*, webhook:hooks.example.com/alerts/*. Write a web address without https://; write http:// before an address of plain http. Host and path are compared separately.',
    ),
});
