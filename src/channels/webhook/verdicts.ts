/** What a receiver's answer means. */
import type { DeliveryError, DeliveryReason, Explanation } from '../../errors.ts';
import { statusText } from '../../net.ts';
import { webLabel } from '../address.ts';
import { explainedError } from '../failures.ts';
import { type PostResponse, retryAfterMs } from '../http.ts';
import type { FormatModule } from './formats/format.ts';

/** The receiver, or a server in front of it, is busy or restarting. */
const PASSING = [408, 425, 500, 502, 503, 504, 507, 508, 520, 521, 522, 523, 524, 525, 526, 527, 530];
/** A proxy stopped waiting, but the receiver behind it may have got the message. */
const PASSED_ON = [502, 504, 520, 522, 524];
/** The receiver refuses this body; a smaller one may pass. */
const BODY_REFUSED = [400, 413, 422];
/** Nothing at this address takes webhooks, or not any more. Source: Standard Webhooks 1.0.0 for 410, RFC 9110 for the rest. */
const NO_RECEIVER = [405, 406, 410, 411, 414, 415, 431, 451, 501];
/** The receiver wants no more webhooks at all. Source: Standard Webhooks 1.0.0, "Deliverability and reliability". */
const GONE = 410;
const TOO_MANY = 429;

/**
 * What a status means. Any other status (401, 403 and 404 among them) is `unknown`: the receiver's people may mend it
 * within the hour, and it says nothing about other receivers.
 */
const reasonOf = (status: number): DeliveryReason => {
  if (status === TOO_MANY) return 'rate-limited';
  if (PASSING.includes(status)) return 'unavailable';
  if (BODY_REFUSED.includes(status)) return 'bad-message';
  // A redirect leads past the guard's checks, so the operator has to enter the new address.
  if (NO_RECEIVER.includes(status) || (status >= 300 && status < 400)) return 'destination-dead';
  return 'unknown';
};

const redirectText = ({ status, headers: { location } }: PostResponse, address: string): string => {
  if (status < 300 || status > 399) return '';
  const target = location === undefined ? null : URL.parse(location, address);
  return target === null ? '' : `, a redirect to ${target.host}; redirects are not followed`;
};

const detailOf = (response: PostResponse, address: string): string =>
  response.status === GONE ? ', so it is disabled until an operator enables it' : redirectText(response, address);

export interface Asked extends Pick<FormatModule, 'verdictOf'> {
  address: string;
  /** The webhook had a signature of ours. */
  isSigned: boolean;
  nowMs: number;
}

/** By what the format's vendor says of it, else by its status. */
export const refusalOf = (response: PostResponse, { address, isSigned, nowMs, verdictOf }: Asked): DeliveryError => {
  const { status, headers } = response;
  const verdict = verdictOf?.(response);
  const waitMs = verdict?.retryAfterMs ?? retryAfterMs(headers['retry-after'], nowMs);
  const said = `${webLabel(address)} answered ${statusText(status)}${detailOf(response, address)}`;
  return explainedError(
    verdict?.reason ?? reasonOf(status),
    { destination: 'the receiver', said, explanation: verdict?.explanation ?? explain(status, isSigned) },
    {
      code: String(status),
      maybeDelivered: PASSED_ON.includes(status),
      disables: status === GONE,
      ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
    },
  );
};

// What a receiver's refusal means to people, and what mends it, by status. Sources: RFC 9110; for 410 Standard Webhooks 1.0.0.

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
const explain = (status: number, isSigned: boolean): Explanation | undefined => {
  if (status >= 300 && status < 400) return REDIRECTS;
  return status === 401 && !isSigned ? UNSIGNED : EXPLANATIONS[status];
};
