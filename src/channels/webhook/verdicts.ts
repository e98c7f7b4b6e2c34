/** What a receiver's answer means for the delivery and to people, and what mends it. */
import type { DeliveryError } from '../../errors.ts';
import { statusText } from '../../net.ts';
import { webLabel } from '../address.ts';
import { dead, explainedError, type Verdict } from '../failures.ts';
import { type PostResponse, retryAfterMs } from '../http.ts';
import type { FormatModule } from './formats/format.ts';

const same = (verdict: Verdict, ...statuses: number[]): Record<number, Verdict> =>
  Object.fromEntries(statuses.map((status) => [status, verdict]));

/** The receiver's people may mend it within the hour, and it says nothing about other receivers. */
const unknown = (is: string, todo: string): Verdict => ({ reason: 'unknown', explanation: { is, todo } });

/** The receiver wants no more webhooks at all. */
const GONE = 410;

/** Sources: RFC 9110; for 410 Standard Webhooks 1.0.0, "Deliverability and reliability". Any other status is `unknown`. */
const MEANINGS: Readonly<Record<number, Verdict>> = {
  // The receiver, or a server in front of it, is busy or restarting.
  ...same({ reason: 'unavailable' }, 408, 425, 500, 503, 507, 508, 521, 523, 525, 526, 527, 530),
  // A proxy stopped waiting, but the receiver behind it may have got the message.
  ...same({ reason: 'unavailable', maybeDelivered: true }, 502, 504, 520, 522, 524),
  // The receiver refuses this body; a smaller one may pass.
  ...same({ reason: 'bad-message' }, 400, 413, 422),
  429: { reason: 'rate-limited' },
  401: unknown(
    'does not take the signature or credentials of Tocsin',
    'compare its secret with ours (`tocsin webhook secret` prints it), or write the header that it wants into channels.webhook.receivers',
  ),
  403: unknown('does not let Tocsin in', 'ask its owner to admit us, or see headers in channels.webhook.receivers'),
  404: unknown('has nothing at this URL', 'correct its URL, at the monitoring service or in the config of Tocsin'),
  ...same(
    dead(
      'does not take webhooks at this URL',
      'ask its owner which methods and types it takes, or correct its URL, at the monitoring service or in the config of Tocsin',
    ),
    ...[405, 406, 411, 414, 415, 431, 501],
  ),
  [GONE]: dead('wants no more alerts', 'ask its owner; `tocsin destinations enable` lets alerts go there again'),
  451: dead('may not take alerts, for legal reasons', 'ask its owner'),
};

/** We sent neither. */
const UNSIGNED = unknown(
  'wants a signature or other credentials',
  'set channels.webhook.secret to what it verifies with, or write the header that it wants into channels.webhook.receivers',
);

/** A redirect leads past the guard's checks, so the operator has to enter the new address. */
const REDIRECT = dead(
  'has moved: it redirects, which is not followed',
  'write the URL that it redirects to where the old one is, at the monitoring service or in the config of Tocsin',
);

const isRedirect = (status: number): boolean => status >= 300 && status < 400;

const meaningOf = (status: number, isSigned: boolean): Verdict => {
  if (isRedirect(status)) return REDIRECT;
  if (status === 401 && !isSigned) return UNSIGNED;
  return MEANINGS[status] ?? { reason: 'unknown' };
};

const detailOf = ({ status, headers: { location } }: PostResponse, address: string): string => {
  if (status === GONE) return ', so it is disabled until an operator enables it';
  const target = isRedirect(status) && location !== undefined ? URL.parse(String(location), address) : null;
  return target === null ? '' : `, a redirect to ${target.host}; redirects are not followed`;
};

interface Asked extends Pick<FormatModule, 'verdictOf'> {
  address: string;
  /** The webhook had a signature of ours. */
  isSigned: boolean;
  nowMs: number;
}

/** By what the format's vendor says of it, else by its status. */
export const refusalOf = (response: PostResponse, { address, isSigned, nowMs, verdictOf }: Asked): DeliveryError => {
  const { status, headers } = response;
  const verdict: Verdict = { ...meaningOf(status, isSigned), ...verdictOf?.(response) };
  return explainedError(verdict, {
    destination: 'the receiver',
    said: `${webLabel(address)} answered ${statusText(status)}${detailOf(response, address)}`,
    code: String(status),
    disables: status === GONE,
    retryAfterMs: verdict.retryAfterMs ?? retryAfterMs(headers['retry-after'], nowMs),
  });
};
