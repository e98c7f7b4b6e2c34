/**
 * Access tokens for XOAUTH2, from a refresh token (RFC 6749, section 6). One token serves all connections until it ends.
 * Our own request and not nodemailer's, so that it goes through the proxy and trusts the operator's certificates.
 */
import { request } from 'undici';
import type { ProxyFor } from '../../connection/proxy-variables.ts';
import { createConnections, settingsIn } from '../../connection/settings.ts';
import { createAgent } from '../../connection/tunnel.ts';
import { DeliveryError } from '../../errors.ts';
import { jsonObjectIn } from '../content/foreign.ts';
import { networkFailure } from '../failures.ts';
import { retryAfterMs } from '../http.ts';
import type { EmailConfig } from './config.ts';

type Oauth2Config = NonNullable<EmailConfig['smtp']['oauth2']>;

interface AccessToken {
  token: string;
  /** Epoch milliseconds. */
  expiresAt: number;
}

const SECTION = 'channels.email.smtp.oauth2';
const ANSWER_LIMIT_BYTES = 64 * 1024;
/** A token is not used up to its last moment. */
const EARLY_MS = 60_000;
/** Where the answer does not say how long it is good. */
const USUAL_LIFE_S = 3600;

/** What mends a refusal, by the code of RFC 6749, section 5.2. */
const REMEDIES: Readonly<Record<string, string>> = {
  invalid_grant: `it has ended or was revoked: put a new one into ${SECTION}.refreshToken`,
  invalid_client: `see ${SECTION}.clientId and clientSecret`,
  unauthorized_client: `see ${SECTION}.clientId and what it may do there`,
  invalid_scope: `see ${SECTION}.scope`,
};

type Fields = Record<string, unknown>;

const refused = (host: string, status: number, { error }: Fields, waitMs: number | undefined): DeliveryError => {
  // Codes go into logs and metrics; a text that is none may be anything.
  const code = typeof error === 'string' && /^[a-z][a-z_]{1,40}$/.test(error) ? error : undefined;
  if (status >= 500 || status === 429 || code === 'temporarily_unavailable') {
    const failure = { code: `oauth2-${status}`, retryAfterMs: waitMs };
    return new DeliveryError('unavailable', `${host} gives no access token now (${status})`, failure);
  }
  const remedy = REMEDIES[code ?? ''] ?? `see ${SECTION}`;
  const said = code ?? String(status);
  const why = `${host} does not take our refresh token (${said}): ${remedy}`;
  return new DeliveryError('sender-misconfigured', why, { code: `oauth2-${said}` });
};

const formOf = ({ clientId, clientSecret, scope }: Oauth2Config, refreshToken: string): string =>
  new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret.reveal() }),
    ...(scope !== undefined && { scope }),
  }).toString();

const tokenIn = (host: string, { access_token: token, expires_in: lifeS }: Fields, now: number): AccessToken => {
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    const why = `${host} answers without an access token: see ${SECTION}.accessUrl`;
    throw new DeliveryError('unavailable', why, { code: 'oauth2-answer' });
  }
  const life = Number(lifeS) > 0 ? Number(lifeS) : USUAL_LIFE_S;
  return { token, expiresAt: now + Math.max(life * 1000 - EARLY_MS, 0) };
};

/** Opens nothing yet. */
export const createAccessTokens = (
  config: Oauth2Config,
  timeoutMs: number,
  now: () => number,
  proxyFor: ProxyFor | undefined,
) => {
  const { accessUrl } = config;
  const { host } = new URL(accessUrl);
  const place = { section: SECTION, address: `${SECTION}.accessUrl` };
  const connection = createConnections(settingsIn(config), place, proxyFor)(accessUrl);
  const { agent, close } = createAgent(connection, timeoutMs, { maxResponseSize: ANSWER_LIMIT_BYTES });

  /** A provider may give a newer one with an access token. It is kept as long as we run. */
  let refreshToken = config.refreshToken.reveal();

  const ask = async (): Promise<AccessToken> => {
    const answer = await request(accessUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        'user-agent': 'tocsin',
      },
      body: formOf(config, refreshToken),
      signal: AbortSignal.timeout(timeoutMs),
      dispatcher: agent,
    })
      .then(async (response) => ({ ...response, text: await response.body.text() }))
      .catch((error: unknown) => {
        throw networkFailure(error, host, false, connection.names);
      });
    const { statusCode: status } = answer;
    const fields = jsonObjectIn(answer.text);
    const { 'retry-after': wait } = answer.headers;
    if (status < 200 || status > 299) {
      refreshToken = config.refreshToken.reveal();
      throw refused(host, status, fields, retryAfterMs(wait, now()));
    }
    if (typeof fields.refresh_token === 'string' && fields.refresh_token !== '') refreshToken = fields.refresh_token;
    return tokenIn(host, fields, now());
  };

  let latest: AccessToken | undefined;
  let asking: Promise<AccessToken> | undefined;
  return {
    /** Texts that must not be seen: the tokens in use. */
    secrets: (): string[] => [refreshToken, ...(latest === undefined ? [] : [latest.token])],
    /** `renew`: the relay has refused the present one. Throws a `DeliveryError`. */
    get: async (renew: boolean): Promise<AccessToken> => {
      if (!renew && latest !== undefined && latest.expiresAt > now()) return latest;
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      latest = await asking;
      return latest;
    },
    close,
  };
};

export type AccessTokens = ReturnType<typeof createAccessTokens>;
