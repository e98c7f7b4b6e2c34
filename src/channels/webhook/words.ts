/** What a receiver's refusal means to people, and what mends it, by status. Sources: RFC 9110; for 410 Standard Webhooks 1.0.0. */
import type { Explanation } from '../../errors.ts';

const CORRECT = 'correct its URL, at the service or in the config';
const ASK = 'ask its owner which methods and types it takes, or correct its URL, at the service or in the config';

const NO_WEBHOOKS: Explanation = { is: 'does not take webhooks at this URL', todo: ASK };

/** We sent neither. */
const UNSIGNED: Explanation = {
  is: 'wants a signature or other credentials',
  todo: 'set channels.webhook.secret to what it verifies with, or write the header that it wants into channels.webhook.receivers',
};

const EXPLANATIONS: Readonly<Record<number, Explanation>> = {
  401: {
    is: 'does not take our signature or credentials',
    todo: 'compare its secret with ours (`tocsin webhook secret` prints it), or write the header that it wants into channels.webhook.receivers',
  },
  403: { is: 'does not let us in', todo: 'ask its owner to admit us, or see headers in channels.webhook.receivers' },
  404: { is: 'has nothing at this URL', todo: CORRECT },
  405: NO_WEBHOOKS,
  406: NO_WEBHOOKS,
  410: { is: 'wants no more alerts', todo: 'ask its owner; `tocsin destinations enable` lets alerts go there again' },
  411: NO_WEBHOOKS,
  414: NO_WEBHOOKS,
  415: NO_WEBHOOKS,
  431: NO_WEBHOOKS,
  451: { is: 'may not take alerts, for legal reasons', todo: 'ask its owner' },
  501: NO_WEBHOOKS,
};

const REDIRECTS: Explanation = {
  is: 'has moved: it redirects, which is not followed',
  todo: 'write the URL that it redirects to where the old one is, at the service or in the config',
};

/** Undefined for a status that may pass, or that says nothing about the receiver. `isSigned`: our webhook was. */
export const explain = (status: number, isSigned: boolean): Explanation | undefined => {
  if (status >= 300 && status < 400) return REDIRECTS;
  return status === 401 && !isSigned ? UNSIGNED : EXPLANATIONS[status];
};
